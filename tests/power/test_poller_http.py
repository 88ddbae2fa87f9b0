"""The poller against a real HTTP server; only what no slow machine can change is checked."""

import asyncio
from itertools import pairwise

import pytest

from selectron.power import AdaptivePoller
from selectron.reproduce.default.poller_http import (
    RIVALS,
    Inbox,
    arrivals,
    play,
    poll,
    poll_async,
    serve,
)

TIMES = [begin + 0.004 * k for begin in (0.1, 0.5, 0.9) for k in range(10)]


class Noting(AdaptivePoller):
    """An AdaptivePoller that notes down what it says and hears."""

    def __init__(self):
        super().__init__(0.005, 0.08, 1.0, 30.0)
        self.intervals, self.found = [], []

    def next(self):
        self.intervals.append(super().next())
        return self.intervals[-1]

    def observe(self, n_items, elapsed=None):
        self.found.append(n_items)
        super().observe(n_items, elapsed)


@pytest.mark.parametrize("kind", ["loop", "asyncio"])
def test_every_item_is_received_once_and_paid_for(kind):
    poller, inbox = Noting(), Inbox(TIMES)
    with serve(inbox) as port:
        if kind == "loop":
            bill = poll(poller, inbox, port)
        else:
            bill = asyncio.run(poll_async(poller, inbox, port))
    assert bill.items == sum(poller.found) == len(TIMES)
    assert bill.polls == len(poller.found) == poller.n_polls
    assert bill.waited_s > 0
    assert bill.cost(1.0, 30.0) == bill.polls + 30.0 * bill.waited_s
    assert all(0.005 <= interval <= 0.08 for interval in poller.intervals)


def test_asyncio_lets_others_run_while_the_poller_waits():
    moments = []

    async def heartbeat():
        while True:
            moments.append(asyncio.get_running_loop().time())
            await asyncio.sleep(0.001)

    async def together():
        heart = asyncio.create_task(heartbeat())
        slow = AdaptivePoller(0.05, 0.05, 1.0, 1.0)
        async for _ in slow:
            slow.observe(0)
            if slow.n_polls == 3:
                break
        heart.cancel()

    asyncio.run(together())
    assert len(moments) > 1  # none, if the poller slept in the loop's own thread
    assert all(a <= b for a, b in pairwise(moments))


def test_arrivals_come_in_bursts_within_the_time():
    times = arrivals(21, 10.0)
    gaps = sorted(b - a for a, b in pairwise(times))
    assert 0 <= times[0] <= times[-1] < 10
    assert len(times) > 100
    assert gaps[-1] > 50 * gaps[len(gaps) // 2]


@pytest.mark.parametrize("name", ["learned", "learned, asyncio", "back-off", "fixed 40 ms"])
def test_every_rival_gets_everything(name):
    assert name in RIVALS
    bill = play(name, TIMES)
    assert bill.items == len(TIMES)
    assert bill.polls >= 1
