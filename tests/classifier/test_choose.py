"""Rows at hand: which is chosen, with which odds, and that nothing else depends on it."""

import numpy as np
import pytest
from scipy import sparse

from selectron import SelectiveClassifier, load
from selectron.queries import Margin
from selectron.updates import Perceptron, Probit, Ridge

RNG = np.random.default_rng(3)
X = RNG.standard_normal((300, 4))
Y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0.2, "yes", "no")
WORDS = np.array([[1, 2, 0, 1], [0, 1, 2, 1]])


def texts(n=120, d=400):
    """Return counts of words: the first half of the columns for one class, the rest for another."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, n)
    rows = np.zeros((n, d))
    for t in range(n):
        own = rng.integers(0, d // 2, 12) + (d // 2) * y[t]
        np.add.at(rows[t], own, 1)
        np.add.at(rows[t], rng.integers(0, d, 3), 1)
    return sparse.csr_array(rows), np.where(y, "b", "a")


def taught(clf, rows, labels, n, **how):
    for _ in range(n):
        choice = clf.choose(rows, **how)
        clf.tell(choice.tickets, labels[choice.rows])
    return clf


def test_few_choices_are_enough():
    clf = taught(SelectiveClassifier(random_state=0), X, Y, 40)
    assert clf.score(X, Y) >= 0.97
    assert clf.n_asked_ == 40


def test_text_at_hand_takes_few_labels():
    rows, labels = texts()
    clf = taught(SelectiveClassifier(random_state=0), rows, labels, 12)
    assert clf.rules_.update.label == "DualProbit"
    assert clf.score(rows, labels) >= 0.97


def test_the_row_of_least_margin_per_deviation_is_chosen():
    clf = taught(SelectiveClassifier(Probit(), Margin(b=1.0), random_state=0), X, Y, 25)
    asked = clf._run.pool.left.copy()
    margins = clf.decision_function(X)
    V = clf._run.machine.states.now.update.store.A_inv
    cost = np.abs(margins) / np.sqrt(np.einsum("ti,ij,tj->t", X, V, X))
    near = np.argsort(np.where(asked, np.abs(margins), np.inf))[:64]
    assert clf.choose(X).rows[0] == near[cost[near].argmin()]


def test_the_first_row_is_the_one_of_which_least_is_known():
    clf = SelectiveClassifier(Probit(), Margin(b=1.0), random_state=0)
    choice = clf.choose(X)
    assert choice.reasons == ["first"]
    assert choice.rows[0] == (X**2).sum(axis=1).argmax()


def test_no_row_is_chosen_twice_and_the_last_one_is_the_end():
    clf = SelectiveClassifier(Perceptron(), Margin(b=1.0), random_state=0)
    rows = [clf.choose(X[:9], n=4, explore=0.3).rows.tolist() for _ in range(4)]
    assert sorted(t for each in rows for t in each) == list(range(9))
    assert [len(each) for each in rows] == [4, 4, 1, 0]


def test_the_odds_are_those_of_the_draws():
    first = SelectiveClassifier(Probit(), Margin(b=1.0), random_state=0).choose(X).rows[0]
    drawn = 0
    for seed in range(200):
        clf = SelectiveClassifier(Probit(), Margin(b=1.0), random_state=seed)
        choice = clf.choose(X, explore=0.4)
        best = choice.rows[0] == first
        assert choice.odds[0] == pytest.approx(0.6 * best + 0.4 / 300)
        assert choice.reasons == ["first"] or choice.reasons == ["audit"]
        drawn += choice.reasons == ["audit"]
    assert 55 <= drawn <= 105  # 80 expected, four deviations of 7


def test_several_at_once_differ():
    rows = np.repeat(X[:20], 5, axis=0)
    clf = taught(SelectiveClassifier(random_state=0), rows, np.repeat(Y[:20], 5), 8)
    chosen = clf.choose(rows, n=4).rows
    assert len({tuple(row) for row in rows[chosen]}) == 4


def test_looking_changes_nothing():
    one, two = (taught(SelectiveClassifier(random_state=0), X, Y, 10) for _ in range(2))
    for _ in range(3):
        looked = one.choose(X, n=3, explore=0.5, ask=False)
    assert looked.tickets.tolist() == [-1, -1, -1]
    assert one.choose(X, n=3).to_dict() == two.choose(X, n=3).to_dict()
    assert one.n_asked_ == two.n_asked_


def test_a_choice_among_some_stays_among_them():
    clf = taught(SelectiveClassifier(random_state=0), X, Y, 10)
    among = np.flatnonzero(clf._run.pool.left)[5:9]
    assert clf.choose(X, n=9, among=among).rows.tolist() != []
    assert set(clf.choose(X, n=9, among=among).rows) <= set(among.tolist())


@pytest.mark.parametrize("rows", ["dense", "text"])
def test_a_saved_learner_goes_on_with_the_same_choices(tmp_path, rows):
    table, labels = (X, Y) if rows == "dense" else texts()
    clf = taught(SelectiveClassifier(random_state=0), table, labels, 9)
    clf.save(tmp_path / "a")
    again = load(tmp_path / "a")
    for _ in range(5):
        one, two = clf.choose(table, explore=0.3), again.choose(table, explore=0.3)
        assert one.to_dict() == two.to_dict()
        clf.tell(one.tickets, labels[one.rows])
        again.tell(two.tickets, labels[two.rows])
    again.save(tmp_path / "b")
    clf.save(tmp_path / "c")
    assert (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


@pytest.mark.parametrize("rows", ["dense", "text"])
def test_going_back_is_as_if_it_had_not_been(tmp_path, rows):
    table, labels = (X, Y) if rows == "dense" else texts()
    clf = taught(SelectiveClassifier(random_state=0), table, labels, 6)
    then = clf.snapshot()
    for name in ("a", "b"):
        taught(clf.restore(then), table, labels, 5).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert clf.n_asked_ == 11


def test_rows_may_join_at_the_end():
    clf = taught(SelectiveClassifier(random_state=0), X[:200], Y, 5)
    assert taught(clf, X, Y, 20).score(X, Y) > 0.9
    with pytest.raises(ValueError, match=r"X has 200 rows, and had 300 before"):
        clf.choose(X[:200])


def test_chances_of_rows_at_hand_are_those_of_any_rows():
    rows, labels = texts()
    clf = taught(SelectiveClassifier(random_state=0), rows, labels, 12)
    assert (clf.predict_proba(rows) == clf.predict_proba(rows.copy())).all()
    three = np.where(X[:, 2] > 0.8, "c", Y)
    many = taught(SelectiveClassifier(random_state=0), X, three, 30)
    assert (many.predict_proba(X) == many.predict_proba(X.copy())).all()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"n": 0}, "n must be a whole number from 1 on"),
        ({"n": 1.5}, "n must be a whole number"),
        ({"explore": 1.5}, r"explore must lie in \[0, 1\]"),
    ],
)
def test_what_cannot_be_chosen_is_refused(how, said):
    with pytest.raises(ValueError, match=said):
        SelectiveClassifier().choose(X, **how)


def test_learners_of_streams_refuse():
    with pytest.raises(ValueError, match="without explore"):
        SelectiveClassifier(explore=0.1).choose(X)
    with pytest.raises(ValueError, match="without a kernel"):
        SelectiveClassifier(kernel="rbf").choose(X)


@pytest.mark.parametrize("how", ["dense", "sparse", "third class", "correctable"])
def test_told_rows_are_the_same_as_chosen_and_told(how, tmp_path):
    rows, labels = (X, Y) if how in ("dense", "correctable") else texts()
    labels = labels.astype("<U5")
    if how == "third class":
        labels[::7] = "third"
    rules = (Ridge(), Margin(b=1.0)) if how == "correctable" else ()
    order = np.random.default_rng(1).permutation(len(labels))[:60]
    one, many = (SelectiveClassifier(*rules, random_state=0) for _ in range(2))
    for t in order.tolist():
        one.tell(one.choose(rows, among=[t]).tickets, labels[[t]])
    for part in np.split(order, [1, 2, 30]):
        many.tell_rows(rows, part, labels[part])
    one.save(tmp_path / "one")
    many.save(tmp_path / "many")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()
    assert one.choose(rows).to_dict() == many.choose(rows).to_dict()


@pytest.mark.parametrize(("told", "why"), [([3, 3], "twice"), ([300], "no row"), ([-1], "no row")])
def test_a_row_is_told_once_and_is_there(told, why):
    clf = SelectiveClassifier(random_state=0).tell_rows(X, [0, 1], ["yes", "no"])
    before = clf.n_asked_
    with pytest.raises(ValueError, match=why):
        clf.tell_rows(X, told, ["yes"] * len(told))
    with pytest.raises(ValueError, match="twice"):
        clf.tell_rows(X, 0, "no")
    assert clf.n_asked_ == before
