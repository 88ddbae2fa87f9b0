"""A label of weight w teaches as w labels of the same row do.

The slow twin is the bare learner, which is given each row as often as its label is taught. How
often that is, it works out in fractions.
"""

import pickle
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_class_weight_classifiers

from selectron import SelectiveClassifier, load, updates, warm
from selectron.classifier import DamagedFile
from selectron.classifier.rules import has_many_form
from selectron.compiler.states import nodes
from selectron.evaluate import progressive
from selectron.queries import Always, Budget, Margin
from selectron.updates import Perceptron, Probit, Rehearsal, Ridge
from selectron.updates.probit import ProbitRule
from selectron.updates.weighted import MOST_AT_ONCE, Weighted
from tests.hostile.mutants import Original
from tests.rules.catalogue import UPDATES
from tests.rules.streams import stream

pytestmark = pytest.mark.filterwarnings("ignore:Reflection is made for rows of length one")
X, SIGNS = stream(n=60)
TWO = np.where(SIGNS > 0, "yes", "no")
THREE = np.where(X[:, 0] > 0.3, "more", TWO)
COMPILED = "perceptron", "probit", "rehearsal"
STEADY = updates.HalfStep(rate=0.01)  # never rests, so that each repetition shows
PLAIN = [pytest.param(n, marks=() if n in COMPILED else pytest.mark.plain) for n in UPDATES]
PLAIN_OF_MANY = [p for p in PLAIN if has_many_form(UPDATES[p.values[0]])]


def learner(update, class_weight=None, query=None, **options):
    return SelectiveClassifier(
        update, query or Always(), class_weight=class_weight, random_state=0, **options
    )


def bits(clf):
    """The bytes of the update rule's state, without that which weighs labels."""
    machine = clf._run.machine
    machine.settle()  # room for the row at hand
    update = machine.states.now.update
    update = update.within if isinstance(machine.rules.update, Weighted) else update
    if isinstance(getattr(update, "rule", None), ProbitRule):  # the rival hears a label once
        update = update._replace(rule=update.rule._replace(rival=None))
    if hasattr(update, "scores"):  # those of the row that came last, whether it taught or not
        update.scores[:] = 0.0
    return [np.asarray(n).tobytes() for n in nodes(update) if not isinstance(n, tuple | type(None))]


def repeated(times, rows=X):
    return np.repeat(np.arange(rows.shape[0]), times)


def taught_so_often(update, times, labels, classes, rows=X):
    order = repeated(times, rows)
    return learner(update).partial_fit(rows[order], labels[order], classes=classes)


def times_of(weights, labels):
    """How often each label is taught: what is left below one goes to the next of its class."""
    times = np.zeros(len(labels), int)
    for label in set(labels.tolist()):
        places = np.flatnonzero(labels == label)
        sums = accumulate((weights[t] for t in places), initial=Fraction(0))
        times[places] = [int(after) - int(before) for before, after in pairwise(sums)]
    return times


def by_label(class_weight, labels):
    exact = {label: Fraction(str(weight)) for label, weight in class_weight.items()}
    return [exact.get(label, Fraction(1)) for label in labels.tolist()]


def balanced(labels):
    """Return n / (K n_k) of each label, over the labels up to it."""
    found = []
    for t, label in enumerate(labels.tolist()):
        seen = labels[: t + 1].tolist()
        found.append(Fraction(len(seen), len(set(seen)) * seen.count(label)))
    return found


# --- what a weight means


@pytest.mark.parametrize("name", PLAIN)
def test_whole_weights_are_so_many_labels_of_the_row(name):
    heavy = learner(UPDATES[name], {"yes": 3, "no": 2}).fit(X, TWO)
    twin = taught_so_often(UPDATES[name], np.where(TWO == "yes", 3, 2), TWO, ["no", "yes"])
    assert bits(heavy) == bits(twin)
    assert heavy.n_asked_ == len(X)
    assert heavy.n_updates_ <= len(X)


@pytest.mark.parametrize("name", PLAIN_OF_MANY)
def test_whole_weights_of_many_classes(name):
    heavy = learner(UPDATES[name], {"yes": 4, "more": 0}).fit(X, THREE)
    times = np.select([THREE == "yes", THREE == "more"], [4, 0], 1)
    twin = taught_so_often(UPDATES[name], times, THREE, ["more", "no", "yes"])
    assert bits(heavy) == bits(twin)
    assert heavy.decision_function(X).tobytes() == twin.decision_function(X).tobytes()
    assert [heavy.predict_one(x) for x in X] == twin.predict(X).tolist()


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "class_weight", [{"yes": 0.1, "no": 0.7}, {"yes": 2.5}, {"no": 0.3, "more": 1.9}, {}]
)
def test_what_is_left_below_one_goes_to_the_next_label_of_the_class(class_weight, labels):
    given = {k: w for k, w in class_weight.items() if k in labels}
    times = times_of(by_label(given, labels), labels)
    heavy = learner(STEADY, given).partial_fit(X, labels, classes=np.unique(labels))
    assert bits(heavy) == bits(taught_so_often(STEADY, times, labels, np.unique(labels)))


@pytest.mark.plain
@given(
    weights=st.lists(st.integers(0, 400).map(lambda n: n / 100), min_size=3, max_size=3),
    seed=st.integers(0, 100),
)
@settings(max_examples=40, deadline=None)
def test_any_weights(weights, seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.standard_normal((40, 3)), rng.choice(["a", "b", "c"], 40)
    class_weight = dict(zip("abc", weights, strict=True))
    heavy = learner(Ridge(), class_weight).partial_fit(rows, labels, classes=list("abc"))
    times = times_of(by_label(class_weight, labels), labels)
    assume(times.any())
    assert bits(heavy) == bits(taught_so_often(Ridge(), times, labels, list("abc"), rows))


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_balanced_counts_the_labels_so_far(labels):
    times = times_of(balanced(labels), labels)
    heavy = learner(STEADY, "balanced").fit(X, labels)
    assert bits(heavy) == bits(taught_so_often(STEADY, times, labels, np.unique(labels)))
    assert len(set(times.tolist())) > 1


def test_a_weight_beyond_the_most_counts_as_that():
    huge = learner(STEADY, {"yes": 1e300}).fit(X, TWO)
    times = np.where(TWO == "yes", int(MOST_AT_ONCE), 1)
    twin = taught_so_often(STEADY, times, TWO, ["no", "yes"])
    assert bits(huge) == bits(twin)


@pytest.mark.parametrize("seed", [3, 5])
def test_three_labels_of_a_row_are_no_change_of_the_concept(seed):
    """The rival of `Probit` takes flipped labels for one if it hears each of them three times."""
    rows, signs = stream(n=400, seed=seed, noise=0.15)
    heavy = learner(Probit(), {-1: 3, 1: 3}).fit(rows, signs)
    assert heavy._run.machine.states.now.update.within.rule.noise.n_labels == 1200
    bare = learner(Probit()).fit(rows.repeat(3, axis=0), signs.repeat(3))
    assert bare._run.machine.states.now.update.rule.noise.n_labels < 1200


def test_labels_that_are_not_named_weigh_one():
    assert bits(learner(Perceptron(), {}).fit(X, TWO)) == bits(learner(Perceptron()).fit(X, TWO))


def test_without_weights_there_is_no_such_rule():
    assert learner(Perceptron()).fit(X, TWO).rules_.update == Perceptron()


def test_a_label_costs_one_of_the_budget_and_is_observed_once():
    query = Budget(Margin(b=0.3), total=15, horizon=60)
    clf = learner(Perceptron(), {"yes": 10, "no": 10}, query).fit(X, TWO)
    assert clf.n_asked_ == 15
    assert clf._run.machine.states.now.query.n_asked == 15


def test_the_estimate_counts_rounds_not_weights():
    trace = progressive(learner(Perceptron(), {"yes": 9}, explore=1.0), X, TWO)
    assert 0 < trace.n_mistakes < len(X)
    assert trace.learner.estimate().error == pytest.approx(trace.error)


def test_sparse_rows_and_single_precision():
    for rows in (csr_array(X), X.astype(np.float32)):
        heavy = learner(Perceptron(), {"yes": 3}).fit(rows, TWO)
        order = repeated(np.where(TWO == "yes", 3, 1))
        twin = learner(Perceptron()).fit(rows[order], TWO[order])
        assert bits(heavy) == bits(twin)


@pytest.mark.plain
def test_scikit_learn_finds_its_meaning():
    for clf in (SelectiveClassifier(), learner(Ridge(), fit_intercept=True)):
        check_class_weight_classifiers("SelectiveClassifier", clf)


# --- doors


def by_batches(clf):
    for start in range(0, len(X), 7):
        clf.partial_fit(X[start : start + 7], THREE[start : start + 7])


def by_oracle(clf):
    clf.partial_fit(X, lambda positions: THREE[positions])


def by_tickets(clf):
    for t in range(len(X)):
        clf.tell(clf.ask(X[t : t + 1]).tickets, THREE[t : t + 1])


def one_by_one(clf):
    for x, label in zip(X, THREE, strict=True):
        clf.learn_one(x, label)


def one_by_one_asked(clf):
    for x, label in zip(X, THREE, strict=True):
        assert clf.ask_one(x).asked
        clf.learn_one(x, label)


def one_by_one_told(clf):
    for x, label in zip(X, THREE, strict=True):
        clf.tell(clf.ask_one(x).tickets, label)


WEIGHTS = {"yes": 2.5, "no": 0.4, "more": 3}


@pytest.mark.plain
@pytest.mark.parametrize(
    "door", [by_oracle, by_tickets, one_by_one, one_by_one_asked, one_by_one_told]
)
@pytest.mark.parametrize("weights", [WEIGHTS, "balanced"], ids=["named", "balanced"])
def test_whichever_way_rows_come_they_weigh_the_same(door, weights):
    """The third class joins on the way, so the learner of two is taught again."""
    first, other = learner(Ridge(), weights), learner(Ridge(), weights)
    by_batches(first)
    door(other)
    assert bits(first) == bits(other)


@pytest.mark.plain
def test_rows_at_hand():
    chosen, told = (learner(Perceptron(), WEIGHTS) for _ in range(2))
    for t in range(30):
        choice = chosen.choose(X, among=[t])
        chosen.tell(choice.tickets, TWO[choice.rows])
    told.tell_rows(X, np.arange(30), TWO[:30])
    assert bits(chosen) == bits(told)


# --- classes that join


def test_weights_go_with_labels_when_classes_join():
    clf = learner(Perceptron(), WEIGHTS)
    order = np.argsort(THREE == "more", kind="stable")
    clf.partial_fit(X[order], THREE[order])
    assert clf.classes_[2] == "more"
    weights = clf._run.machine.states.now.update.weighing.weights
    assert weights.tolist() == [WEIGHTS[label] for label in clf.classes_]
    clf.learn_one(X[0], "a fourth")
    weights = clf._run.machine.states.now.update.weighing.weights
    assert weights.tolist() == [WEIGHTS.get(label, 1.0) for label in clf.classes_]


def test_a_third_class_is_taught_what_two_were_with_their_weights():
    order = np.argsort(THREE == "more", kind="stable")
    rows, labels = X[order], THREE[order]
    class_weight = {"yes": 3, "more": 2}
    heavy = learner(STEADY, class_weight).partial_fit(rows, labels)
    times = [class_weight.get(label, 1) for label in labels]
    twin = learner(STEADY).partial_fit(np.repeat(rows, times, axis=0), labels.repeat(times))
    assert bits(heavy) == bits(twin)


@pytest.mark.plain
def test_the_default_keeps_weights_when_its_rules_change():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 3))
    labels = np.where(rows[:, 0] > 0, "yes", "no").astype(object)
    labels[200:][rows[200:, 1] > 0] = "more"
    clf = SelectiveClassifier(random_state=0, class_weight=WEIGHTS).partial_fit(rows, labels)
    assert isinstance(clf.rules_.update, Weighted)
    assert isinstance(clf.rules_.update.update, Rehearsal)
    weights = clf._run.machine.states.now.update.weighing.weights
    assert weights.tolist() == [WEIGHTS[label] for label in clf.classes_]
    assert clf.predict_proba(rows).shape == (300, 3)


@pytest.mark.plain
def test_wide_sparse_rows():
    """The store in kept rows leaves weights behind during a lesson."""
    rng = np.random.default_rng(0)
    rows = csr_array(np.where(rng.random((400, 600)) < 0.05, 1.0, 0.0))
    labels = np.where(rows.toarray()[:, :300].sum(axis=1) > 15, "yes", "no")
    clf = SelectiveClassifier(random_state=0, class_weight={"yes": 3}).fit(rows, labels)
    assert clf.rules_.update.label == "DualProbit"
    light = SelectiveClassifier(random_state=0).fit(rows, labels)
    assert (clf.predict(rows) == "yes").sum() > (light.predict(rows) == "yes").sum()


# --- what is refused


REFUSED = {
    "negative": ({"yes": -1}, ValueError, "'yes' must be finite and not negative, got -1"),
    "NaN": ({"yes": float("nan")}, ValueError, "'yes' must be finite and not negative, got nan"),
    "endless": ({"yes": float("inf")}, ValueError, "must be finite"),
    "a text": ({"yes": "3"}, TypeError, "'yes' must be a number, got '3'"),
    "True": ({"yes": True}, TypeError, "'yes' must be a number, got True"),
    "another word": ("balancd", ValueError, "class_weight='balancd' is unknown"),
    "a number": (3, TypeError, 'class_weight must be None, "balanced" or a dictionary'),
    "a list": ([1, 2], TypeError, "class_weight must be None"),
    "another label": ({"yse": 3}, ValueError, "class_weight names 'yse', and the classes are"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_weights_that_make_no_sense_are_refused(case):
    class_weight, error, said = REFUSED[case]
    clf = learner(Perceptron(), class_weight)
    with pytest.raises(error, match=said):
        clf.fit(X, TWO)
    with pytest.raises(error, match=said):
        clf.partial_fit(X, TWO, classes=["no", "yes"])


def test_a_label_that_classes_leave_out_is_refused():
    """One that is missing from y may be missing by chance, as in a fold of few rows."""
    clf = learner(Perceptron(), {"yes": 3, "no": 1, "more": 2})
    with pytest.raises(ValueError, match="class_weight names 'more'"):
        clf.fit(X, TWO, classes=["no", "yes"])
    assert clf.fit(X, TWO).n_asked_ == len(X)
    assert learner(Perceptron(), {"more": 2}).partial_fit(X, TWO).n_asked_ == len(X)


@pytest.mark.plain
def test_where_weights_cannot_be_had_the_reason_is_named():
    heavy = {"class_weight": {1: 3}}
    with pytest.raises(ValueError, match="class_weight and a kernel do not go together"):
        SelectiveClassifier(kernel="rbf", **heavy).fit(X, TWO)
    with pytest.raises(ValueError, match="class_weight is for one label a row"):
        SelectiveClassifier(**heavy).fit(X, np.ones((len(X), 2), int))
    with pytest.raises(ValueError, match="its weights as class_weight"):
        SelectiveClassifier(Weighted(Perceptron())).fit(X, TWO)
    clf = learner(Ridge(), {"yes": 2}).partial_fit(X[:10], TWO[:10])
    ticket = clf.ask_one(X[11]).tickets
    clf.tell(ticket, "yes")
    with pytest.raises(ValueError, match="make the learner without class_weight"):
        clf.tell(ticket, "no", correct=True)


def test_a_refused_batch_leaves_what_is_carried_over():
    clf = learner(Perceptron(), {"yes": 0.3, "no": 0.7}).fit(X, TWO)
    before = pickle.dumps(clf._run.machine.states.now.update)
    bad = X[:9].copy()
    bad[8] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        clf.partial_fit(bad, TWO[:9])
    assert pickle.dumps(clf._run.machine.states.now.update) == before


# --- scikit-learn, copies and files


def test_scikit_learn_copies_and_searches():
    clf = learner(Perceptron(), {"yes": 3})
    assert clone(clf).class_weight == {"yes": 3}
    assert "class_weight={'yes': 3}" in repr(clf)
    grid = GridSearchCV(clf, {"class_weight": [None, "balanced", {"yes": 5.0}]}, cv=2)
    assert grid.fit(X, TWO).best_estimator_.n_asked_ > 0
    assert clf.set_params(class_weight=None).fit(X, TWO).rules_.update == Perceptron()


@pytest.mark.parametrize("weights", [{"yes": 0.7, "more": 2.5}, "balanced"])
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_files_go_on_exactly_where_they_stopped(weights, labels, tmp_path):
    whole = learner(STEADY, weights).partial_fit(X, labels)
    part = learner(STEADY, weights).partial_fit(X[:31], labels[:31])
    part.save(tmp_path / "m")
    back = load(tmp_path / "m")
    assert back.class_weight == weights
    assert back.rules_ == part.rules_
    for clf in (back, pickle.loads(pickle.dumps(part))):
        clf.partial_fit(X[31:], labels[31:])
        for ours, theirs in zip(nodes_of(clf), nodes_of(whole), strict=True):
            assert ours.tobytes() == theirs.tobytes()


def nodes_of(clf):
    machine = clf._run.machine
    machine.settle()
    return [machine.states.numbers, *machine.states.arrays]


@pytest.mark.parametrize("names", [[0, 1], [False, True], [-1.0, 1.0]], ids=repr)
def test_labels_keep_their_types_in_files(names, tmp_path):
    labels = np.array(names)[(SIGNS > 0).astype(int)]
    clf = learner(Perceptron(), dict(zip(np.array(names), [1, np.float32(2.5)], strict=True)))
    clf.fit(X, labels).save(tmp_path / "m")
    back = load(tmp_path / "m")
    assert back.class_weight == dict(zip(names, [1, 2.5], strict=True))
    assert bits(back.partial_fit(X, labels)) == bits(clf.partial_fit(X, labels))


def damaged(path, change):
    clf = learner(Perceptron(), {"yes": 0.7, "no": 2})
    clf.fit(X, TWO).save(path)
    original = Original(path)
    change(original)
    original.write(path, original.metadata, original.tensors, original.description)


def negative_weight(original):
    original.description["params"]["class_weight"][0][1] = -1.0


def weight_of_the_rule(original):
    original.description["rules"][1]["weights"][0][1] = "much"


def within_itself(original):
    rule = original.description["rules"][1]
    original.description["rules"][1] = rule | {"update": rule}


def of_a_committee(original):
    original.description["rules"][1]["update"] = {"rule": "Committee", "learners": []}


def negative_array(original):
    weights = next(k for k, a in original.tensors.items() if a.tolist() == [2.0, 0.7])
    original.tensors[weights] = np.array([2.0, -0.7])


@pytest.mark.parametrize(
    "change",
    [negative_weight, weight_of_the_rule, within_itself, of_a_committee, negative_array],
)
def test_damaged_weights_are_refused(change, tmp_path):
    damaged(tmp_path / "m", change)
    with pytest.raises(DamagedFile, match="is damaged"):
        load(tmp_path / "m")


@pytest.mark.plain
def test_a_learner_with_weights_can_be_compiled_ahead():
    warm(d=3, learner=learner(Perceptron(), {"spam": 5}))
