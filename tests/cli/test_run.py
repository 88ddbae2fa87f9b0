"""`selectron run`: the numbers of `progressive`, from every kind of file, saved and drawn."""

import json
import re
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier, load
from selectron.evaluate import progressive
from selectron.queries import Margin
from selectron.updates import Perceptron
from tests.streams.files import write_parquet

PLAIN = "perceptron+margin:b=0.3"
LEARNER = SelectiveClassifier(Perceptron(), Margin(b=0.3))


def in_json(command, *arguments):
    code, out, err = command("run", *arguments, "--json", "-")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_the_table_has_the_numbers_of_the_run(command, data, rows):
    code, out, err = command("run", data, "--rules", PLAIN, "--seed", "5")
    trace = progressive(LEARNER, *rows, seed=5)
    assert (code, err) == (0, "")
    assert out.startswith("two: 240 rows of 5 features, 1 seed(s)\n\nlearner ")
    share = f"{100 * trace.n_asked / 240:.2f} %"
    cells = [
        PLAIN,
        trace.n_asked,
        share,
        trace.n_mistakes,
        f"{trace.error:.4f}",
        f"{trace.f1:.4f}",
        "-",
        trace.n_updates,
    ]
    assert re.search(r"\s+".join(re.escape(str(cell)) for cell in cells), out)
    assert f"\n{PLAIN}: {trace.certificate()}\n" in out


def test_json_has_them_too(command, data, rows):
    found = in_json(command, data, "--rules", PLAIN, "--seed", "5", "--seeds", "3")
    traces = [progressive(LEARNER, *rows, seed=seed) for seed in (5, 6, 7)]
    curve = found["results"][0].pop("curve")
    assert curve["error"][-1] == pytest.approx(np.mean([trace.error for trace in traces]))
    assert found == {
        "data": "two",
        "rows": 240,
        "features": 5,
        "seeds": [5, 6, 7],
        "results": [
            {
                "learner": PLAIN,
                "rounds": 240,
                "labels": [trace.n_asked for trace in traces],
                "mistakes": [trace.n_mistakes for trace in traces],
                "updates": [trace.n_updates for trace in traces],
                "f1": [trace.f1 for trace in traces],
                "precision": [trace.precision for trace in traces],
                "recall": [trace.recall for trace in traces],
                "test_error": None,
                "f1_by_block": [trace.f1_by_block(10) for trace in traces],
                "certificate": str(traces[0].certificate()),
            }
        ],
    }


def test_json_goes_to_a_file_whole(command, data, tmp_path):
    target = tmp_path / "x.json"
    code, out, _ = command("run", data, "--rules", PLAIN, "--json", target)
    assert code == 0
    assert "learner " in out
    assert json.loads(target.read_text())["rows"] == 240
    assert list(tmp_path.iterdir()) == [target]


def test_several_seeds_have_a_spread(command, data):
    _, out, _ = command("run", data, "--rules", PLAIN, "--seeds", "3")
    assert "3 seed(s)" in out
    assert len(re.findall(r"[\d.]+ ±[\d.]+", out)) == 5


def test_the_default_learner(command, data, rows):
    found = in_json(command, data)
    assert found["results"][0]["learner"] == "default"
    assert found["results"][0]["labels"] == [progressive(SelectiveClassifier(), *rows).n_asked]
    assert "no worst-case theorem covers" in found["results"][0]["certificate"]


def test_save_keeps_the_learner_of_the_last_seed(command, data, rows, tmp_path):
    target = tmp_path / "m.selectron"
    code, _, _ = command("run", data, "--rules", PLAIN, "--seeds", "2", "--save", target)
    assert code == 0
    fitted = SelectiveClassifier(Perceptron(), Margin(b=0.3), random_state=1).fit(*rows)
    np.testing.assert_array_equal(load(target).coef_, fitted.coef_)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_plot(command, data, tmp_path, kind):
    target = tmp_path / f"x.{kind}"
    code, out, _ = command("run", data, "--rules", PLAIN, "--plot", target)
    assert code == 0
    assert out.endswith(f"\nplot: {target}\n")
    assert target.stat().st_size > 5000
    assert list(tmp_path.iterdir()) == [target]


def test_a_plot_does_not_disturb_json(command, data, tmp_path):
    found = in_json(command, data, "--rules", PLAIN, "--plot", tmp_path / "x.png")
    assert found["rows"] == 240
    assert (tmp_path / "x.png").exists()


def test_shuffle_limit_and_test(command, data, rows):
    """Shuffled anew each seed, then cut, then split."""
    X, y = rows
    options = ["--rules", PLAIN, "--shuffle", "--limit", "100", "--test", "0.2", "--seeds", "2"]
    found = in_json(command, data, *options)
    result = found["results"][0]
    assert (found["rows"], result["rounds"]) == (80, 80)
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(240)[:100]
        learner = SelectiveClassifier(Perceptron(), Margin(b=0.3), random_state=seed)
        learner.fit(X[order[:80]], y[order[:80]])
        assert result["labels"][seed] == learner.n_asked_
        wrong = learner.predict(X[order[80:]]) != y[order[80:]]
        assert result["test_error"][seed] == pytest.approx(wrong.mean())


def test_the_order_of_the_file_is_kept(command, data, rows):
    X, y = rows
    found = in_json(command, data, "--rules", PLAIN, "--limit", "50")
    assert found["results"][0]["labels"] == [progressive(LEARNER, X[:50], y[:50]).n_asked]


def test_unit_norm_and_intercept(command, data, rows):
    X, y = rows
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    learner = SelectiveClassifier(Perceptron(), Margin(b=0.3), fit_intercept=True)
    found = in_json(command, data, "--rules", PLAIN, "--unit-norm", "--intercept")
    assert found["results"][0]["mistakes"] == [progressive(learner, unit, y).n_mistakes]


def test_classes_and_test_rows_of_the_file(command, three):
    found = in_json(command, three, "--rules", PLAIN, "--positive", "2", "--negative", "0,1")
    assert found["data"] == "three 2 v 0,1"
    assert found["rows"] == 200
    assert 0.0 <= found["results"][0]["test_error"][0] < 0.5
    _, out, _ = command("run", three, "--rules", PLAIN, "--positive", "2", "--negative", "0")
    assert out.startswith("three 2 v 0: ")


def test_the_same_rows_from_every_format(command, rows, data, tmp_path):
    X, y = rows
    text = "\n".join(
        ",".join([*map(repr, map(float, x)), str(c)]) for x, c in zip(X, y, strict=True)
    )
    (tmp_path / "two.csv").write_text(f"a,b,c,d,e,y\n{text}\n")
    write_parquet(tmp_path / "two.parquet", dict(zip("abcde", X.T, strict=True)) | {"class": y})
    sparse = csr_array(X)
    parts = {"data": sparse.data, "indices": sparse.indices, "indptr": sparse.indptr}
    np.savez(tmp_path / "two.npz", shape=sparse.shape, y=y, **parts)
    lines = [
        f"{c} " + " ".join(f"{k}:{float(v)!r}" for k, v in enumerate(x, start=1))
        for x, c in zip(X, y, strict=True)
    ]
    (tmp_path / "two.svm").write_text("\n".join(lines))
    wanted = in_json(command, data, "--rules", PLAIN)
    for kind in ("csv", "parquet", "npz", "svm"):
        found = in_json(command, tmp_path / f"two.{kind}", "--rules", PLAIN)
        assert found["results"][0]["labels"] == wanted["results"][0]["labels"], kind
        assert found["results"][0]["mistakes"] == wanted["results"][0]["mistakes"], kind


def test_a_bar_on_a_terminal_and_none_in_a_pipe(command, data, monkeypatch):
    assert command("run", data, "--rules", PLAIN, "--seeds", "2")[2] == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, out, err = command("run", data, "--rules", PLAIN, "--seeds", "2", "--json", "-")
    assert code == 0
    assert re.search(r"rows: .* 0/480 ", err)
    json.loads(out)


def test_the_bar_moves_within_a_run(command, data, monkeypatch):
    moved = []

    @contextmanager
    def progress(total, what):
        yield SimpleNamespace(update=moved.append)
        assert sum(moved) == total

    monkeypatch.setattr("selectron.cli.run.progress", progress)
    monkeypatch.setattr("selectron.classifier.progress.FIRST_PART", 7)
    monkeypatch.setattr("selectron.classifier.progress.BRISK", np.inf)
    split = "--limit", "60", "--test", "0.5"
    assert command("run", data, "--rules", PLAIN, "--seeds", "2", *split)[0] == 0
    assert moved == [7, 14, 9] * 2


def test_many_classes_are_reported_one_by_one(command, three, tmp_path):
    facts = tmp_path / "facts.json"
    rules = "perceptron+margin:b=0.5"
    code, out, err = command("run", three, "--rules", rules, "--json", facts)
    assert (code, err) == (0, "")
    assert re.search(r"mistakes \d+ <= \d+ \(ours, after \[CBGZ06\] Theorem 1", out)
    assert re.search(r"class +as 0 +as 1 +as 2 +recall", out)
    (result,) = json.loads(facts.read_text())["results"]
    confusion = np.array(result["confusion"])
    assert confusion.sum() == 200
    assert confusion.sum() - np.trace(confusion) == result["mistakes"][0]
    shares = np.diag(confusion) / confusion.sum(axis=1)
    np.testing.assert_allclose(result["recalls"], shares)
    assert f"{shares[2]:.3f}" in out


def test_a_comparison_of_many_classes_has_its_control(command, three):
    code, out, _ = command("compare", three, "perceptron+margin:b=0.5")
    assert code == 0
    assert "perceptron+margin:b=0.5, at random" in out


def test_rows_at_hand_are_chosen_until_the_budget_is_spent(command, data, tmp_path):
    target, model = tmp_path / "x.json", tmp_path / "x.selectron"
    code, out, _ = command(
        "run", data, "--pool", "--rules", PLAIN, "--budget", "12", "--test", "0.25", "--seeds", "2",
        "--json", target, "--save", model,
    )  # fmt: skip
    assert code == 0
    assert "rows at hand, 2 seed(s)" in out
    found = json.loads(target.read_text())
    assert found["judged"] == "test error"
    assert [len(curve) for curve in found["errors"]] == [12, 12]
    assert f"{np.mean([curve[9] for curve in found['errors']]):.4f}" in out
    assert load(model).n_asked_ == 12


@pytest.mark.parametrize(
    ("option", "flag"), [(["--goal", "error<=0.1"], "--goal"), (["--one-pass"], "--one-pass")]
)
def test_options_of_streams_do_not_go_with_rows_at_hand(command, data, option, flag):
    code, _, err = command("run", data, "--pool", *option)
    assert code == 2
    assert f"{flag} is for streams" in err


def test_without_test_rows_the_rest_is_judged(command, data):
    found = in_json(command, data, "--pool", "--rules", PLAIN, "--budget", "1000")
    assert found["judged"] == "error on the rows left"
    assert len(found["errors"][0]) == found["rows"] == 240
    assert found["errors"][0][-1] == 0.0
