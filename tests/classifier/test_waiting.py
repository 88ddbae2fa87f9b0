"""Questions that wait, are given up, closed without an answer, or corrected."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier, load
from selectron.queries import Always, Balanced, Budget, Margin
from selectron.updates import Perceptron, Ridge

pytestmark = pytest.mark.plain

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
Y = np.where(X @ [1.0, -2.0, 0.5, 0.0] > 0.0, "yes", "no")


def ridge(**options):
    return SelectiveClassifier(Ridge(), Always(), random_state=0, **options)


def test_waiting_lists_what_a_user_needs_to_answer():
    clf = ridge().partial_fit(X[:20], Y[:20])
    asked = clf.ask(X[20:23])
    clf.ask(X[23:25])
    clf.tell(asked.tickets[1], Y[21])
    first, third = clf.waiting[:2]
    assert (first.ticket, first.round, first.age, first.odds) == (0, 20, 5, 1.0)
    assert first.guess == clf.predict(X[20:21])[0] == asked.labels[0]
    assert third.ticket == 2
    np.testing.assert_array_equal(third.row, X[22])
    assert ridge().partial_fit(X, Y).waiting == []


def test_a_sparse_row_waits_as_it_came():
    clf = ridge()
    clf.ask(csr_array(X[:2]))
    row = clf.waiting[1].row
    np.testing.assert_array_equal(row.toarray(), X[1:2])
    assert clf.waiting[0].guess is None
    clf.tell(clf.waiting[0].ticket, "yes")
    clf.learn_one(row, "no")


def test_with_many_classes_the_guess_is_a_class():
    names = np.array(["a", "b", "c"])[np.arange(60) % 3]
    clf = SelectiveClassifier(Perceptron(), Always()).fit(X, names)
    asked = clf.ask(X[:3])
    assert [each.guess for each in clf.waiting] == asked.labels.tolist()


def test_several_labels_wait_together():
    clf = ridge().fit(X, np.stack([Y == "yes", Y == "no"], axis=1).astype(int))
    asked = clf.ask(X[:2])
    assert [list(each.guess) for each in clf.waiting] == asked.labels.tolist()
    assert clf.tell(asked.tickets, [None, [1, 0]]) == 2
    assert clf.waiting == []


def test_forget_older_than():
    clf = ridge()
    clf.ask(X[:10])
    assert clf.forget(older_than=6) == 4  # ages are 10 to 1
    assert [each.ticket for each in clf.waiting] == [4, 5, 6, 7, 8, 9]
    assert clf.forget([4, 9], older_than=5) == 2
    assert clf.forget([]) == 0


@pytest.mark.parametrize("refund", [False, True])
def test_nobody_knows_is_an_answer(refund):
    budget = Budget(Always(), total=10)
    clf = SelectiveClassifier(Ridge(), budget, random_state=0)
    asked = clf.ask(X[:10])
    assert asked.asked.all()
    before = clf.partial_fit(X[:1], Y[:1]).n_updates_
    assert clf.tell(asked.tickets[:3], [None, "yes", None], refund=refund) == 3
    assert clf.n_updates_ == before + 1
    assert clf.ask(X[10:20]).asked.sum() == (2 if refund else 0)
    assert clf.tell(asked.tickets[0], "yes") == 0  # closed


def test_an_unknown_ticket_among_answers_that_nobody_knows_changes_nothing():
    clf = ridge()
    asked = clf.ask(X[:2])
    with pytest.raises(ValueError, match="unknown ticket 7"):
        clf.tell([asked.tickets[0], 7], ["yes", None])
    assert len(clf.waiting) == 2


def test_a_corrected_answer_is_as_if_it_had_been_told_so_at_once():
    right, mended = ridge(), ridge()
    for clf in (right, mended):
        asked = clf.ask(X[:30])
        wrong = Y[:30].copy()
        wrong[[3, 17]] = np.where(Y[[3, 17]] == "yes", "no", "yes")
        clf.tell(asked.tickets, Y[:30] if clf is right else wrong)
    assert mended.tell(asked.tickets[[3, 17]], Y[[3, 17]], correct=True) == 2
    assert mended.tell(asked.tickets[[3, 17]], Y[[3, 17]], correct=True) == 0
    np.testing.assert_allclose(mended.coef_, right.coef_, rtol=0, atol=1e-12)
    for clf in (right, mended):  # a third class is taught what is remembered
        clf.learn_one(X[40], "maybe")
    np.testing.assert_allclose(mended.coef_, right.coef_, rtol=0, atol=1e-12)


def test_with_many_classes_an_answer_is_corrected_too():
    names = np.array(["a", "b", "c"])[np.arange(30) % 3]
    right, mended = (ridge(fit_intercept=True).fit(X[30:], names) for _ in range(2))
    asked = right.ask(X[:5])
    mended.ask(X[:5])
    right.tell(asked.tickets, list("abcab"))
    mended.tell(asked.tickets, list("abbab"))
    mended.tell(asked.tickets[2], "c", correct=True)
    np.testing.assert_allclose(mended.coef_, right.coef_, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"update": Perceptron(), "query": Always()}, "Perceptron has gone another way"),
        ({"update": Ridge(), "query": Balanced()}, "Balanced has learnt from it"),
        ({"update": Ridge(), "query": Always(), "kernel": "rbf"}, "without a kernel"),
        ({"update": Ridge(), "query": Margin(), "scaling": "centred"}, "Centred would present"),
        ({"update": Ridge(), "query": Always(), "explore": 0.5}, "has counted it"),
        ({}, "has gone another way"),
    ],
)
def test_rules_that_cannot_unlearn_say_why(options, reason):
    clf = SelectiveClassifier(**options).fit(X, Y)
    asked = clf.ask(X[:30])
    tickets = asked.tickets[asked.asked]
    clf.tell(tickets, Y[:30][asked.asked])
    with pytest.raises(ValueError, match=f"cannot be corrected: .*{reason}"):
        clf.tell(tickets[0] if len(tickets) else 0, "no", correct=True)


def test_a_correction_needs_a_known_answer_and_a_known_class(tmp_path):
    clf = ridge()
    asked = clf.ask(X[:3])
    clf.tell(asked.tickets[:2], ["yes", "no"])
    with pytest.raises(ValueError, match="ticket 2 still waits"):
        clf.tell(2, "no", correct=True)
    with pytest.raises(ValueError, match="unknown label 'maybe'"):
        clf.tell(1, "maybe", correct=True)
    with pytest.raises(ValueError, match=r"to ticket 1 cannot be corrected to None.*learn anew"):
        clf.tell([0, 1], ["no", None], correct=True)
    assert clf.tell(0, "yes", correct=True) == 0  # none of that call was learnt
    clf.save(tmp_path / "learner")
    with pytest.raises(ValueError, match="ticket 0 is not kept any more"):
        load(tmp_path / "learner").tell(0, "no", correct=True)


def test_all_that_is_told_goes_to_json():
    clf = SelectiveClassifier(explore=0.2, stop_when="recall>=0.99", random_state=0)
    clf.partial_fit(np.tile(X, (5, 1)), np.tile(Y, 5))
    asked, one = clf.ask(X[:5]), clf.ask_one(X[0])
    told = json.loads(json.dumps(clf.readout(as_dict=True)))
    assert told["waiting"] == len(clf.waiting)
    assert told["of late"]["labels"] == clf.estimate(window="half").labels
    assert "recall" in told["goal"]
    assert json.loads(json.dumps(asked.to_dict()))["labels"] == asked.labels.tolist()
    assert json.loads(json.dumps(one.to_dict()))["margins"] == one.margins
    assert json.loads(json.dumps(clf.outlook().to_dict()))["now"]["rounds"] > 0
    assert f"{len(clf.waiting)} wait for an answer" in clf.readout()
