"""Bad input gets an error that names the value and the remedy, and nothing is learnt from it."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier
from selectron.queries import Always, Margin
from selectron.updates import Arow, DualProbit, Perceptron, Reflection, Ridge
from tests.rules.streams import stream

pytestmark = pytest.mark.filterwarnings("ignore:Reflection is made for rows of length one")
X, SIGNS = stream(n=60)
Y = np.where(SIGNS > 0, "b", "a")
LEARNERS = {
    "perceptron": lambda: SelectiveClassifier(Perceptron(), Margin(b=0.5), random_state=0),
    "reflection": lambda: SelectiveClassifier(Reflection(), Always(), random_state=0),
    "ridge": lambda: SelectiveClassifier(Ridge(), Margin(b=0.5), random_state=0),
    "default": lambda: SelectiveClassifier(random_state=0),
}


def with_value(value, position=7):
    bad = X[:20].copy()
    bad[position, 2] = value
    return bad


def frozen(clf):
    machine = clf._run.machine
    counts = (clf._run.rounds, clf._run.n_asked)
    return [a.tobytes() for a in (machine.states.numbers, *machine.arrays())], counts


@pytest.fixture(params=LEARNERS)
def clf(request):
    return LEARNERS[request.param]().partial_fit(X[:40], Y[:40], classes=["a", "b"])


def unchanged(clf, match, action):
    before = frozen(clf)
    with pytest.raises(ValueError, match=match):
        action()
    now = frozen(clf)
    assert now[1] == before[1]
    ours, theirs = np.array(now[0], object), np.array(before[0], object)
    # Room to work in may hold the row that was refused; nothing that is learnt does.
    assert (ours == theirs)[0], "numbers changed"
    np.testing.assert_array_equal(clf.decision_function(X), clf._expected)


@pytest.fixture(autouse=True)
def remember(request):
    if "clf" in request.fixturenames:
        learner = request.getfixturevalue("clf")
        learner._expected = learner.decision_function(X)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [False, pytest.param(True, marks=pytest.mark.plain)])
def test_what_is_not_finite_is_refused_whole(clf, value, sparse):
    bad = with_value(value)
    rows = csr_array(bad) if sparse else bad
    unchanged(clf, "NaN or infinity in row 7", lambda: clf.partial_fit(rows, Y[:20]))
    unchanged(clf, "NaN or infinity", lambda: clf.ask(rows))
    with pytest.raises(ValueError, match="NaN or infinity in row 7"):
        clf.predict(rows)


def test_what_is_not_finite_is_refused_before_a_label_is_paid_for(clf):
    paid = []

    def oracle(indices):
        paid.extend(indices)
        return Y[indices]

    unchanged(clf, "NaN or infinity", lambda: clf.partial_fit(with_value(np.nan, 15), oracle))
    assert paid == []


def test_wrong_width(clf):
    unchanged(
        clf, "X has 6 features, but .* expecting 7", lambda: clf.partial_fit(X[:5, :6], Y[:5])
    )
    unchanged(clf, "X has 6 features", lambda: clf.ask(X[:5, :6]))


def test_wrong_length(clf):
    unchanged(clf, "60 rows and y has 59 labels", lambda: clf.partial_fit(X, Y[:59]))


def test_unknown_label(clf):
    y = Y[:20].astype(object)
    y[:] = "c"
    unchanged(clf, "unknown label c in row", lambda: clf.partial_fit(X[:20] * 0.01 + 1e-3, y))


def test_a_label_that_is_not_asked_is_not_even_looked_at():
    clf = LEARNERS["perceptron"]().partial_fit(X[:40], Y[:40], classes=["a", "b"])
    twin = LEARNERS["perceptron"]().partial_fit(X[:40], Y[:40], classes=["a", "b"])
    twin.partial_fit(X[40:], Y[40:])
    asked = LEARNERS["perceptron"]()
    asked.partial_fit(X[:40], Y[:40], classes=["a", "b"])
    seen = []
    asked.partial_fit(X[40:], lambda i: (seen.append(int(i[0])), Y[40:][i])[1])
    poisoned = np.array(["poison"] * 20, object)
    poisoned[seen] = Y[40:][seen]
    clf.partial_fit(X[40:], poisoned)
    np.testing.assert_array_equal(clf.coef_, twin.coef_)


@pytest.mark.parametrize("rows", [np.zeros((0, 7)), [], np.zeros((3, 0))])
def test_empty_input(clf, rows):
    unchanged(clf, "0 sample|minimum of 1|Expected 2D|features", lambda: clf.partial_fit(rows, []))


def test_one_dimension(clf):
    unchanged(clf, "Reshape your data", lambda: clf.partial_fit(X[0], Y[:1]))


def test_a_row_without_a_direction():
    clf = LEARNERS["reflection"]().partial_fit(X[:40], Y[:40], classes=["a", "b"])
    clf._expected = clf.decision_function(X)
    bad = X[:10].copy()
    bad[4] = 0.0
    unchanged(
        clf, "row 4 of X has norm 0, and Reflection needs", lambda: clf.partial_fit(bad, Y[:10])
    )
    unchanged(clf, "norm 0", lambda: clf.partial_fit(csr_array(bad), Y[:10]))
    assert clf.decision_function(bad)[4] == 0.0


def test_numbers_too_large():
    clf = SelectiveClassifier(Perceptron(), Always()).partial_fit(
        X[:40], Y[:40], classes=["a", "b"]
    )
    clf._expected = clf.decision_function(X)
    huge = X[:10] * 1e200
    unchanged(clf, "too large", lambda: clf.partial_fit(huge, Y[:10]))


def test_damaged_sparse_matrices_do_not_crash():
    clf = SelectiveClassifier(Perceptron(), Always(), random_state=0).fit(csr_array(X), Y)
    clf._expected = clf.decision_function(X)
    out = csr_array(X[:5])
    out.indices[3] = 1_000_000
    unchanged(clf, "width of 7", lambda: clf.partial_fit(out, Y[:5]))
    negative = csr_array(X[:5])
    negative.indices[0] = -4
    unchanged(clf, "damaged", lambda: clf.partial_fit(negative, Y[:5]))


def test_sparse_rows_have_places_of_32_bits():
    """A column from 2³¹ on would be read as a place before the weights."""
    wide = csr_array((np.ones(1), np.array([2**31 + 5]), np.array([0, 1])), (1, 2**31 + 6))
    clf = SelectiveClassifier(Perceptron(), Always())
    for call in (
        lambda: clf.fit(wide, ["a"], classes=["a", "b"]),
        lambda: clf.partial_fit(wide, ["a"], classes=["a", "b"]),
        lambda: clf.ask_one(wide),
        lambda: clf.learn_one(wide, "a"),
    ):
        with pytest.raises(ValueError, match=r"2,147,483,654 columns.*hash"):
            call()


def test_unsorted_columns_are_put_in_order():
    shuffled = csr_array(X)
    for t in range(len(X)):
        part = slice(shuffled.indptr[t], shuffled.indptr[t + 1])
        shuffled.indices[part] = shuffled.indices[part][::-1].copy()
        shuffled.data[part] = shuffled.data[part][::-1].copy()
    shuffled.has_sorted_indices = False
    for make in LEARNERS.values():
        one, other = make().fit(csr_array(X), Y), make().fit(shuffled, Y)
        np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_rules_must_be_rules():
    with pytest.raises(TypeError, match=r"update must be a rule .* selectron.updates, got Margin"):
        SelectiveClassifier(Margin(b=1.0)).fit(X, Y)
    with pytest.raises(ValueError, match="unknown rule 'perceptrn'; did you mean perceptron"):
        SelectiveClassifier("perceptrn").fit(X, Y)
    with pytest.raises(TypeError, match="random_state"):
        SelectiveClassifier(random_state="zero").fit(X, Y)
    with pytest.raises(ValueError, match="random_state must lie"):
        SelectiveClassifier(random_state=-1).fit(X, Y)


def test_three_classes_are_refused_by_rules_for_two():
    with pytest.raises(ValueError, match="Arow is for two classes and there are 3: choose a rule"):
        SelectiveClassifier(Arow()).fit(X[:3], ["a", "b", "c"])


def test_classes_cannot_change_midway(clf):
    unchanged(clf, "differ from those of the first call",
              lambda: clf.partial_fit(X[:5], Y[:5], classes=["a", "z"]))  # fmt: skip


@pytest.mark.plain
def test_a_wide_default_keeps_the_rows_it_was_taught():
    rng = np.random.default_rng(0)
    wide = csr_array(rng.standard_normal((60, 5000)) * (rng.random((60, 5000)) < 0.01))
    clf = SelectiveClassifier(random_state=0).fit(wide, rng.integers(0, 2, 60))
    assert clf.rules_.update == DualProbit()


def test_rows_that_are_scaled_are_announced():
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = SelectiveClassifier(Reflection(), Always(), random_state=0).fit(unit, Y)
    with pytest.warns(UserWarning, match="rows of length one: yours are scaled"):
        same = SelectiveClassifier(Reflection(), Always(), random_state=0).fit(3.0 * unit, Y)
    np.testing.assert_allclose(same.coef_, scaled.coef_, rtol=1e-12)
