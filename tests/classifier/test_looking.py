"""Looking at a learner changes nothing, whoever else is at work with it."""

import copy
import logging
import pickle
import threading

import numpy as np
import pytest

from selectron import DamagedFile, SelectiveClassifier, files, load
from selectron.classifier import pool, run
from selectron.tracking import TrackingClassifier

rng = np.random.default_rng(0)
X = rng.standard_normal((400, 6))
TWO = np.where(X[:, 0] > 0.0, "yes", "no")
THREE = np.digitize(X[:, 1], [-0.5, 0.5])
PIXELS = rng.integers(0, 200, (400, 64)).astype(float)
LEARNERS = {
    "two classes": lambda: SelectiveClassifier(random_state=0).fit(X, TWO),
    "three classes": lambda: SelectiveClassifier(random_state=0).fit(X, THREE),
    "pictures": lambda: SelectiveClassifier(random_state=0).fit(PIXELS, TWO),
    "follows": lambda: TrackingClassifier(random_state=0).fit(X[:60], TWO[:60]),
}


@pytest.mark.parametrize("kind", LEARNERS)
def test_looks_change_no_byte_of_the_file(kind, tmp_path):
    clf, rows = LEARNERS[kind](), PIXELS if kind == "pictures" else X
    clf.save(tmp_path / "before")
    looks = [lambda: clf.predict(rows), lambda: clf.predict_one(rows[3])]
    looks += [lambda: clf.decision_function(rows), lambda: clf.readout()]
    if kind != "follows":
        looks += [lambda: clf.predict_proba(rows[::-1])]
    for place, look in enumerate(looks):
        look()
        clf.save(tmp_path / "after")
        same = (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
        assert same, f"look {place} is in the file"


def test_a_choice_that_asks_nothing_leaves_the_digest():
    clf = SelectiveClassifier(random_state=0)
    for t in clf.choose(X, ask=False, n=5).rows.tolist():
        clf.tell_rows(X, t, TWO[t])
    before = clf.packing()()
    clf.predict_proba(X)
    assert clf.packing()() == before


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda clf: pickle.loads(pickle.dumps(clf))])
def test_copies_of_a_learner_at_work_are_whole(copied):
    clf = SelectiveClassifier(random_state=0, explore=0.2).partial_fit(X[:60], TWO[:60])
    at_work, failed = threading.Event(), []

    def work():
        for t in range(60, 4000):
            row = X[t % len(X)]
            if clf.ask_one(row).asked:
                clf.learn_one(row, TWO[t % len(X)])
        at_work.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not at_work.is_set():
        other = copied(clf)
        if other.estimate().rounds + other.estimate().outside != other.n_seen_:
            failed.append(other.n_seen_)
    worker.join()
    assert not failed


def test_probabilities_of_long_tables_are_those_of_short_ones(monkeypatch):
    for y in (TWO, THREE):
        clf = SelectiveClassifier(random_state=0).fit(X, y)
        whole = clf.predict_proba(X)
        monkeypatch.setattr(run, "CHUNK", 7)
        np.testing.assert_array_equal(clf.predict_proba(X), whole)
        broken = X.copy()
        broken[20, 2] = np.nan
        with pytest.raises(ValueError, match=r"20"):
            clf.predict_proba(broken)
        monkeypatch.undo()


def test_rows_at_hand_are_presented_in_pieces(monkeypatch):
    wanted = SelectiveClassifier(random_state=0).choose(X, n=5).to_dict()
    monkeypatch.setattr(pool, "CHUNK", 7)
    assert SelectiveClassifier(random_state=0).choose(X, n=5).to_dict() == wanted


def test_nobody_hears_of_what_is_logged_unless_he_listens():
    handlers = logging.getLogger("selectron").handlers
    assert any(isinstance(handler, logging.NullHandler) for handler in handlers)


@pytest.mark.parametrize(
    "rows",
    [
        np.array([["2020-01-01"], ["2021-01-01"]], "datetime64[D]"),
        np.array([[1], [2]], "timedelta64[s]"),
        np.array([["1.5"], ["2.5"]]),
        [["1.5"], ["2.5"]],
        np.array([[b"1.5"], [b"2.5"]]),
        np.array([[1.0], ["2.5"]], object),
    ],
    ids=["dates", "spans", "texts", "lists of texts", "bytes", "objects"],
)
def test_tables_of_other_kinds_than_numbers_are_refused(rows):
    with pytest.raises(ValueError, match="features are real numbers"):
        SelectiveClassifier().fit(rows, ["yes", "no"])


def test_files_that_are_too_large_are_refused(tmp_path, monkeypatch):
    clf = SelectiveClassifier(random_state=0).fit(X, TWO)
    clf.save(tmp_path / "m")
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    with pytest.raises(DamagedFile, match="is larger than"):
        load(tmp_path / "m")
    with pytest.raises(ValueError, match="this one is larger"):
        clf.save(tmp_path / "m")


def test_knobs_of_rules_by_name_are_parameters():
    clf = SelectiveClassifier("perceptron", "margin:b=0.1")
    assert clf.get_params()["query__b"] == 0.1
    clf.set_params(query__b=0.5, update__eta=2.0)
    assert clf.get_params()["query__b"] == 0.5
    assert clf.fit(X, TWO).rules_.update.eta == 2.0
    assert "query__b" not in SelectiveClassifier("perceptron", "no such rule").get_params()
