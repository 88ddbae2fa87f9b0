"""The bets: as written, fair in exact expectation, and inverted to the right ends."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selectron.estimate import Bernstein, Thinning
from selectron.estimate.sums import Sums, terms_of
from tests.estimate import twins

EXPLORE = 0.2
ODDS = st.lists(st.floats(EXPLORE, 1.0), max_size=12)
TWINS = {
    Thinning(): (twins.thinning_up, twins.thinning_low),
    Thinning(risk=True): (
        lambda events, total, explore: twins.thinning_up(events, total, explore, risk=True),
        lambda events, total: twins.thinning_low(events, total, risk=True),
    ),
    Bernstein(): (twins.bernstein_up, twins.bernstein_low),
}


def sums_of(events, explore=EXPLORE):
    return Sums(*(field.sum(axis=0) for field in terms_of(np.array(events, float), explore)))


@pytest.mark.parametrize("construction", TWINS, ids=str)
@given(ODDS, st.integers(0, 60))
def test_the_bets_are_the_products(construction, events, total):
    up, low = TWINS[construction]
    sums = sums_of(events)
    many = construction.too_many(sums, EXPLORE).at(float(total))
    few = construction.too_few(sums, EXPLORE).at(float(total))
    assert exp(many) == pytest.approx(up(events, total, EXPLORE), rel=1e-9)
    assert exp(few) == pytest.approx(low(events, total), rel=1e-9)


def moody(past):
    """Odds that look at the past: what was asked makes asking dearer, never below the floor."""
    return max(EXPLORE, 0.9 - 0.3 * sum(past) + 0.1 * len(past))


def always_wrong(t, past):
    return True


def wrong_after_asking(t, past):
    return t == 0 or past[-1]


@pytest.mark.parametrize("construction", TWINS, ids=str)
@pytest.mark.parametrize("wrong", [always_wrong, wrong_after_asking])
def test_the_bets_are_fair(construction, wrong):
    """Over all outcomes of eight coins: 1 for thinning, whose bets lose nothing; else less."""
    mean = {"many": 0.0, "few": 0.0}
    for weight, coins in twins.outcomes(8, moody):
        happened = [wrong(t, coins[:t]) for t in range(8)]
        odds = [moody(coins[:t]) for t in range(8)]
        events = [odds[t] for t in range(8) if happened[t] and coins[t]]
        sums, total = sums_of(events), float(sum(happened))
        mean["many"] += weight * exp(construction.too_many(sums, EXPLORE).at(total))
        mean["few"] += weight * exp(construction.too_few(sums, EXPLORE).at(total))
    for value in mean.values():
        assert value <= 1.0 + 1e-12
        assert (abs(value - 1.0) < 1e-12) == (construction == Thinning())


def test_the_risk_is_covered_by_those_that_say_so():
    """One round, wrong with probability r: the bet at the risk r has a mean of at most 1."""
    fair = {}
    for construction in TWINS:
        worst = 0.0
        for r in np.linspace(0.0, 1.0, 21):
            for odds in (EXPLORE, 0.5, 1.0):
                hit, none = sums_of([odds]), sums_of([])
                for bet in (construction.too_many, construction.too_few):
                    asked, idle = (exp(bet(sums, EXPLORE).at(r)) for sums in (hit, none))
                    worst = max(worst, r * odds * asked + (1.0 - r * odds) * idle)
        fair[construction] = worst <= 1.0 + 1e-12
    assert fair == {Thinning(): False, Thinning(risk=True): True, Bernstein(): True}


@pytest.mark.parametrize("construction", TWINS, ids=str)
@given(ODDS, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
@settings(max_examples=30)
def test_the_ends_are_where_the_bets_cross(construction, events, level):
    up, low = TWINS[construction]
    bound = 2.0 / (1.0 - level)
    sums = sums_of(events)
    least = twins.bisect(lambda s: low(events, s), bound, -200.0, 200.0)
    most = twins.bisect(lambda s: up(events, s, EXPLORE), bound, 0.0, 1000.0)
    assert construction.too_many(sums, EXPLORE).crossing(log(bound)) == pytest.approx(most, 1e-9)
    found = construction.too_few(sums, EXPLORE).crossing(log(bound))
    assert found == pytest.approx(least, rel=1e-8, abs=1e-8)


@given(ODDS, st.floats(0.0, 100.0))
def test_thinning_is_never_the_smaller_bet(events, total):
    sums = sums_of(events)
    for bet in ("too_many", "too_few"):
        sharp, plain, two_sums = (
            float(getattr(c, bet)(sums, EXPLORE).at(total))
            for c in (Thinning(), Thinning(risk=True), Bernstein())
        )
        assert sharp >= plain - 1e-9
        assert plain >= two_sums - 1e-9


def test_many_crossings_at_once_are_those_one_by_one():
    mixture = Thinning().too_many(sums_of([0.3, 0.5]), EXPLORE)
    bounds = np.linspace(-2.0, 8.0, 9)
    alone = [float(mixture.crossing(b)) for b in bounds]
    assert mixture.crossing(bounds) == pytest.approx(alone, rel=1e-12, abs=1e-12)


def test_odds_of_one_move_no_bet():
    sums = sums_of([1.0] * 7)
    assert Thinning().too_many(sums, EXPLORE).at(7.0) == pytest.approx(0.0, abs=1e-12)
    assert Thinning().too_few(sums, EXPLORE).at(7.0) == pytest.approx(0.0, abs=1e-12)
