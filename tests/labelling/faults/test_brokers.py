"""kill -9 of the consumer of a real Redis stream: each item once, and the same bits."""

from collections import Counter
from itertools import count
from random import Random
from time import monotonic, sleep

import pytest

from selectron.labelling.store import open_store
from tests.labelling import office
from tests.labelling.faults.judge import reopened
from tests.labelling.faults.nursery import Nursery

pytest.importorskip("redis", reason="redis is not installed")


def fill(client, stream, n):
    """Make the stream anew with the same entries: tickets, and now and then what is no item."""
    client.delete(stream, f"{stream}:dead")
    items, _ = office.tickets(n)
    for k, item in enumerate(items, 1):
        client.xadd(stream, {"id": item["id"], "text": item["text"]}, id=f"{k}-0")
        if k % 10 == 0:
            client.xadd(stream, {"json": "{"}, id=f"{k}-1")
    client.xgroup_create(stream, "group", id="0")


def read_so_far(client, stream):
    return client.xinfo_groups(stream)[0]["entries-read"] or 0


def kill_again_and_again(nursery, client, life, kills, n, seed):
    """Kill the consumer while it is at work; count what each kill left under way."""
    coins, left = Random(seed), Counter()
    for number in range(kills):
        pid = nursery.start("consume", seed=coins.randrange(2**32), **life)
        enough = n * (number + coins.random()) / (kills + 1)
        end = monotonic() + 20
        while read_so_far(client, life["stream"]) < enough and monotonic() < end:
            sleep(0.001)
        sleep(coins.uniform(0, 0.02))
        nursery.kill(pid)
        left[under_way(client, life)] += 1
    return left


def under_way(client, life):
    pending = client.xpending_range(life["stream"], "group", "-", "+", 100)
    if not pending:
        return "nothing"
    with reopened(life["address"]) as store:
        taken = {message for message, _ in taken_from(store)}
    return "stored" if pending[0]["message_id"] in taken else "not stored"


def taken_from(store):
    """Return each message in the log with the id of its item."""
    sources = [event.body for _, event in store.events() if event.kind == "items"]
    return [
        (message, item["id"])
        for body in sources
        for message, item in zip(body["source"]["messages"], body["items"], strict=True)
    ]


def run(nursery, server, place, learner, kills, n, control=False):
    """Consume a stream of n items with so many kills; return what was stored, and the digest."""
    stream, address, digest = place
    life = {"url": server.url, "stream": stream, "address": address, "digest": str(digest)}
    life |= {"learner": learner, "control": control}
    with server.client() as client:
        fill(client, stream, n)
        left = kill_again_and_again(nursery, client, life, kills, n, seed=kills)
        nursery.run("consume", **life)
        letters = [letter["_entry"] for _, letter in client.xrange(f"{stream}:dead")]
        assert client.xpending(stream, "group")["pending"] == 0
    with open_store(address, readonly=True) as store:
        assert store.verify().ok
        taken = taken_from(store)
    return taken, letters, digest.read_text(), left


def wanted(n):
    items, _ = office.tickets(n)
    bad = [f"{k}-1" for k in range(1, n + 1) if k % 10 == 0]
    return [(f"{k}-0", item["id"]) for k, item in enumerate(items, 1)], bad


@pytest.fixture(scope="module")
def nursery():
    with Nursery(module="brokers") as nursery:
        yield nursery


@pytest.fixture
def places(stream, new_address, tmp_path):
    """Yield the stream, a new store and a file for the digest, for one run after the other."""
    return ((stream, new_address(), tmp_path / str(k)) for k in count())


@pytest.mark.plain
def test_a_few_kills(nursery, redis_server, places):
    n = 150
    quiet = run(nursery, redis_server, next(places), "oracle", 0, n)
    killed = run(nursery, redis_server, next(places), "oracle", 5, n)
    assert (killed[0], killed[1]) == (quiet[0], quiet[1]) == wanted(n)
    assert killed[2] == quiet[2]


@pytest.mark.plain
@pytest.mark.parametrize("new_address", ["sqlite"], indirect=True)
def test_the_test_can_fail(nursery, redis_server, places):
    """Control: a consumer that acknowledges before it stores loses items."""
    n = 150
    for kills in range(5, 15):
        taken, *_ = run(nursery, redis_server, next(places), "oracle", kills, n, control=True)
        if len(taken) < n:
            break
    assert len(taken) < n


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["oracle", "pool"])
def test_fifty_kills(redis_server, places, learner):
    n = 900
    with Nursery(module="brokers", LEARNER=learner, OPENBLAS_NUM_THREADS="1") as nursery:
        quiet = run(nursery, redis_server, next(places), learner, 0, n)
        killed = run(nursery, redis_server, next(places), learner, 50, n)
    assert (killed[0], killed[1]) == (quiet[0], quiet[1]) == wanted(n)
    assert killed[2] == quiet[2]
    assert killed[3]["stored"]  # kills between the commit and the acknowledgement
    assert killed[3]["not stored"]
