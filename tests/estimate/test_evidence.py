"""Evidence: unbiased in exact expectation, with the ends of its twins, in any order and batch."""

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron.estimate import Bernstein, Estimate, Evidence, Thinning
from tests.estimate import twins
from tests.estimate.twins import Round

EXPLORE = 0.1
SIGN = st.sampled_from([-1, 1])
ROUND = st.builds(Round, st.floats(EXPLORE, 1.0), st.booleans(), SIGN, SIGN)
ROUNDS = st.lists(ROUND, min_size=1, max_size=40)


def gathered(rounds, explore=EXPLORE):
    evidence = Evidence(explore)
    evidence.reach(len(rounds))
    for t, r in enumerate(rounds):
        if r.asked:
            evidence.add(t, r.odds, r.predicted, r.label)
    return evidence


def stream(n=600, seed=0, explore=EXPLORE, rate=0.15):
    rng = np.random.default_rng(seed)
    odds = np.maximum(explore, rng.random(n) ** 3)
    predicted = np.where(rng.random(n) < 0.4, 1, -1)
    labels = np.where(rng.random(n) < rate, -predicted, predicted)
    return odds, rng.random(n) < odds, predicted, labels


def evidence_of(odds, asked, predicted, labels, explore=EXPLORE):
    evidence = Evidence(explore)
    evidence.reach(len(odds))
    told = np.flatnonzero(asked)
    evidence.add(told, odds[told], predicted[told], labels[told])
    return evidence


def same(one, other):
    a, b = one.state(), other.state()
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)


@pytest.mark.parametrize("guess", [0.0, 0.05, 0.7])
def test_the_error_is_unbiased(guess):
    """Over all outcomes of eight coins whose odds, and the predictions, look at the past."""

    def odds(past):
        return 0.2 if sum(past) % 2 else 0.6

    mean = truth = 0.0
    for weight, coins in twins.outcomes(8, odds):
        rounds = []
        for t in range(8):
            predicted = 1 if sum(coins[:t]) % 3 else -1
            label = 1 if t % 2 else -1
            rounds.append(Round(odds(coins[:t]), coins[t], predicted, label))
        mean += weight * gathered(rounds).estimate(guess=guess).error
        truth += weight * sum(r.wrong for r in rounds) / 8
    assert mean == pytest.approx(truth, abs=1e-12)
    assert 0.1 < truth < 0.9


def test_a_good_guess_takes_variance_away():
    spread = {}
    for guess in (0.0, 0.4):
        errors = []
        for seed in range(300):
            rng = np.random.default_rng(seed)
            predicted = np.ones(200, int)
            labels = np.where(rng.random(200) < 0.4, -1, 1)
            run = np.full(200, 0.2), rng.random(200) < 0.2, predicted, labels
            errors.append(evidence_of(*run).estimate(guess=guess).error - np.mean(labels < 0))
        spread[guess] = np.var(errors)
    assert 0.5 < spread[0.4] / spread[0.0] < 0.72  # 1 - error is 0.6


@given(ROUNDS, st.sampled_from([0.8, 0.95]))
def test_the_ends_are_those_of_the_products(rounds, level):
    shown = gathered(rounds).estimate(level)
    events = [r.odds for r in rounds if r.asked and r.wrong]
    right = sum(r.asked and not r.wrong for r in rounds)
    bound, n = 2.0 / (1.0 - level), len(rounds)
    most = twins.bisect(lambda s: twins.thinning_up(events, s, EXPLORE), bound, 0.0, 2000.0)
    least = twins.bisect(lambda s: twins.thinning_low(events, s), bound, -500.0, 500.0)
    for end, total in ((shown.low, least), (shown.high, most)):
        possible = min(max(total, len(events)), n - right)
        assert end == pytest.approx(possible / n, rel=1e-8, abs=1e-12)
    weights = sum(Fraction(1) / Fraction(odds) for odds in events)
    assert shown.error == pytest.approx(float(weights / n), rel=1e-12)
    assert (shown.rounds, shown.labels) == (n, sum(r.asked for r in rounds))


@given(ROUNDS)
def test_the_ends_hold_what_is_certain(rounds):
    """Mistakes seen are mistakes, and right answers are none; with all labels nothing is open."""
    for construction in (Thinning(), Bernstein()):
        shown = gathered(rounds).estimate(construction=construction)
        n = len(rounds)
        assert shown.low >= sum(r.asked and r.wrong for r in rounds) / n
        assert shown.high <= (n - sum(r.asked and not r.wrong for r in rounds)) / n
        known = [r._replace(asked=True) for r in rounds]
        exact = gathered(known).estimate(construction=construction)
        truth = sum(r.wrong for r in rounds) / n
        assert (exact.low, exact.high) == (pytest.approx(truth), pytest.approx(truth))


@given(ROUNDS, st.randoms(use_true_random=False))
def test_batches_do_not_matter_and_order_hardly(rounds, random):
    one = gathered(rounds)
    told = [(t, r.odds, r.predicted, r.label) for t, r in enumerate(rounds) if r.asked]
    batched = Evidence(EXPLORE)
    batched.reach(len(rounds))
    cut = random.randint(0, len(told))
    for piece in (told[:cut], told[cut:]):
        batched.add(*([row[k] for row in piece] for k in range(4)))
    assert same(one, batched)
    random.shuffle(told)
    shuffled = Evidence(EXPLORE)
    shuffled.reach(len(rounds))
    shuffled.add(*([row[k] for row in told] for k in range(4)))
    assert shuffled.estimate().high == pytest.approx(one.estimate().high, rel=1e-12)


def test_two_streams_add_up():
    odds, asked, predicted, labels = stream()
    whole = evidence_of(odds, asked, predicted, labels)
    parts = [slice(0, 250), slice(250, None)]
    first, second = (evidence_of(odds[p], asked[p], predicted[p], labels[p]) for p in parts)
    both = first.merged(second).estimate()
    assert (both.rounds, both.labels) == (600, int(asked.sum()))
    assert both.high == pytest.approx(whole.estimate().high, rel=1e-12)
    assert both.low == pytest.approx(whole.estimate().low, rel=1e-12)
    assert first.estimate().rounds == 250  # neither has changed
    with pytest.raises(ValueError, match=r"floors 0\.1 and 0\.2"):
        first.merged(Evidence(0.2))


def test_it_goes_on_where_it_was_saved():
    odds, asked, predicted, labels = stream()
    told = np.flatnonzero(asked)
    halves = told[told < 300], told[told >= 300]
    evidence = Evidence(EXPLORE)
    evidence.reach(300, outside=0)
    evidence.add(halves[0], odds[halves[0]], predicted[halves[0]], labels[halves[0]])
    resumed = Evidence.from_state(evidence.state())
    assert same(resumed, evidence)
    assert all(isinstance(value, np.ndarray) for value in evidence.state().values())
    for e in (evidence, resumed):
        e.reach(600)
        e.add(halves[1], odds[halves[1]], predicted[halves[1]], labels[halves[1]])
    assert same(resumed, evidence)
    assert same(evidence, evidence_of(odds, asked, predicted, labels))
    assert sum(value.nbytes for value in evidence.state().values()) < 2000


def test_a_state_is_a_copy():
    evidence = gathered([Round(0.5, True, 1, -1)])
    state = evidence.state()
    evidence.reach(2)
    evidence.add(1, 0.5, 1, -1)
    assert state["counts"].sum() == 1
    assert Evidence.from_state(state).estimate().labels == 1


# --- pending, lost, outside, no floor


def test_a_pending_answer_is_a_mistake_above_and_none_below():
    odds, asked, predicted, labels = stream()
    told = np.flatnonzero(asked)
    late = told[::7]
    known = asked.copy()
    known[late] = False
    waiting = evidence_of(odds, known, predicted, labels).estimate(pending=(late, odds[late]))
    worst, best = labels.copy(), labels.copy()
    worst[late], best[late] = -predicted[late], predicted[late]
    assert waiting.pending == len(late)
    assert waiting.high == pytest.approx(
        evidence_of(odds, asked, predicted, worst).estimate().high, rel=1e-12
    )
    low = evidence_of(odds, asked, predicted, best).estimate().low
    assert waiting.low == pytest.approx(low, rel=1e-12)
    answered = evidence_of(odds, asked, predicted, labels).estimate()
    assert waiting.low <= answered.low <= answered.high <= waiting.high


def test_a_number_of_pending_answers_is_taken_at_the_least_odds():
    evidence = gathered([Round(0.5, True, 1, -1)] * 40)
    evidence.reach(400)
    worst = evidence.estimate(pending=([100, 101], [EXPLORE, EXPLORE]))
    assert evidence.estimate(pending=2).high == worst.high
    assert worst.high > evidence.estimate(pending=([100, 101], [0.9, 0.9])).high


def test_what_was_given_up_is_worth_what_is_pending():
    evidence = gathered([Round(0.5, True, 1, -1)] * 4)
    evidence.reach(400)
    pending = evidence.estimate(pending=([100, 200], [0.3, 0.2]))
    evidence.forget([100, 200], [0.3, 0.2])
    lost = evidence.estimate()
    assert lost == replace(pending, pending=0, lost=2)
    assert lost.labels == 4


def test_answers_missing_at_random_leave_their_share_of_the_rounds():
    evidence = gathered([Round(0.5, True, 1, 1)] * 6 + [Round(0.5, True, 1, -1)] * 2)
    evidence.forget([0, 1], [0.5, 0.5])  # a fifth of ten questions at the same odds
    evidence.reach(1000)
    random = evidence.estimate(missing="at random")
    assert (random.rounds, random.labels, random.lost) == (800, 8, 2)
    assert random.error == 2 / 0.5 / 800
    with pytest.raises(ValueError, match="missing is 'worst' or 'at random', got 'never'"):
        evidence.estimate(missing="never")


def test_at_random_the_estimate_is_unbiased_for_the_error_of_all_rounds():
    rng, wrong = np.random.default_rng(0), 0.2
    errors = []
    for _ in range(400):
        evidence = Evidence(explore=0.3)
        evidence.reach(500)
        asked = np.flatnonzero(rng.random(500) < 0.3)
        lost = rng.random(len(asked)) < 0.25
        labels = np.where(rng.random(500) < wrong, -1, 1)
        known = asked[~lost]
        evidence.add(known, np.full(len(known), 0.3), np.ones(len(known)), labels[known])
        evidence.forget(asked[lost], np.full(lost.sum(), 0.3))
        random = evidence.estimate(missing="at random")
        errors.append(random.error)
        assert random.high < evidence.estimate().high
    assert abs(np.mean(errors) - wrong) < 4 * np.std(errors) / 20


def test_rounds_below_the_floor_are_outside():
    inside = gathered(
        [Round(0.5, True, 1, -1), Round(0.2, True, 1, 1), *[Round(0.2, False, 1, 1)] * 8]
    )
    mixed = Evidence(EXPLORE)
    mixed.reach(30, outside=20)
    mixed.add([0, 5, 6], [0.5, 0.2, 0.01], [1, 1, 1], [-1, 1, -1])
    shown = mixed.estimate()
    assert shown.outside == 20
    expected = inside.estimate()
    assert (shown.error, shown.low, shown.high) == (expected.error, expected.low, expected.high)
    assert (shown.rounds, shown.labels) == (10, 2)
    assert "20 rounds below the floor are outside" in str(shown)


def test_asked_rounds_below_the_floor_are_noticed():
    evidence = gathered([Round(0.05, True, 1, -1), Round(0.5, True, 1, 1)])
    assert evidence.estimate().outside == 1
    assert evidence.estimate().rounds == 1


def test_without_a_floor_there_is_no_upper_end():
    evidence = gathered(
        [Round(1.0, True, 1, -1)] * 5 + [Round(1.0, False, 1, -1)] * 45, explore=0.0
    )
    shown = evidence.estimate()
    assert (shown.error, shown.high) == (None, None)
    assert shown.low == pytest.approx(0.1)
    assert str(shown) == (
        "error at least 10.0 % (95 % at all times), no upper end: the odds of asking have no "
        "floor; set explore; 5 labels of 50 rounds"
    )
    assert [str(s) for s in (shown.precision, shown.recall, shown.f1)] == ["unknown"] * 3


def test_before_the_first_round_nothing_is_known():
    shown = Evidence(EXPLORE).estimate()
    assert (shown.error, shown.low, shown.high) == (None, 0.0, 1.0)
    assert (shown.rounds, shown.labels) == (0, 0)


def test_an_estimate_prints_and_travels():
    shown = Estimate(0.023, 0.008, 0.062, 10_000, 299, 0.95)
    assert str(shown) == (
        "error 2.3 % (0.8 to 6.2 %, 95 % at all times), 299 labels of 10,000 rounds"
    )
    assert str(Estimate(0.0004, 0.0, 0.01, 100, 9, 0.9, pending=3)) == (
        "error 0.040 % (0.0 to 1.0 %, 90 % at all times), 9 labels of 100 rounds; 3 answers pending"
    )
    judged = gathered([Round(0.5, True, 1, 1)] * 40).estimate()
    assert pickle.loads(pickle.dumps(judged)).f1 == judged.f1
    with pytest.raises(AttributeError):
        shown.error = 0.0


# --- bad input


def test_bad_rounds_are_refused():
    evidence = gathered([Round(0.5, True, 1, -1)] * 3)
    before = evidence.state()
    for told, message in [
        ((3, 0.5, 1, 1), "round 3 of 3 has not been played: call reach first"),
        ((-1, 0.5, 1, 1), "round -1 of 3"),
        ((0.5, 0.5, 1, 1), "whole numbers"),
        ((0, 0.0, 1, 1), r"odds 0\.0: odds lie in \(0, 1\]"),
        ((0, 1.5, 1, 1), r"odds 1\.5"),
        ((0, np.nan, 1, 1), "odds nan"),
        ((0, 0.5, 0, 1), "predicted are -1 or [+]1, got 0"),
        ((0, 0.5, 1, 2), "labels are -1 or [+]1, got 2"),
        (([0, 1], [0.5], 1, 1), "one each"),
        (([0, 1], [0.5, 0.5], [1], [1, 1]), "one of each"),
        (([0, 1], [0.5, 0.5], [1, 1], [1, 0]), "got 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            evidence.add(*told)
    for kwargs, message in [
        ({"rounds": 2}, "rounds only add up"),
        ({"rounds": 4, "outside": 5}, "5 rounds outside of 4"),
    ]:
        with pytest.raises(ValueError, match=message):
            evidence.reach(**kwargs)
    assert all(np.array_equal(before[k], evidence.state()[k]) for k in before)


@pytest.mark.parametrize("explore", [-0.1, 1.1, np.nan, np.inf])
def test_a_bad_floor_is_refused(explore):
    with pytest.raises(ValueError, match=r"explore must lie in \[0, 1\]"):
        Evidence(explore)


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5, np.nan])
def test_a_bad_level_is_refused(level):
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
        Evidence(EXPLORE).estimate(level)


@pytest.mark.parametrize(
    ("pending", "message"),
    [(-1, "-1 pending"), (4, "4 pending questions of 3"), ([1], "a number or")],
)
def test_bad_pending_is_refused(pending, message):
    with pytest.raises(ValueError, match=message):
        gathered([Round(0.5, True, 1, -1)] * 3).estimate(pending=pending)
