"""The clock on the wall jumps or stands still: order, leases and the learner do not care."""

import json

from selectron.labelling.store import open_store
from tests.labelling.faults.judge import judge, told
from tests.labelling.faults.lives import new_desk
from tests.labelling.faults.nursery import Nursery, compiled

DAY = 24 * 3600
JUMPS = ["0", str(-10 * DAY), str(3650 * DAY), "=1700000000"]  # the last one stands still


def test_jumps_of_the_clock_change_nothing(tmp_path, acks):
    address, seen = str(tmp_path / "labels.db"), tmp_path / "seen"
    life = {"address": address, "acks": str(acks), "jumps": JUMPS, "seen": str(seen)}
    with Nursery(LD_PRELOAD=compiled("clock.c", tmp_path)) as nursery:
        nursery.run("annotate_by_the_clock", **life)
    found = json.loads(seen.read_text())
    assert all(0.25 <= seconds <= 1.3 for seconds in found["leases"]), found["leases"]
    assert judge(address, acks).flaws == 0
    first_told = list(dict(told(acks)).values())
    assert first_told == sorted(first_told)  # in the order they were sent
    desk = new_desk("desk")
    with open_store(address) as store:
        events = list(store.events())
    for seq, event in events:
        desk.apply(event, seq)
    assert desk.digest() == found["digest"]  # made under the clock that jumped
    times = [event.at for _, event in events]
    assert times != sorted(times)
    assert max(times) - min(times) > 3650 * DAY
    assert times.count(1700000000) > 10
