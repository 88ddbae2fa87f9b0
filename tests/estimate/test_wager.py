"""Wagers: against the product written out, exact means over all coins, and coverage."""

from itertools import product
from math import log, sqrt

import numpy as np
import pytest

from selectron.estimate import Certifying, Wager
from selectron.estimate.wager import LEVEL, SHARES_OF_FLOOR, WEIGHTS, share_of_start
from selectron.reproduce.default.certified_stopping import CASES, EPSILON, Past, simulate
from tests.oracles.certifying import Certified

RUNS = 200
ALLOWED = 0.05 + 3.0 * sqrt(0.05 * 0.95 / RUNS)


def test_all_shares_together_are_one():
    shares = [share_of_start(j) for j in range(1, 10_000)]
    assert shares[0] == 0.8
    assert sum(shares) == pytest.approx(1.0, abs=1e-4)
    assert sum(shares) <= 1.0


def bet(wager, start, total):
    """Return the mixture of a start at a total of mistakes."""
    gains = wager._gains
    terms = zip(WEIGHTS, gains, start.sums, strict=True)
    return sum(w * np.exp(gain * total + s) for w, gain, s in terms)


@pytest.mark.parametrize("risk", [False, True])
def test_the_bet_is_fair(risk):
    """The mean over all coins is 1 for the mistakes that were made; with the risk at most 1."""
    odds, mistakes = [0.2, 0.45, 1.0, 0.3], [True, False, True, True]
    mean = 0.0
    for coins in product([True, False], repeat=4):
        chance = np.prod([p if asked else 1 - p for p, asked in zip(odds, coins, strict=True)])
        wager = Wager(0.05, 0.2, risk=risk)
        wager.open(0)
        for t in range(4):
            wager.play()
            if coins[t]:
                wager.ask(odds[t])
                wager.answer(t, odds[t], wrong=mistakes[t])
        mean += chance * bet(wager, wager.starts[0], 3.0)
    assert mean < 1.0 if risk else mean == pytest.approx(1.0, abs=1e-12)


def test_the_risk_is_fair_on_the_average():
    """With mistakes that come with probability r, e^(rate · r) makes up for the mean factor."""
    r, p = 0.3, 0.4
    for share in SHARES_OF_FLOOR:
        rate = 0.2 * share
        assert np.exp(rate * r) * (1.0 - r * p * rate / p) <= 1.0


def played(seed, n=600, *, late=False, risk=False):
    """Play the same rounds with a wager and with its twin, and compare them in each."""
    rng = np.random.default_rng(seed)
    ours, twin = Certifying(0.1, 0.2, risk=risk), Certified(0.1, 0.2, risk=risk)
    waiting = []
    for t in range(n):
        level, rule = rng.random(), float(rng.random() < 0.15)
        k = int(np.sum(ours.edges < level))
        odds = max(rule, ours.floors[k])
        assert odds == pytest.approx(twin.odds(rule, level))
        asked = bool(rng.random() < odds)
        ours.play(level, odds, asked=asked, inside=odds >= 0.2)
        twin.play(level, odds, asked)
        if asked:
            waiting.append((t, level, odds, bool(rng.random() < 0.03 * (1 - level))))
        while waiting and (not late or rng.random() < 0.3):
            number, seen, at, wrong = waiting.pop(int(rng.integers(len(waiting))))
            ours.profile.learn(seen, wrong=wrong)
            if at >= 0.2:
                ours.wager.answer(number, at, wrong=wrong)
            twin.answer(number, wrong)
        met = ours.wager.met()
        assert met == twin.certified()
        if met:
            return t
        ours.look(t + 1)
        twin.look()
        assert [start.opened for start in ours.wager.starts] == twin.starts
    return None


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("risk", [False, True])
def test_it_decides_as_its_twin(late, risk):
    stops = [played(seed, late=late, risk=risk) for seed in range(4)]
    assert any(stop is not None for stop in stops)


def test_the_upper_end_is_where_the_bets_are_lost():
    wager = Wager(0.05, 0.2)
    wager.open(0)
    for t in range(300):
        wager.play()
        if t % 4 == 0:
            wager.ask(0.25)
            wager.answer(t, 0.25, wrong=t in (40, 80))
    for level in (0.5, 0.9, 0.95):
        high = wager.estimate(level, rounds=300).high
        wealth = bet(wager, wager.starts[0], 300 * high)
        assert log(wealth) == pytest.approx(log(1 / (0.8 * (1 - level))), abs=1e-9)


def test_it_is_met_as_soon_as_it_says_it_can_be():
    """No round before can meet the goal, and without mistakes that round does."""
    wager = Wager(0.05, 0.2)
    wager.open(0)
    to_go = wager.rounds_to_go()
    for _ in range(to_go - 1):
        wager.play()
        assert not wager.met()
    while not wager.met():
        assert wager.rounds_to_go() >= 1
        for _ in range(wager.rounds_to_go()):
            assert not wager.met()
            wager.play()
    assert wager.starts[0].rounds < 1.2 * to_go


def filled(*, answers):
    """Return a wager after 400 rounds and 80 questions, some answered right."""
    wager = Wager(0.05, 0.2)
    wager.open(0)
    for t in range(400):
        wager.play()
        if t % 5 == 0:
            wager.ask(0.2)
            if t // 5 < answers:
                wager.answer(t, 0.2, wrong=False)
    return wager


def test_an_answer_that_waits_counts_as_a_mistake():
    waiting, answered, given_up = filled(answers=77), filled(answers=80), filled(answers=77)
    assert answered.met()
    assert not waiting.met()
    for t in (385, 390, 395):
        given_up.give_up(t)
    assert not given_up.met()
    assert given_up.estimate(rounds=400).high == waiting.estimate(rounds=400).high
    assert (given_up.estimate(rounds=400).lost, waiting.estimate(rounds=400).pending) == (3, 3)
    for t in (385, 390, 395):
        waiting.answer(t, 0.2, wrong=False)
    assert waiting.met()


def test_an_answer_from_before_a_start_does_not_count_there():
    wager = Wager(0.05, 0.2)
    wager.open(0)
    wager.play()
    wager.ask(0.5)
    wager.open(1)
    wager.answer(0, 0.5, wrong=True)
    first, second = wager.starts
    assert (first.labels, first.wrong, second.labels) == (1, 1, 0)
    assert second.sums == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", CASES)
def test_the_claims_hold(name):
    """The upper end is below the truth in at most 5 % of the runs, looked at in every round."""
    found = simulate(CASES[name], RUNS, 1500, seed=7)
    assert found["error"] <= ALLOWED
    assert found["risk"] <= ALLOWED


def test_breaking_the_claim_is_seen():
    """A level ten times too generous breaks more runs than are allowed."""
    assert simulate(CASES["flat noise"], RUNS, 1500, seed=7, share=0.5)["error"] > ALLOWED


@pytest.mark.parametrize("name", ["flat noise", "held at the goal", "feedback on coins"])
def test_all_starts_together_hold(name):
    """No start is ever sure of less than the truth, all starts of a run together."""
    wrong = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        certifying = Certifying(EPSILON, 0.2)
        mistakes, counted, unseen, broken = 0, {}, False, False
        for t in range(600):
            rank = rng.random()
            past = Past(t, np.array([mistakes]), np.array([unseen]), np.array([rank]))
            missed = bool(rng.random() < CASES[name](past)[0][0])
            k = int(np.sum(certifying.edges < rank))
            odds = max(float(rank < 0.1), certifying.floors[k])
            asked = bool(rng.random() < odds)
            certifying.play(rank, odds, asked=asked, inside=odds >= 0.2)
            if asked:
                certifying.profile.learn(rank, wrong=missed)
                if odds >= 0.2:
                    certifying.wager.answer(t, odds, wrong=missed)
            mistakes += missed
            unseen = not asked if missed else unseen
            for j, start in enumerate(certifying.wager.starts):
                counted[j] = counted.get(j, 0) + (missed and odds >= 0.2)
                if missed:
                    share = (1 - LEVEL) * share_of_start(j + 1)
                    broken |= bet(certifying.wager, start, counted[j]) >= 1 / share
            certifying.look(t + 1)
        wrong += broken
    assert wrong <= ALLOWED * RUNS


def test_a_state_goes_on():
    one = Certifying(0.1, 0.2)
    for t in range(900):
        if t == 500:
            other = Certifying(0.1, 0.2).restore(one.state())
        for each in (one, other) if t >= 500 else (one,):
            draw = np.random.default_rng(t)
            level = draw.random()
            odds = max(float(level < 0.1), each.floors[int(np.sum(each.edges < level))])
            asked = bool(draw.random() < odds)
            each.play(level, odds, asked=asked, inside=odds >= 0.2)
            if asked:
                each.profile.learn(level, wrong=level < 0.02)
                if odds >= 0.2:
                    each.wager.answer(t, odds, wrong=level < 0.02)
            each.look(t + 1)
    for name, value in one.state().items():
        np.testing.assert_array_equal(value, other.state()[name])
    assert len(one.wager.starts) > 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("starts_counts", [[0, 5, 9, 0, 0, 0]]), ("starts_counts", [[0, 5, 1, 2, 0, 0]]),
     ("floors", [2.0] * 6), ("profile_rate", [1.5]), ("profile_bins", [[0.0] * 6, [1.0] * 6])],
)  # fmt: skip
def test_what_cannot_be_is_refused(name, value):
    certifying = Certifying(0.1, 0.2)
    certifying.wager.open(0)
    state = certifying.state() | {name: np.array(value)}
    with pytest.raises(ValueError, match=r"."):
        Certifying(0.1, 0.2).restore(state)
