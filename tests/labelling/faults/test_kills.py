"""kill -9 at random while annotators answer: nothing lost, nothing doubled, the same bits."""

import random
from pathlib import Path
from time import monotonic, sleep

import pytest

from selectron.labelling.store import open_store
from tests.labelling.conftest import SLOW_POSTGRES
from tests.labelling.faults.judge import check_digests, judge
from tests.labelling.faults.lives import begin


def kill_again_and_again(nursery, kills, seed=1, **life):
    """End lives at random: most after some acknowledgements, some while they recover."""
    coins, acks = random.Random(seed), Path(life["acks"])
    for _ in range(kills):
        pid = nursery.start("annotate", **life)
        enough = heard(acks) + coins.randrange(500) * (coins.random() < 0.8)
        end = monotonic() + 10
        while heard(acks) < enough and monotonic() < end:
            sleep(0.002)
        sleep(coins.uniform(0, 0.02))
        nursery.kill(pid)


def heard(acks):
    """Count the bytes of all acknowledgements so far, some ten for each."""
    return sum(path.stat().st_size for path in acks.iterdir())


# The whole server is killed in test_house.py, with the desk and the learner that people use.
FAST = [("sqlite", "tally", 20, 8), ("postgres", "tally", 20, 8)]
SLOW = [
    (store, desk, *size)
    for store in ("sqlite", "postgres")
    for desk in ("tally", "desk")
    for size in ((20, 8), (500, 32))
    if (store, desk, *size) not in FAST
]


@pytest.mark.parametrize(
    ("new_address", "desk", "kills", "threads"),
    [*FAST, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)],
    indirect=["new_address"],
)
def test_no_answer_is_lost(nursery, address, acks, desk, kills, threads):
    begin(address, desk)
    life = {"address": address, "acks": str(acks), "threads": threads, "desk": desk}
    for part in range(4):
        kill_again_and_again(nursery, kills // 4, seed=part, **life)
        check_digests(address, desk)
    verdict = judge(address, acks)
    assert verdict.flaws == 0, verdict
    assert verdict.acknowledged > 5 * kills
    if desk == "tally":
        with open_store(address, readonly=True) as store:
            assert store.snapshot()  # or the digests have proved less


@pytest.mark.parametrize("control", ["hasty", "doubled"])
@pytest.mark.parametrize("new_address", ["sqlite", SLOW_POSTGRES], indirect=True)
def test_the_test_can_fail(nursery, address, acks, control):
    """Control: a service that answers before the commit, and a store that takes an id twice."""
    for seed in range(10):
        life = {"address": address, "acks": str(acks), "threads": 8, "control": control}
        kill_again_and_again(nursery, 2, seed, **life)
        verdict = judge(address, acks)
        if verdict.flaws:
            break
    assert verdict.lost if control == "hasty" else verdict.doubled
