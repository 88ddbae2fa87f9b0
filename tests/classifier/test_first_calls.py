"""What a newcomer calls first: rows of any format, one label, one question, and clear refusals."""

import numpy as np
import pytest
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array

from selectron import SelectiveClassifier, load
from selectron.queries import Always, Halving, Margin
from selectron.updates import Perceptron

RNG = np.random.default_rng(3)
X = RNG.standard_normal((300, 4))
Y = (X[:, 0] > 0).astype(int)


def learner():
    return SelectiveClassifier(Perceptron(), Always(), random_state=0)


@pytest.mark.parametrize("kind", [csc_array, coo_array, bsr_array, csr_array])
def test_a_sparse_row_of_any_format_is_read_right(kind):
    clf = learner().fit(np.eye(4)[[0, 1, 2, 3] * 20], [0, 0, 1, 1] * 20)
    row = np.array([[0.0, 0.0, 5.0, 0.0]])
    several = np.array([[1.0, 0.0, 5.0, 2.0]])
    assert clf.predict_one(kind(row)) == 1
    assert clf.predict_one(kind(several)) == clf.predict(several)[0]
    assert clf.ask_one(kind(several)).margins == clf.decision_function(several)[0]


def test_a_label_for_another_row_does_not_answer_the_question():
    clf = learner()
    question = clf.ask_one(X[0])
    clf.learn_one(X[7], 1)
    assert clf.n_seen_ == 2
    assert clf.tell(question.tickets, 0) == 1


@pytest.mark.parametrize("between", ["partial_fit", "ask", "tell"])
def test_only_the_row_just_asked_is_answered_without_its_number(between):
    clf = learner()
    question = clf.ask_one(X[0])
    if between == "partial_fit":
        clf.partial_fit(X[1:5], Y[1:5])
    elif between == "ask":
        clf.ask(X[1:5])
    else:
        clf.tell(question.tickets, Y[0])
    seen = clf.n_seen_
    clf.learn_one(X[0], 1)
    assert clf.n_seen_ == seen + 1


def test_the_question_just_asked_survives_a_save(tmp_path):
    clf = learner()
    clf.ask_one(X[0])
    clf.save(tmp_path / "m")
    back = load(tmp_path / "m")
    for one in (clf, back):
        one.learn_one(X[0], 1)
    assert (back.n_seen_, back.n_asked_) == (clf.n_seen_, clf.n_asked_) == (1, 1)


def test_score_takes_a_column_and_weights():
    clf = learner().fit(X, Y)
    with pytest.warns(match="column-vector"):
        assert clf.score(X, Y[:, np.newaxis]) == clf.score(X, Y)
    right = clf.predict(X) == Y
    assert clf.score(X, Y, sample_weight=np.where(right, 1.0, 0.0)) == 1.0
    with pytest.raises(ValueError, match="300 rows and y has 299"):
        clf.score(X, Y[:-1])


@pytest.mark.parametrize("first", [([np.nan, 1.0], 1), (np.ones(2), None)])
def test_a_refused_first_row_fixes_no_width(first):
    clf = SelectiveClassifier(random_state=0)
    with pytest.raises(ValueError, match=r"NaN|label is needed"):
        clf.learn_one(*first)
    clf.learn_one([1.0, 2.0, 3.0], 1)
    assert clf.n_features_in_ == 3


def test_a_short_fit_asks_for_labels():
    clf = SelectiveClassifier(random_state=0).fit(X[:10], Y[:10])
    assert clf.n_asked_ > 0


@pytest.mark.parametrize("rules", [{"update": Margin()}, {"query": Perceptron()}])
def test_a_rule_in_the_wrong_place_is_refused(rules):
    with pytest.raises(TypeError, match="must be a rule"):
        SelectiveClassifier(**rules).fit(X, Y)


def test_labels_of_two_types(tmp_path):
    labels = np.array([1, "a"], object)[Y]
    clf = learner().fit(X, labels)
    assert set(clf.classes_) == {1, "a"}
    assert clf.score(X, labels) > 0.9
    clf.save(tmp_path / "m")
    assert load(tmp_path / "m").predict(X).tolist() == clf.predict(X).tolist()


def test_numpy_numbers_are_knobs(tmp_path):
    rules = Perceptron(eta=np.float32(0.5)), Halving(patience=np.int64(8))
    clf = SelectiveClassifier(*rules, random_state=0).fit(X, Y)
    clf.save(tmp_path / "m")
    assert load(tmp_path / "m").rules_.query.patience == 8


@pytest.mark.parametrize("label", [[1], {}, np.zeros(2)])
def test_a_label_must_be_one_value(label):
    clf = learner().fit(X, Y)
    with pytest.raises(ValueError, match="a label must be"):
        clf.learn_one(X[0], label)


def test_classes_are_named_when_a_label_is_unknown():
    with pytest.raises(ValueError, match=r"unknown label 1 in row .*: the classes are 'a', 'b'"):
        learner().fit(X, Y, classes=["a", "b"])
    with pytest.raises(ValueError, match="names a class twice"):
        learner().fit(X, Y, classes=[0, 0])
    assert learner().partial_fit(X, Y, classes=iter([0, 1])).n_seen_ == 300


def test_a_save_needs_a_folder_and_a_file(tmp_path):
    clf = learner().fit(X, Y)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        clf.save(tmp_path / "none" / "m")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        clf.save(tmp_path)
