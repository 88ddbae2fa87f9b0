"""`selectron reproduce peers-labels`: the peers one by one, where they are installed."""

from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest
from sklearn.svm import SVC

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.harness.problems import read_pixels
from selectron.reproduce.mon06.digits import PROBLEMS
from selectron.reproduce.peers import PEERS, POOL, pool_svm, vowpal_wabbit
from selectron.reproduce.peers.labels import PACKAGES, PeerJob, cell, run_peer
from tests.reproduce.digits import write_digits

PEERS_LABELS = EXPERIMENTS["peers-labels"]


def stream(n=300, d=8):
    rng = np.random.default_rng(1)
    rows = rng.random((n, d))
    signs = np.where(rows @ rng.standard_normal(d) > 0.2, 1, -1).astype(np.int8)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), signs


def installed(name):
    module = "vowpalwabbit" if name.startswith("Vowpal") else name.split(",")[0].lower()
    module = {"scikit-activeml": "skactiveml", "svm on all labels": "sklearn"}.get(module, module)
    return find_spec(module) is not None


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_learns_label_by_label(name):
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    rows, signs = stream()
    found = [
        (h.n_labels, float((np.where(rows @ h.weights + h.intercept > 0, 1, -1) != signs).mean()))
        for h in PEERS[name].learn(rows, signs, 3)
    ]
    labels = [n for n, _ in found]
    assert all(b == a + 1 for a, b in pairwise(labels))
    assert 1 <= labels[-1] <= 300
    assert min(error for _, error in found) < 0.25


def test_vowpal_wabbit_decides_by_the_weights_we_read():
    pyvw = pytest.importorskip("vowpalwabbit")
    rows, signs = stream(80)
    last = list(vowpal_wabbit(rows, signs, 3, 0.1))[-1]
    twin = pyvw.Workspace("--loss_function logistic --active --simulation --mellowness 0.1 "
                          "--random_seed 3 -b 18 --quiet")  # fmt: skip
    lines = ["| " + " ".join(f"{i}:{v:.9g}" for i, v in enumerate(x)) for x in rows]
    for line, sign in zip(lines, signs, strict=True):
        twin.learn(f"{sign} {line}")
    margins = [twin.predict(line) for line in lines]
    np.testing.assert_allclose(margins, rows @ last.weights + last.intercept, atol=1e-4)
    twin.finish()


def test_vowpal_wabbit_learns_what_it_asks_for_and_no_more():
    pytest.importorskip("vowpalwabbit")
    rows = np.random.default_rng(0).standard_normal((400, 20))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = list(vowpal_wabbit(rows, np.where(rows[:, 0] > 0, 1, -1), 3, 1e-3))
    assert 20 < len(found) < 390
    assert all((a.weights != b.weights).any() for a, b in pairwise(found))


def test_the_svm_asks_for_the_row_nearest_to_it():
    rows, signs = stream(60)
    both = int(np.argmax(signs != signs[0]))
    kept = list(range(both + 1))
    for h in pool_svm(rows, signs, 0):
        assert h.n_labels == len(kept)
        model = SVC(kernel="linear", C=10.0).fit(rows[kept], signs[kept])
        np.testing.assert_allclose(h.weights, model.coef_[0])
        left = [t for t in range(60) if t not in kept]
        kept.append(min(left, key=lambda t: abs(float(model.decision_function(rows[[t]])[0]))))
    assert len(kept) == 60


def test_a_problem_by_a_peer(tmp_path, monkeypatch):
    write_digits(tmp_path)
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    read_pixels.cache_clear()
    reached = run_peer(PeerJob(POOL, 2, 1))
    read_pixels.cache_clear()
    assert len(reached) == 10
    assert all(2 <= labels <= 54 for labels in reached)


def test_cells_text_and_picture(tmp_path):
    cells = [cell(name, k, [8, 4, None], [2, 4, 3, 90]) for name in ("default", *PEERS)
             for k in range(len(PROBLEMS))]  # fmt: skip
    assert (cells[0]["mean"], cells[0]["reach"]) == (6.0, 2 / 3)
    assert cells[0]["times_the_default"] == 2.0  # on the folds that both have
    cells.append(cell("none", 0, [None], [2]))
    result = {"cells": cells}
    shown = PEERS_LABELS.text({"cells": cells[:-1]})
    assert "6.0±2.0 x2.00 (0.67)" in shown
    assert all(name in shown for name in PEERS)
    PEERS_LABELS.plot({"cells": result["cells"][:-1]}, tmp_path / "peers.png")
    assert (tmp_path / "peers.png").stat().st_size > 10_000
    assert (cells[-1]["mean"], cells[-1]["times_the_default"]) == (None, None)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    write_digits(tmp_path)
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    monkeypatch.setitem(PACKAGES, "no_such_module", "no-such-package")
    with pytest.raises(ValueError, match=r"no-such-package not installed: .*selectron\[peers\]"):
        PEERS_LABELS.run(1, lambda: None)
