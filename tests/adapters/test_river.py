"""River's own checks on our learners, and the ways in which rows of dictionaries differ."""

import pickle
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from selectron import SelectiveClassifier as Learner
from selectron.queries import Margin
from selectron.updates import Perceptron

pytest.importorskip("river", reason="River is not installed: pip install 'selectron[river]'")

from river import checks, datasets, evaluate, feature_extraction, metrics, preprocessing

from selectron.features import dict_rows
from selectron.river import EARLY, SelectiveClassifier

pytestmark = pytest.mark.plain
NAMED = SelectiveClassifier("perceptron", Margin(b=0.5))
DEFAULT = SelectiveClassifier()
ABOUT_CHANCES = {  # the rest does not depend on the rule
    "check_classifier_tracks_seen_labels",
    "check_pickling",
    "check_predict_one_before_any_learn",
    "check_predict_proba_one",
    "check_shuffle_features_no_impact",
}


def one_of_each(model):
    """Return each of River's checks once, on its first data set."""
    return {check.__name__: check for check in reversed([*checks.yield_checks(model)])}


CHECKS = [
    *((NAMED, check) for check in checks.yield_checks(NAMED)),
    *((DEFAULT, one_of_each(DEFAULT)[name]) for name in sorted(ABOUT_CHANCES)),
]


@pytest.mark.parametrize(
    ("model", "check"), CHECKS, ids=[f"{c.__name__}-{k}" for k, (_, c) in enumerate(CHECKS)]
)
def test_river_conformance(model, check):
    check(model.clone())


def test_nothing_is_skipped_of_river_checks():
    assert not list(NAMED._unit_test_skips())


def stream(n, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for x in X:
        yield {f"k{j}": v for j, v in enumerate(x.tolist())}, bool(x[0] > x[1])


def test_a_learner_on_dictionaries_is_the_learner_on_their_rows():
    model = SelectiveClassifier("perceptron", "margin:b=0.5", seed=3)
    asked = [model.predict_one(x) for x, _ in stream(50)]
    learner = Learner(Perceptron(), Margin(b=0.5), random_state=3)
    width = model.learner.n_features_in_
    rows = np.array([[*x.values(), *[0.0] * (width - 5)] for x, _ in stream(50)])
    assert [asks for _, asks in asked] == learner.ask(rows).asked.tolist()


def test_progressive_validation_counts_the_labels_asked():
    model = SelectiveClassifier("perceptron", "margin:b=0.1", seed=0)
    *_, last = evaluate.iter_progressive_val_score(list(stream(800)), model, metrics.Accuracy())
    assert last["Samples used"] == model.learner.n_asked_ < 400
    assert last["Accuracy"].get() > 0.8
    assert not model.learner.waiting


def test_labels_may_come_late():
    model = SelectiveClassifier("perceptron", "margin:b=0.1", seed=0)
    score = evaluate.progressive_val_score(list(stream(800)), model, metrics.Accuracy(), delay=20)
    assert score.get() > 0.8
    assert model.learner.n_seen_ == 800  # an answer is no round of its own
    assert not model.learner.waiting


def test_a_pipeline_asks_as_well():
    model = preprocessing.StandardScaler() | SelectiveClassifier(
        "perceptron", "margin:b=0.5", seed=0
    )
    *_, last = evaluate.iter_progressive_val_score(list(stream(300)), model, metrics.Accuracy())
    assert 0 < last["Samples used"] < 300
    assert last["Accuracy"].get() > 0.7
    assert not list(model.steps.values())[-1].learner.waiting


def test_the_same_row_again_is_the_same_question():
    model = SelectiveClassifier(seed=0)
    for x, y in stream(80):
        _, asked = model.predict_one(x)
        rounds = model.learner.n_seen_
        assert model.predict_proba_one(dict(reversed(x.items())))[1] == asked
        assert model.learner.n_seen_ == rounds
        if asked:
            model.learn_one(x, y)


def test_rules_without_a_scale_have_no_probabilities():
    with pytest.raises(NotImplementedError):
        SelectiveClassifier("perceptron").predict_proba_one({"a": 1.0})


def test_classes_join():
    model = SelectiveClassifier("perceptron", "always", seed=0)
    for k in range(300):
        model.learn_one({"a": float(k % 3 == 0), "b": float(k % 3 == 1), "c": 1.0}, "xyz"[k % 3])
    assert [model.predict_one(x)[0] for x in ({"a": 1, "c": 1}, {"b": 1, "c": 1}, {"c": 1})] == [
        *"xyz"
    ]


def test_labels_weigh_as_in_the_learner():
    options = {"query": "always", "class_weight": {"b": 3}, "seed": 0}
    model = SelectiveClassifier("half-step", **options)
    for x, label in ((0.6, "a"), (-0.8, "b"), (0.2, "b")):
        model.learn_one({"x": x}, label)
    weighed = model.clone().learner
    assert weighed.class_weight == {"b": 3}
    update = model.learner._run.machine.states.now.update
    assert update.weighing.weights.tolist() == [1.0, 3.0]


def test_labels_are_pythons_own():
    model = SelectiveClassifier("perceptron", seed=0)
    for x, y in stream(30):
        model.learn_one(x, np.bool_(y))
    assert type(model.predict_one(x)[0]) is bool
    assert type(model.classifier.predict_one(x)) is bool


# --- keys and values


def test_rows_may_be_empty():
    model = SelectiveClassifier("perceptron", "always", seed=0)
    assert model.predict_one({}) == (None, True)
    model.learn_one({}, "a")
    model.learn_one({"x": 1.0}, "b")
    assert model.predict_one({"x": 2}) == ("b", True)


def test_an_early_key_gives_the_learner_that_knew_it_from_the_beginning():
    late, known = (SelectiveClassifier("perceptron", "always", seed=0) for _ in range(2))
    rows = [({**x, "late": 1.0} if k > 60 else x, y) for k, (x, y) in enumerate(stream(100))]
    extra = {f"more{j}": 0.0 for j in range(9)}
    known.predict_one({**rows[0][0], **extra, "late": 0.0})
    for model in (late, known):
        for x, y in rows:
            model.learn_one({**x, **(extra if model is late and x is rows[-1][0] else {})}, y)
    assert late.learner.n_features_in_ >= 15
    probe = [x for x, _ in stream(50, seed=1)]
    assert [late.classifier.predict_one(x) for x in probe] == [
        known.classifier.predict_one(x) for x in probe
    ]


def test_a_late_key_changes_no_width():
    model = SelectiveClassifier("perceptron", "always", seed=0)
    for x, y in stream(EARLY):
        model.learn_one(x, y)
    width, columns = model.learner.n_features_in_, len(model._rows.columns)
    for k in range(50):
        model.learn_one({**x, f"late{k}": 1.0}, y)
    assert model.learner.n_features_in_ == width
    assert columns < len(model._rows.columns) <= width


def test_many_keys_make_rows_sparse(monkeypatch):
    monkeypatch.setattr(dict_rows, "WIDEST", 20)
    model = feature_extraction.BagOfWords() | SelectiveClassifier("perceptron", "always", seed=0)
    for k in range(120):
        model.learn_one(f"word{k} {'good' if k % 2 else 'bad'} news", k % 2)
    assert model["SelectiveClassifier"]._rows.sparse
    assert model.predict_one("never seen, good")[0] == 1
    assert model.predict_one("never seen, bad")[0] == 0


def test_texts_and_gaps_are_values():
    rows = dict_rows.DictRows(4)
    row = rows.row({"town": "Ulm", "age": 3, "gap": None}).copy()
    assert rows.columns == {"age": 0, "town=Ulm": 1}
    assert row.tolist() == [3.0, 1.0, 0.0, 0.0]
    assert rows.row({"town": "Bonn", "age": True}).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert rows.row({"age": None}).tolist() == [0.0] * 4
    assert rows.row({"age": "3"}).tolist() == [0.0, 0.0, 0.0, 1.0]
    assert rows.row({}).tolist() == [0.0] * 4
    with pytest.raises(ValueError, match="'when' has the value"):
        rows.row({"when": object()})
    with pytest.raises(dict_rows.Crowded):
        rows.row({"a": 1.0, "b": 1.0})


def test_the_short_way_gives_the_same_rows():
    rng = np.random.default_rng(0)
    rows, slow = dict_rows.DictRows(12), dict_rows.DictRows(12)
    for k in range(400):
        keys = [f"k{j}" for j in range(8) if k % 7 or rng.random() < 0.7]
        rng.shuffle(keys)
        x = {key: float(rng.integers(3)) for key in keys}
        slow._n = -1  # never the short way
        given = Counter(x) if k % 5 == 0 else x
        assert rows.row(given).tolist() == slow.row(x).tolist()
    assert rows.row({f"k{j}": np.nan for j in range(8)}).tolist()[0] != 0.0


def test_a_learner_goes_on_from_a_pickle():
    model = SelectiveClassifier("perceptron", "margin:b=0.5", seed=0)
    for x, y in stream(200):
        if model.predict_one(x)[1]:
            model.learn_one(x, y)
    copy = pickle.loads(pickle.dumps(model))
    for x, _ in stream(100, seed=1):
        assert copy.predict_one(x) == model.predict_one(x)


def test_the_drawing_shows_the_learner():
    assert "Unasked" in NAMED._repr_html_()
    assert str(NAMED).startswith("SelectiveClassifier(SelectiveClassifier(update='perceptron'")


def test_it_learns_with_few_labels():
    model = SelectiveClassifier(seed=0)
    *_, last = evaluate.iter_progressive_val_score(
        datasets.Phishing(), model, metrics.Accuracy(), step=1250
    )
    assert last["Samples used"] < 500
    assert last["Accuracy"].get() > 0.8


@pytest.mark.parametrize(("module", "package"), [("river", "river"), ("activeml", "skactiveml")])
def test_a_missing_package_is_named_with_its_extra(module, package):
    code = f"import sys; sys.modules[{package!r}] = None; import selectron.{module}"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = found.stderr.strip().splitlines()[-1]
    assert last.endswith(f"is not installed: pip install 'selectron[{module}]'")


def test_nothing_of_it_is_imported_with_selectron():
    code = "import sys, selectron; sys.exit(bool({'river', 'skactiveml'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
