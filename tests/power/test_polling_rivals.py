"""What does not learn, and what it costs: replay, back-off, the best in hindsight, arrivals."""

import numpy as np
import pytest

from selectron.power.polling import (
    BackOff,
    Bill,
    FixedInterval,
    back_off_bill,
    best_back_off,
    best_fixed_interval,
    bursts,
    on_off,
    poisson,
    replay,
)

STREAMS = [draw(5, duration=5000.0) for draw in (poisson, bursts, on_off)]
GRID = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


@pytest.mark.parametrize("arrivals", STREAMS, ids=["poisson", "bursts", "on-off"])
@pytest.mark.parametrize("bounds", [(1.0, 1.0), (3.0, 100.0), (7.3, 7.3)])
def test_compiled_back_off_is_the_replayed_one(arrivals, bounds):
    slow = replay(BackOff(*bounds), *arrivals)
    fast = back_off_bill(*arrivals, *bounds)
    assert (fast.polls, fast.items) == (slow.polls, slow.items) == (slow.polls, len(arrivals.times))
    assert fast.waited_s == pytest.approx(slow.waited_s, rel=1e-12)


def test_a_bill_by_hand():
    times = np.array([0.25, 3.0, 3.5, 9.0])
    bill = replay(BackOff(1.0, 4.0), times, 10.0)  # polls at 1, 2, 4, 5, 7, 11
    assert bill == Bill(6, 4, 0.75 + 1.0 + 0.5 + 2.0)
    assert bill.cost(2.0, 10.0) == 12.0 + 42.5


def test_an_item_that_comes_with_the_poll_is_found_by_it():
    times = np.array([2.0, 4.0])
    assert replay(FixedInterval(2.0), times, 4.0) == Bill(2, 2, 0.0)
    assert back_off_bill(times, 4.0, 2.0, 2.0) == Bill(2, 2, 0.0)


@pytest.mark.parametrize("arrivals", STREAMS, ids=["poisson", "bursts", "on-off"])
def test_hindsight_is_the_least_of_all_replays(arrivals):
    prices = (1.0, 0.05)
    fixed = {x: replay(FixedInterval(x), *arrivals).cost(*prices) for x in GRID}
    best = best_fixed_interval(*arrivals, prices, GRID)
    assert best.cost == pytest.approx(min(fixed.values()), rel=1e-12)
    assert best.min_interval == best.max_interval == min(fixed, key=fixed.get)
    pairs = [(a, b) for a in GRID for b in GRID if a <= b]
    costs = [replay(BackOff(*pair), *arrivals).cost(*prices) for pair in pairs]
    assert best_back_off(*arrivals, prices, GRID).cost == pytest.approx(min(costs), rel=1e-12)


@pytest.mark.parametrize("times", [[2.0, 1.0], [-0.5, 1.0], [1.0, 11.0], [float("nan")]])
def test_arrivals_out_of_order_are_refused(times):
    with pytest.raises(ValueError, match="must be sorted and lie between 0 and the duration, 10"):
        back_off_bill(np.array(times), 10.0, 1.0, 1.0)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (2.0, 1.0), (1.0, float("inf"))])
def test_back_off_checks_its_bounds(bounds):
    with pytest.raises(ValueError, match=r"give 0 < min <= max"):
        BackOff(*bounds)


@pytest.mark.parametrize("draw", [poisson, bursts, on_off])
def test_arrivals_are_sorted_within_their_day_and_fixed_by_the_seed(draw):
    one, again, other = draw(1), draw(1), draw(2)
    assert (one.times == again.times).all()
    assert not np.array_equal(one.times, other.times)
    assert (np.diff(one.times) >= 0).all()
    assert one.times[0] >= 0
    assert one.times[-1] < one.duration == 86_400


def test_a_stream_may_be_empty():
    for draw in (poisson, bursts, on_off):
        arrivals = draw(1, duration=1e-3)
        assert len(arrivals.times) == 0
        assert replay(FixedInterval(1.0), *arrivals) == Bill(1, 0, 0.0)


def test_arrivals_have_the_rates_they_say():
    day = 86_400
    assert np.mean([len(poisson(s).times) for s in range(20)]) == pytest.approx(day / 30, rel=0.02)
    assert np.mean([len(bursts(s).times) for s in range(20)]) == pytest.approx(day / 30, rel=0.15)
