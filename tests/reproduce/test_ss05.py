"""`selectron reproduce ss05-figure-3`, `ss05-mistakes-too` and `kernel-budget`, on small files."""

import os

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.ss05 import batch_hypotheses, figure_3, kernel_budget, mistakes_too
from tests.oracles.kernels import DualPrototypes, poly
from tests.oracles.learners import Ballseptron
from tests.reproduce.digits import write_digits

FIGURE_3, KERNEL_BUDGET = EXPERIMENTS["ss05-figure-3"], EXPERIMENTS["kernel-budget"]

REAL_DATA = os.environ.get("SELECTRON_DATA")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("digits")
    write_digits(folder, each=12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SELECTRON_DATA", str(folder))
        figure_3.digits.cache_clear()
        yield folder
    figure_3.digits.cache_clear()


def test_images_are_centred_and_scaled(folder):
    for name in figure_3.FILES:
        X, _ = figure_3.digits(name)
        np.testing.assert_allclose(X.mean(axis=0, dtype=float), 0.0, atol=1e-6)
        assert np.sqrt((X.astype(float) ** 2).sum(axis=1)).mean() == pytest.approx(1.0, abs=1e-6)


def test_a_pass_makes_the_mistakes_of_the_slow_twin(folder):
    X, y = figure_3.digits("MNIST")
    twin, wrong = DualPrototypes(poly(5, 1.0, 0.5), 10, r=0.1), 0
    for x, label in zip(X.astype(float), y, strict=True):
        wrong += twin.predict(x) != label
        twin.learn(x, label)
    found = figure_3.pass_with(figure_3.Pass("MNIST", 0.1))
    assert (found["mistakes"], found["margin_errors"]) == (wrong, twin.n_margin_errors)


def test_the_bounds_are_those_of_the_theorems(monkeypatch):
    monkeypatch.setattr(figure_3, "N_EXAMPLES", 400)
    clean = figure_3.shares("label", 0.0, 1)
    assert clean["d1"] == clean["d2"] == pytest.approx((1 / 0.15) ** 2 / 400)
    noisy = figure_3.shares("label", 0.1, 1)
    assert noisy["mistakes"] <= noisy["d1"] < noisy["d2"]
    moved = figure_3.shares("instance", 0.2, 1)
    assert clean["d1"] < moved["d1"]
    assert moved["mistakes"] <= min(moved["d1"], moved["d2"])


def test_text_and_plot(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(figure_3, "N_EXAMPLES", 200)
    sweep = [
        {"data": name, "r": r, "rows": 120, "first": 50, "mistakes": 60 - k, "margin_errors": k,
         "support_vectors": 60}
        for name in figure_3.FILES for k, r in enumerate(figure_3.RADII)
    ]  # fmt: skip
    bounds = [
        figure_3.shares(kind, level, 1)
        for kind, levels in figure_3.NOISES.items()
        for level in levels
    ]
    result = {"sweep": sweep, "bounds": bounds}
    assert "the D2 bound exceeds 1 from" in FIGURE_3.text(result)
    FIGURE_3.plot(result, tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size > 10_000


@pytest.mark.plain
def test_a_budget_holds_memory(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_budget, "STRETCH", 40)
    monkeypatch.setattr(kernel_budget, "BUDGET", 6)
    runs = [kernel_budget.measure(kernel_budget.Job(0.05, removal)) for removal in (None, "random")]
    free, held = (run["looks"] for run in runs)
    assert held[-1]["support_vectors"] == 6 < free[-1]["support_vectors"]
    assert held[0]["megabytes"] == held[-1]["megabytes"]
    result = {"budget": 6, "runs": runs}
    assert KERNEL_BUDGET.text(result).count("\n") == 5
    KERNEL_BUDGET.plot(result, tmp_path / "b.png")


@pytest.mark.parametrize(
    ("column", "held", "free", "said"),
    [
        ("megabytes", 1.0, 2.0, "holds"),
        ("megabytes", 1.3, 2.0, "holds in part (3 of 4)"),
        ("microseconds", 1.3, 2.0, "holds in part (3 of 4)"),
        ("megabytes", 1.0, 1.4, "holds in part (3 of 4)"),
        ("microseconds", 1.0, 1.4, "holds in part (3 of 4)"),
    ],
)
def test_a_budget_is_judged_by_time_and_memory(column, held, free, said):
    def run(removal, usual, growth):
        grown = {"microseconds": usual, "megabytes": usual} | {column: growth}
        early = {"rows": 1, "microseconds": 1.0, "megabytes": 1.0, "support_vectors": 1}
        late = early | grown
        looks = [look | {"mistakes": 0} for look in (early, early, late, late)]
        return {"r": 0.0, "removal": removal, "rows": 4, "looks": looks}

    runs = [run(None, 2.0, free), run("random", 1.0, held)]
    assert kernel_budget.judge({"runs": runs})["verdict"] == said


def usps_mistakes(mistakes_too):
    X, y = figure_3.digits("USPS")
    twin, wrong = DualPrototypes(poly(5, 1.0, 0.5), 10, r=1.5, mistakes_too=mistakes_too), 0
    for x, label in zip(X.astype(float), y, strict=True):
        wrong += twin.predict(x) != label
        twin.learn(x, label)
    return wrong


@pytest.mark.plain
def test_both_forms_on_the_same_rows(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(mistakes_too, "N_ROWS", 150)
    X, y = mistakes_too.half_space(0.1, 1)
    assert (np.abs(X[:, 0]) >= mistakes_too.MARGIN).all()
    np.testing.assert_allclose((X**2).sum(axis=1), 1.0)
    for too in (False, True):
        twin, wrong = Ballseptron(X.shape[1], 0.04, mistakes_too=too), 0
        for x, label in zip(X, y, strict=True):
            wrong += (1 if twin.margin(x) > 0 else -1) != label
            twin.learn(x, label)
        assert mistakes_too.play(0.04, too, X, y)[0] == wrong
    jobs = [mistakes_too.Rows(0.1, 2), mistakes_too.Digits(1.5)]
    result = mistakes_too.report([(job, mistakes_too.measure(job)) for job in jobs], 2)
    study = EXPERIMENTS["ss05-mistakes-too"]
    assert len(result["half_space"]) == 2 * len(mistakes_too.RADII)
    (usps,) = result["usps"]
    assert (usps["off"], usps["on"]) == tuple(usps_mistakes(too) for too in (False, True))
    usps["on"] = 2 * usps["off"]
    more = sum(mean["on"] > mean["off"] for mean in mistakes_too._means(result))
    assert study.text(result).endswith(f"makes more mistakes at {more + 1} of 5 settings")
    study.plot(result, tmp_path / "m.png")
    assert mistakes_too.verdicts(result)[0]["verdict"] == "holds"
    result["half_space"][0]["on"] = 1e9
    assert mistakes_too.verdicts(result)[0]["verdict"] == "holds in part (7 of 8)"


@pytest.mark.plain
def test_batch_hypotheses_on_new_rows(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(batch_hypotheses, "N_ROWS", 80)
    X, y = figure_3.digits("MNIST")
    runs = [
        (job, batch_hypotheses.measure(job))
        for job in batch_hypotheses.jobs(1)
        if job.rule in ("Perceptron", "HalfStep")
    ]
    result = batch_hypotheses.report(runs, 1)
    order = np.random.default_rng([1, 4]).permutation(len(y))
    clf = SelectiveClassifier("perceptron", "always").fit(X[order[:80]], y[order[:80]])
    wrong = np.mean(clf.predict(X[order[80:]]) != y[order[80:]])
    assert runs[1][1]["last"] == wrong
    study = EXPERIMENTS["batch-hypotheses"]
    for run in result["runs"]:
        run |= {"last": 0.2, "averaged": 0.1, "longest": 0.3, "longest_bound": 0.3}
    result["runs"][0] |= {"averaged": 0.21, "longest_bound": 0.29}
    text = study.text(result)
    assert "best of the three in 1 of 2 runs" in text
    assert text.endswith("no more than its bound in 1 of 2 runs")
    study.plot(result, tmp_path / "b.png")


def test_missing_files_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    for name in ("ss05-figure-3", "ss05-mistakes-too", "batch-hypotheses", "kernel-budget"):
        with pytest.raises(ValueError, match=r"mnist.npz and usps.npz not found in .*--data"):
            EXPERIMENTS[name].run(None, lambda: None)


@pytest.mark.slow
@pytest.mark.skipif(not REAL_DATA, reason="needs the real digits")
@pytest.mark.parametrize(("r", "expected"), [(0.0, 1139), (0.05, 764), (0.1, 743), (0.3, 1186)])
def test_the_first_15000_digits(monkeypatch, r, expected):
    monkeypatch.setenv("SELECTRON_DATA", REAL_DATA)
    figure_3.digits.cache_clear()
    X, y = figure_3.digits("MNIST")
    found = figure_3.mistakes(figure_3.begin(X, r), X[:15_000], y[:15_000])
    assert abs(found - expected) <= 5
