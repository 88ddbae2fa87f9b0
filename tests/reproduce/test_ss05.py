"""`selectron reproduce ss05-figure-3` and `kernel-budget`: on small files, and slowly on MNIST."""

import os

import numpy as np
import pytest

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.ss05 import figure_3, kernel_budget
from tests.oracles.kernels import DualPrototypes, poly
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
    assert KERNEL_BUDGET.text(result).count("\n") == 4
    KERNEL_BUDGET.plot(result, tmp_path / "b.png")


def test_missing_files_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    for name in ("ss05-figure-3", "kernel-budget"):
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
