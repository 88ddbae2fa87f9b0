"""More than two classes through every door of the estimator."""

import warnings
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier, load
from selectron.evaluate import progressive
from selectron.protocol import hypothesis
from selectron.queries import Always, Balanced, Budget, Margin
from selectron.updates import Arow, Ballseptron, Perceptron, Reflection, Ridge

NAMES = np.array(["ant", "bee", "cow", "dog"])


def problem(n=240, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, NAMES[(X @ rng.standard_normal((d, 4))).argmax(axis=1)]


X, Y = problem()
LATE = np.where((np.arange(len(Y)) < 120) & (np.isin(Y, NAMES[2:])), NAMES[0], Y)


def make(**options):
    return SelectiveClassifier(Perceptron(), Margin(b=1.0), random_state=3, **options)


def ridge():
    return SelectiveClassifier(Ridge(), Balanced(), random_state=3)


def state(clf):
    run = clf._run
    # Not the room to work in, which a glance at any row may change.
    arrays = [
        hypothesis(run.machine.states.now.update),
        *(a for a in run.machine.arrays() if a.ndim > 1),
    ]
    parts = [a.tobytes() for a in arrays], run.machine.states.numbers.tobytes()
    memory = {name: a.tobytes() for name, a in run.memory.tensors().items()}
    counts = run.rounds, run.n_asked, run.machine.n_classes
    return parts, memory, counts, run.labels.classes.tolist(), sorted(run.tickets.waiting)


def same(one, other):
    assert state(one) == state(other)


# --- fit, predict, and the shapes of what is learnt


@pytest.mark.parametrize("update", [Perceptron(), Ballseptron(r=0.1), Ridge()])
def test_four_classes_are_learnt(update):
    clf = SelectiveClassifier(update, Always(), random_state=0).fit(X, Y)
    assert clf.classes_.tolist() == NAMES.tolist()
    assert clf.score(X, Y) > 0.75
    assert clf.coef_.shape == (4, 6)
    assert clf.intercept_.tolist() == [0.0] * 4
    scores = clf.decision_function(X)
    np.testing.assert_allclose(scores, X @ clf.coef_.T, atol=1e-9)
    np.testing.assert_array_equal(clf.predict(X), NAMES[scores.argmax(axis=1)])


@pytest.mark.plain
def test_an_intercept_for_each_class():
    clf = make(fit_intercept=True).fit(X, Y)
    np.testing.assert_allclose(clf.decision_function(X), X @ clf.coef_.T + clf.intercept_)
    assert (clf.intercept_ != 0.0).any()


def test_the_default_learns_many_classes():
    rows, labels = problem(2000, 10, 1)
    clf = SelectiveClassifier(random_state=0).fit(rows, labels)
    assert clf.score(rows, labels) > 0.85
    assert clf.n_asked_ < 700


@pytest.mark.parametrize("read", [csr_array, lambda rows: rows.astype(np.float32)])
def test_sparse_and_small_rows(read):
    clf, other = ridge().fit(X, Y), ridge().fit(read(X), Y)
    np.testing.assert_allclose(clf.decision_function(X), other.decision_function(X), atol=1e-3)


def test_a_missing_class_competes_with_a_row_of_zeros():
    clf = make().fit(X, Y, classes=[*NAMES, "eel"])
    assert clf.classes_.tolist() == [*NAMES, "eel"]
    assert (clf.coef_[4] != 0.0).sum() in (0, 6)
    assert clf.decision_function(X).shape == (240, 5)


@pytest.mark.plain
def test_rows_of_zeros_and_equal_scores_predict_the_first_class():
    clf = make().fit(X, Y)
    assert clf.predict(np.zeros((2, 6))).tolist() == ["ant", "ant"]
    assert clf.predict_one(np.zeros(6)) == "ant"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        mirrored = SelectiveClassifier(Reflection(), Always()).fit(X, Y)
    assert mirrored.predict(np.zeros((1, 6))).tolist() == ["ant"]
    with pytest.raises(ValueError, match="norm 0, and Reflection needs a direction"):
        mirrored.partial_fit(np.zeros((1, 6)), ["ant"])


def test_a_class_with_one_example():
    labels = np.where(np.arange(240) == 5, "rare", Y)
    clf = ridge().fit(X, labels)
    assert "rare" in clf.classes_
    assert clf.score(X, labels) > 0.6


# --- the same learner through every door


def test_the_doors_agree():
    """A batch, batches, an oracle, and questions answered at once are the same run."""
    whole = make().fit(X, Y)
    asked = []

    def oracle(positions):
        asked.extend(positions.tolist())
        return Y[positions]

    same(make().fit(X, oracle, classes=NAMES), whole)
    assert len(asked) == whole.n_asked_
    parts = make()
    for start in range(0, 240, 37):
        parts.partial_fit(X[start : start + 37], Y[start : start + 37], classes=NAMES)
    same(parts, whole)
    poisoned = np.where(np.isin(np.arange(240), asked), Y, "poison")
    same(make().fit(X, poisoned, classes=NAMES), whole)


def test_one_row_at_a_time():
    single, batch = make(), make().partial_fit(X[:1], Y[:1], classes=NAMES)
    single.partial_fit(X[:1], Y[:1], classes=NAMES)
    for x, y in zip(X[1:], Y[1:], strict=True):
        one, many = single.ask_one(x), batch.ask(x[np.newaxis])
        assert one.labels == many.labels[0] == single.predict_one(x)
        assert (one.margins, one.asked) == (many.margins[0], many.asked[0])
        if one.asked:
            single.learn_one(x, y)
            batch.tell(many.tickets, [y])
    same(single, batch)


def test_questions_forgotten_and_answered_late():
    clf = make().partial_fit(X[:50], Y[:50], classes=NAMES)
    answer = clf.ask(X[50:100])
    tickets = answer.tickets[answer.asked]
    assert clf.forget(tickets[:2]) == 2
    labels = Y[50:100][answer.asked]
    assert clf.tell(tickets[::-1], labels[::-1]) == len(tickets) - 2
    assert clf.tell(tickets, labels) == 0


def test_files_go_on_exactly(tmp_path):
    clf = make().partial_fit(X[:120], LATE[:120])
    clf.ask(X[120:130])
    for k in range(3):  # with two classes, three and four
        clf.save(tmp_path / "m.selectron")
        twin = load(tmp_path / "m.selectron")
        same(clf, twin)
        stretch = slice(120 + 40 * k, 160 + 40 * k)
        for learner in (clf, twin):
            learner.partial_fit(X[stretch], LATE[stretch])
        same(clf, twin)
    assert len(clf.classes_) == 4


# --- classes that join


@pytest.mark.parametrize("make", [make, ridge])
def test_a_late_class_joins_however_the_rows_come(make):
    whole = make().partial_fit(X, LATE)
    assert set(whole.classes_) == set(NAMES)
    assert whole.score(X[120:], Y[120:]) > 0.6
    rows, oracle = make(), make()
    for t in range(240):
        rows.partial_fit(X[t : t + 1], LATE[t : t + 1])
    oracle.partial_fit(X, lambda positions: LATE[positions])
    same(rows, whole)
    same(oracle, whole)


def test_a_third_class_is_taught_what_the_two_were_told():
    """With every label asked, the late learner has learnt the same rows in the same order."""
    third = np.where(np.arange(240) == 200, "zebra", np.where(Y == "ant", "ant", "bee"))
    clf = SelectiveClassifier(Perceptron(), Always()).partial_fit(X, third)
    first = [third[0], next(y for y in third if y != third[0]), "zebra"]
    assert clf.classes_.tolist() == first
    numbers = [first.index(y) for y in third]
    weights = np.zeros((3, 6))
    for x, k in zip(X, numbers, strict=True):
        perceptron_step(weights, x, k)
    np.testing.assert_allclose(clf.coef_, weights, atol=1e-9)


def perceptron_step(weights, x, k):
    scores = weights @ x
    rival = max((j for j in range(len(weights)) if j != k), key=lambda j: scores[j])
    if scores[k] <= scores[rival]:
        weights[k] += x
        weights[rival] -= x


def test_a_class_that_joins_leaves_the_others_as_they_were():
    order, taught, weights = [], [], None
    for x, y in zip(X, LATE, strict=True):
        if y not in order:
            order.append(y)
            if len(order) == 3:  # the two were another learner's: all rows once more
                weights = np.zeros((3, 6))
                for before, k in taught:
                    perceptron_step(weights, before, k)
            elif len(order) > 3:
                weights = np.vstack([weights, np.zeros(6)])
        if weights is not None:
            perceptron_step(weights, x, order.index(y))
        taught.append((x, order.index(y)))
    clf = SelectiveClassifier(Perceptron(), Always()).partial_fit(X, LATE)
    assert clf.classes_.tolist() == order
    np.testing.assert_allclose(clf.coef_, weights, atol=1e-9)


def test_questions_that_wait_outlive_a_new_class():
    clf = make().partial_fit(X[:60], np.where(Y[:60] == "ant", "ant", "bee"))
    answer = clf.ask(X[60:90])
    tickets = answer.tickets[answer.asked]
    assert clf.tell(tickets[:1], ["zebra"]) == 1
    assert clf.classes_.tolist()[-1] == "zebra"
    assert clf.tell(tickets, ["ant"] * len(tickets)) == len(tickets) - 1
    assert set(clf.ask(X[90:100]).labels) <= set(clf.classes_)


def test_a_class_joins_by_a_single_row():
    clf = make()
    for x, y in zip(X, LATE, strict=True):
        clf.learn_one(x, y)
        assert clf.predict_one(x) in clf.classes_
    assert set(clf.classes_) == set(NAMES)
    twin = SelectiveClassifier(Perceptron(), Always()).partial_fit(X, LATE)
    np.testing.assert_array_equal(clf.coef_, twin.coef_)


@pytest.mark.plain
def test_a_budget_counts_on_when_a_class_joins():
    query = Budget(Margin(b=1.0), total=60)
    clf = SelectiveClassifier(Perceptron(), query, random_state=3).partial_fit(X, LATE)
    assert clf.n_asked_ == 60
    assert len(clf.classes_) > 2


def test_a_label_that_is_paid_for_is_learnt_whatever_the_odds_are_then():
    """Once its class has joined, a row may be one that would not be asked any more."""
    for seed in range(20):
        answered = []

        def oracle(positions, answered=answered):
            answered.extend(LATE[positions])
            return LATE[positions]

        by_oracle, at_once = (
            SelectiveClassifier(Perceptron(), Margin(b=0.1), random_state=seed) for _ in range(2)
        )
        by_oracle.partial_fit(X, oracle)
        assert by_oracle.n_asked_ == len(answered)
        assert by_oracle.classes_.tolist() == list(dict.fromkeys(answered))
        at_once.partial_fit(X[:60], LATE[:60]).partial_fit(X[60:], LATE[60:])
        same(at_once, by_oracle)


def test_a_named_query_rule_observes_no_label_twice():
    clf = ridge().partial_fit(X, LATE)
    query = clf._run.machine.states.now.query
    assert (query.n_labels, query.n_rounds) == (clf.n_asked_, clf.n_seen_)


# --- what is refused changes nothing


def test_fixed_classes_refuse_others():
    for clf in (make().fit(X, Y), make().partial_fit(X, Y, classes=NAMES)):
        before = state(clf)
        with pytest.raises(ValueError, match="unknown label zebra in row 0 of y: the classes"):
            clf.partial_fit(X[:9], ["zebra"] * 9)
        with pytest.raises(ValueError, match="unknown label 'zebra'"):
            clf.learn_one(X[0], "zebra")
        assert state(clf) == before


@pytest.mark.parametrize("known", [2, 3])
def test_a_refused_batch_leaves_no_class_behind(known):
    clf = SelectiveClassifier(Perceptron(), Always())
    clf.partial_fit(X[:60], NAMES[np.arange(60) % known])
    before = state(clf)
    bad = X[:10].copy()
    bad[7, 2] = np.nan
    labels = ["new", "newer", *Y[:8]]
    with pytest.raises(ValueError, match="NaN or infinity in row 7"):
        clf.partial_fit(bad, labels)
    assert state(clf) == before
    with pytest.raises(ValueError, match="NaN or infinity"):
        clf.learn_one(bad[7], "new")
    with pytest.raises(ValueError, match="a label is needed"):
        clf.partial_fit(X[:2], np.array(["new", None], object))
    assert state(clf) == before
    clf.partial_fit(X[:10], labels)
    assert len(clf.classes_) > known + 1


@pytest.mark.plain
def test_a_rule_for_two_refuses_the_third_class_and_stays():
    clf = SelectiveClassifier(Arow(), Always())
    clf.partial_fit(X[:60], np.where(Y[:60] == "ant", "ant", "bee"))
    before = state(clf)
    for teach in (
        lambda: clf.partial_fit(X[:3], ["ant", "bee", "zebra"]),
        lambda: clf.learn_one(X[0], "zebra"),
        lambda: clf.tell(clf.ask(X[:1]).tickets, ["zebra"]),
    ):
        with pytest.raises(ValueError, match="Arow is for two classes and there are 3"):
            teach()
    assert clf._run.memory.tensors() == {}
    assert state(clf)[0][0] == before[0][0]


def test_what_an_oracle_answered_stays_learnt():
    def oracle(positions):
        if positions[0] > 150:
            raise KeyboardInterrupt
        return LATE[positions]

    clf = SelectiveClassifier(Perceptron(), Always())
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, oracle)
    assert (clf.n_seen_, clf.n_asked_) == (151, 151)
    assert len(clf.classes_) == 4
    clf.partial_fit(X[151:], LATE[151:])
    whole = SelectiveClassifier(Perceptron(), Always()).partial_fit(X, LATE)
    np.testing.assert_array_equal(clf.coef_, whole.coef_)


# --- the estimate of the error


@pytest.mark.plain
def test_the_error_of_many_classes_is_estimated():
    learner = SelectiveClassifier(Perceptron(), Always(), random_state=0)
    trace = progressive(learner, X, Y)
    clf = SelectiveClassifier(Perceptron(), Always(), explore=1.0, random_state=0).fit(X, Y)
    assert clf.estimate().error == pytest.approx(trace.error)
    told = SelectiveClassifier(Perceptron(), Always(), explore=1.0, random_state=0)
    told.partial_fit(X[:1], Y[:1], classes=NAMES)
    for x, y in zip(X[1:], Y[1:], strict=True):
        told.tell(told.ask(x[np.newaxis]).tickets, [y])
    assert told.estimate().error == pytest.approx(trace.error)


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by_oracle", [False, True])
def test_a_row_whose_class_joins_counts_as_a_mistake_at_the_odds_it_was_drawn(by_oracle, seed):
    clf = SelectiveClassifier(Perceptron(), Margin(b=0.5), explore=0.1, random_state=seed)
    twin = SelectiveClassifier(Perceptron(), Margin(b=0.5), explore=0.1, random_state=seed)
    for learner in (clf, twin):
        learner.partial_fit(X[:60], LATE[:60])
    mistakes = clf.estimate().error * clf.estimate().rounds
    clf.partial_fit(X[60:], (lambda t: LATE[60 + t]) if by_oracle else LATE[60:])
    for x, y in zip(X[60:], LATE[60:], strict=True):
        answer = deepcopy(twin).ask(x[np.newaxis])
        twin.partial_fit(x[np.newaxis], [y])
        if answer.asked[0] and answer.labels[0] != y:
            mistakes += 1.0 / answer.probabilities[0]
    assert len(clf.classes_) == 4
    assert clf.estimate().error * clf.estimate().rounds == pytest.approx(mistakes)


def test_goals_of_two_classes_are_refused_with_more():
    clf = SelectiveClassifier(Perceptron(), Always(), stop_when="recall>=0.9")
    with pytest.raises(ValueError, match=r"recall>=0\.9 is about two classes and there are more"):
        clf.fit(X, Y)
    stopping = SelectiveClassifier(Perceptron(), Always(), stop_when="error<=0.6", random_state=0)
    stopping.fit(np.tile(X, (4, 1)), np.tile(Y, 4))
    assert stopping.stopped_at_ is not None
    assert stopping.n_asked_ < 960
