"""AdaptivePoller: its definition, its bounds, its state, and what it refuses."""

import asyncio
import json
from fractions import Fraction
from itertools import islice, pairwise

import numpy as np
import pytest

from selectron.power import AdaptivePoller
from selectron.power.polling import best_fixed_interval, bursts, on_off, poisson, replay
from selectron.power.polling.poller import make_ladders
from tests.power.poller_twin import PlainPoller


def walk(poller, counts):
    """Poll as often as there are counts; return the intervals."""
    intervals = []
    for count in counts:
        intervals.append(poller.next())
        poller.observe(count, elapsed=intervals[-1])
    return intervals


def counts_of(seed, n):
    rng = np.random.default_rng(seed)
    return (rng.poisson(4, n) * (rng.random(n) < 0.3)).tolist()


@pytest.mark.parametrize(
    ("settings", "seed"),
    [((1.0, 64.0, 1.0, 0.1), 0), ((0.02, 0.7, 3.0, 50.0), 1), ((5.0, 9.0, 1.0, 1e-3), 2)],
)
def test_it_is_what_the_definition_says(settings, seed):
    poller, twin = AdaptivePoller(*settings, jitter=0.0), PlainPoller(*settings)
    for count in counts_of(seed, 60):
        interval = poller.next()
        assert interval == pytest.approx(twin.next(), rel=1e-9)
        poller.observe(count, elapsed=interval)
        twin.observe(count, interval)


def test_only_the_ratio_of_the_costs_matters():
    counts = counts_of(3, 200)
    one = walk(AdaptivePoller(1.0, 100.0, 1.0, 0.1), counts)
    other = walk(AdaptivePoller(1.0, 100.0, 1e6, 1e5), counts)
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_experts_reach_from_bound_to_bound():
    ladders = make_ladders(1.0, 10.0)
    pairs = set(zip(ladders.shortest, ladders.longest, strict=True))
    assert pairs == {
        (1, 1), (1, 4), (1, 10), (2, 2), (2, 8), (2, 10), (4, 4), (4, 10), (8, 8), (8, 10),
        (10, 10),
    }  # fmt: skip
    assert ladders.intervals(5.0).tolist() == [
        min(hi, max(lo, 5.0)) for lo, hi in zip(ladders.shortest, ladders.longest, strict=True)
    ]


@pytest.mark.parametrize("jitter", [0.0, 0.1, 0.9])
def test_intervals_stay_within_their_bounds(jitter):
    poller = AdaptivePoller(0.5, 3.0, 1.0, 10.0, jitter=jitter)
    intervals = walk(poller, [0] * 30 + [500] * 30 + [0] * 30)
    assert all(0.5 <= interval <= 3.0 for interval in intervals)


def test_one_interval_is_all_there_is():
    assert walk(AdaptivePoller(2.0, 2.0, 1.0, 1.0), [0, 5, 0]) == [2.0] * 3


def test_silence_makes_it_wait_and_items_make_it_hurry():
    poller = AdaptivePoller(1.0, 512.0, 1.0, 0.1, jitter=0.0)
    quiet = walk(poller, [0] * 40)
    assert all(a <= b for a, b in pairwise(quiet))
    assert quiet[-1] > 512 / 2
    poller.observe(100, elapsed=quiet[-1])
    assert poller.next() < 10


def test_jitter_spreads_clients_and_a_seed_fixes_it():
    first = [AdaptivePoller(1.0, 64.0, 1.0, 0.1, random_state=s).next() for s in range(200)]
    middle = AdaptivePoller(1.0, 64.0, 1.0, 0.1, jitter=0.0).next()
    assert min(first) == pytest.approx(0.9 * middle, rel=0.02)
    assert max(first) == pytest.approx(1.1 * middle, rel=0.02)
    counts = counts_of(4, 50)
    again = [walk(AdaptivePoller(1.0, 64.0, 1.0, 0.1, random_state=7), counts) for _ in range(2)]
    assert again[0] == again[1]


def test_jitter_is_another_at_every_poll():
    moved = AdaptivePoller(1.0, 1e6, 1.0, 1e-4)
    still = AdaptivePoller(1.0, 1e6, 1.0, 1e-4, jitter=0.0)
    ratios = []
    for _ in range(40):
        ratios.append(moved.next() / still.next())
        moved.observe(1, elapsed=100.0)
        still.observe(1, elapsed=100.0)
    assert len(set(ratios)) > 35
    assert min(ratios) < 0.95
    assert max(ratios) > 1.05


def test_next_is_a_question_not_a_step():
    poller = AdaptivePoller(1.0, 64.0, 1.0, 0.1)
    assert poller.next() == poller.next()
    assert poller.n_polls == 0


def test_time_comes_from_the_clock_unless_it_is_told():
    now = [100.0]
    by_clock = AdaptivePoller(1.0, 64.0, 1.0, 0.1, clock=lambda: now[0])
    told = AdaptivePoller(1.0, 64.0, 1.0, 0.1, clock=lambda: 0.0)
    for count in counts_of(5, 30):
        now[0] += 2.5
        by_clock.observe(count)
        told.observe(count, elapsed=2.5)
        assert by_clock.next() == told.next()


@pytest.mark.parametrize("bounds", [(1.0, 64.0), (2.0, 2.0)])
def test_a_state_resumes_bit_for_bit_through_json(bounds):
    poller = AdaptivePoller(*bounds, 1.0, 0.1, random_state=3)
    walk(poller, counts_of(6, 40))
    resumed = AdaptivePoller.from_state(json.loads(json.dumps(poller.state())))
    assert resumed.n_polls == 40
    later = counts_of(7, 60)
    assert walk(poller, later) == walk(resumed, later)
    assert poller.state() == resumed.state()


def damage(state, path, value):
    for name in path[:-1]:
        state = state[name]
    if value is None:
        del state[path[-1]]
    else:
        state[path[-1]] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["silence"], None, "state has no 'silence'"),
        (["silence"], -1.0, "silence is -1.0"),
        (["n_polls"], 2.5, "n_polls is 2.5"),
        (["n_polls"], 2**63, "n_polls is 9223372036854775808; a state holds a whole number"),
        (["experts", "mantissas"], [0.0] * 26, "'mantissas' of the state add up to nan"),
        (["experts", "scale"], None, "no 'scale'; it is damaged"),
        (["experts", "scale"], [1.0], "holds 1 numbers instead of 26"),
        (["settings", "max_interval"], 1e9, "it belongs to other intervals"),
        (["settings", "min_interval"], None, "min_interval"),
        (["settings", "poll_cost"], -2.0, "poll_cost is -2.0"),
        (["settings"], [1.0, 64.0], "settings"),
    ],
)
def test_a_damaged_state_is_refused(path, value, message):
    state = AdaptivePoller(1.0, 64.0, 1.0, 0.1).state()
    damage(state, path, value)
    with pytest.raises(ValueError, match=message):
        AdaptivePoller.from_state(state)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"min_interval": 0.0}, "min_interval is 0.0; give a finite number > 0"),
        ({"max_interval": float("inf")}, "max_interval is inf"),
        ({"max_interval": 0.5}, "max_interval is 0.5, below min_interval 1.0; give the longest"),
        ({"max_interval": "60"}, "max_interval is '60'"),
        ({"poll_cost": -1.0}, "poll_cost is -1.0"),
        ({"delay_cost": float("nan")}, "delay_cost is nan"),
        ({"jitter": 1.0}, r"jitter is 1.0; give a fraction in \[0, 1\)"),
        ({"random_state": -1}, "random_state is -1"),
        ({"random_state": 0.5}, "random_state is 0.5"),
    ],
)
def test_settings_are_checked(changes, message):
    good = {"min_interval": 1.0, "max_interval": 60.0, "poll_cost": 1.0, "delay_cost": 1.0}
    with pytest.raises(ValueError, match=message):
        AdaptivePoller(**good | changes)


@pytest.mark.parametrize(
    ("n_items", "elapsed", "message"),
    [
        (-1, 1.0, "n_items is -1; give the number of items found"),
        (float("nan"), 1.0, "n_items is nan"),
        (float("inf"), 1.0, "n_items is inf"),
        (1e308, 1.0, "count in larger units"),
        (None, 1.0, "n_items is None; give the number of items found"),
        ("3", 1.0, "n_items is '3'; give the number"),
        ([3], 1.0, r"n_items is \[3\]; give the number"),
        (10**400, 1.0, "n_items is 1000.*; give the number"),
        (1, -0.1, "elapsed is -0.1; give the seconds since the poll before"),
        (1, float("nan"), "elapsed is nan; give the seconds"),
        (1, float("inf"), "elapsed is inf; give the seconds .*, finite"),
        (1, "3", "elapsed is '3'; give the seconds"),
        (1, 10**400, "elapsed is 1000.*; give the seconds"),
    ],
)
def test_a_bad_observation_changes_nothing(n_items, elapsed, message):
    poller = AdaptivePoller(1.0, 60.0, 1.0, 10.0)
    walk(poller, [0, 3, 0, 0])
    before = poller.state()
    with pytest.raises(ValueError, match=message):
        poller.observe(n_items, elapsed=elapsed)
    assert poller.state() == before


def test_a_clock_that_goes_back_is_refused():
    times = iter([10.0, 9.0])
    poller = AdaptivePoller(1.0, 60.0, 1.0, 1.0, clock=lambda: next(times))
    with pytest.raises(ValueError, match="time must not go back"):
        poller.observe(0)


def test_a_wait_broken_off_ends_its_iterator_and_not_the_poller(monkeypatch):
    poller = AdaptivePoller(1e-4, 1e-3, 1.0, 1.0)

    def interrupted(seconds):
        raise KeyboardInterrupt

    loop = iter(poller)
    with monkeypatch.context() as patch:
        patch.setattr("time.sleep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(loop)
    with pytest.raises(StopIteration):
        next(loop)
    assert next(iter(poller)) == poller.next()

    async def cancelled():
        waits = aiter(AdaptivePoller(50.0, 60.0, 1.0, 1.0))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(waits), 0.01)
        with pytest.raises(StopAsyncIteration):
            await anext(waits)
        return await anext(aiter(poller))

    assert asyncio.run(cancelled()) == poller.next()


def test_a_loop_that_does_not_observe_is_told_so():
    poller = AdaptivePoller(1e-4, 1e-3, 1.0, 1.0)
    with pytest.raises(RuntimeError, match="call observe"):
        list(islice(poller, 3))

    async def forgetful():
        rounds = 0
        async for _ in poller:
            rounds += 1
            if rounds == 3:
                break

    with pytest.raises(RuntimeError, match="call observe"):
        asyncio.run(forgetful())


@pytest.mark.parametrize(
    ("draw", "bar"),
    [(poisson, 1.1), (on_off, 1.0), (bursts, 1.0)],
    ids=["poisson", "on-off", "bursts"],
)
def test_it_is_as_cheap_as_the_best_fixed_interval(draw, bar):
    arrivals = draw(29)  # a seed that neither chose nor judges anything
    poller = AdaptivePoller(1.0, 2048.0, 1.0, 0.03)
    cost = replay(poller, *arrivals).cost(1.0, 0.03)
    best = best_fixed_interval(*arrivals, (1.0, 0.03), [2.0**k for k in range(12)])
    assert cost <= bar * best.cost


def test_the_state_is_strict_json():
    poller = AdaptivePoller(min_interval=0.01, max_interval=1.0, poll_cost=1.0, delay_cost=1.0)
    poller.next()
    poller.observe(3, elapsed=0.02)
    written = json.dumps(poller.state(), allow_nan=False)
    again = AdaptivePoller.from_state(json.loads(written))
    assert again.state() == poller.state()
    assert again.next() == poller.next()


@pytest.mark.parametrize("number", [np.int64(2), np.float32(2.0), Fraction(2), np.array(2)])
def test_numbers_of_any_make_are_numbers(number):
    """The state is one of plain numbers still, which JSON knows."""
    ours = AdaptivePoller(number, 60.0, number, 10.0, random_state=np.int64(3))
    plain = AdaptivePoller(2.0, 60.0, 2.0, 10.0, random_state=3)
    ours.observe(number, elapsed=number)
    plain.observe(2, elapsed=2.0)
    assert json.dumps(ours.state()) == json.dumps(plain.state())


@pytest.mark.parametrize("name", ["min_interval", "max_interval", "poll_cost", "delay_cost"])
@pytest.mark.parametrize("value", [None, "3", 10**400, 1e200, -1, 0, float("nan")])
def test_a_bad_setting_is_named(name, value):
    settings = {"min_interval": 1, "max_interval": 60, "poll_cost": 1, "delay_cost": 1}
    with pytest.raises(ValueError, match=f"{name} is .*; give a finite number > 0, from 1e-100"):
        AdaptivePoller(**settings | {name: value})


@pytest.mark.parametrize("seed", [None, "3", [3], float("inf"), float("nan"), -1, 1.5, 2**63])
def test_a_bad_seed_is_named(seed):
    with pytest.raises(ValueError, match=r"random_state is .*; give a whole number, 0 or more"):
        AdaptivePoller(1, 60, 1, 1, random_state=seed)


@pytest.mark.parametrize("clock", [None, 3.0, lambda: None, lambda: "now", lambda: float("nan")])
def test_a_clock_that_tells_no_time_is_refused(clock):
    with pytest.raises(ValueError, match=r"clock.* is .*; give a function that tells the time"):
        AdaptivePoller(1, 60, 1, 1, clock=clock)


def test_a_clock_that_goes_back_changes_nothing():
    times = iter([5.0, 4.0])
    poller = AdaptivePoller(1, 60, 1, 1, clock=lambda: next(times))
    before = poller.state()
    with pytest.raises(
        ValueError, match=r"-1\.0 seconds since the last poll; time must not go back"
    ):
        poller.observe(0)
    assert poller.state() == before


@pytest.mark.parametrize("elapsed", [1e-307, 1e-309, 5e-324])
def test_the_shortest_of_times(elapsed):
    poller = AdaptivePoller(1.0, 64.0, 1.0, 0.1)
    for _ in range(3):
        poller.observe(0, elapsed=elapsed)
        assert 1.0 <= poller.next() <= 64.0


def test_the_longest_silence_stays_a_number_that_json_knows():
    poller = AdaptivePoller(1.0, 60.0, 1.0, 1.0)
    for _ in range(3):
        poller.observe(0, elapsed=1e308)
    state = json.loads(json.dumps(poller.state(), allow_nan=False))
    assert AdaptivePoller.from_state(state).next() == poller.next() <= 60.0


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("silence", 10**400, "silence is 1000.*; a state holds seconds"),
        ("silence", "3", "silence is '3'; a state holds seconds"),
        ("experts", 3, "the experts' state is 3; a state holds a dict"),
        ("calm", "abc", "'calm' of the experts' state holds no numbers; it is damaged"),
        ("calm", {}, "'calm' of the experts' state holds no numbers"),
        ("calm", float("nan"), "'calm' of the experts' state holds nan; it is damaged"),
        ("scale", float("inf"), "'scale' of the experts' state holds inf; it is damaged"),
    ],
)
def test_a_damaged_state_is_refused_by_name(name, change, message):
    state = AdaptivePoller(1.0, 60.0, 1.0, 1.0).state()
    if name in state:
        state[name] = change
    elif isinstance(change, float):
        numbers = np.array(state["experts"][name])
        numbers.flat[-1] = change
        state["experts"][name] = numbers.tolist()
    else:
        state["experts"][name] = change
    with pytest.raises(ValueError, match=message):
        AdaptivePoller.from_state(state)
