"""What clients were told, against what is in the store."""

from collections import Counter
from time import monotonic, sleep
from typing import NamedTuple

from selectron.labelling.service import Service
from selectron.labelling.store import Held, open_store
from tests.labelling.faults.lives import new_desk


class Verdict(NamedTuple):
    acknowledged: int
    lost: int  # acknowledged, and not in the log
    doubled: int  # in the log more than once
    moved: int  # in the log at another place than the client was told

    @property
    def flaws(self):
        return self.lost + self.doubled + self.moved


def told(folder):
    """Read what the clients were told: pairs of an id and the number of its event."""
    lines = [line for path in folder.glob("[0-9]*") for line in path.read_text().split("\n")]
    return [(id_, int(seq)) for id_, seq in (line.split() for line in lines if line)]


def reopened(address):
    """Open a store whose last writer was killed a moment ago."""
    end = monotonic() + 5
    while True:
        try:
            return open_store(address)
        except Held:  # by a session that the server has yet to end
            assert monotonic() < end
            sleep(0.01)


def judge(address, folder):
    """Compare what the clients were told with the log."""
    with reopened(address) as store:
        assert store.verify().ok
        places = {}
        for seq, event in store.events():
            if event.kind == "answered":
                places.setdefault(event.body["id"], []).append(seq)
    acknowledged = told(folder)
    return Verdict(
        acknowledged=len({id_ for id_, _ in acknowledged}),
        lost=len({id_ for id_, _ in acknowledged if id_ not in places}),
        doubled=sum(count > 1 for count in Counter(map(len, places.values())).elements()),
        moved=sum(seq not in places.get(id_, [seq]) for id_, seq in acknowledged),
    )


def check_digests(address, desk="tally"):
    """Check that a service that recovers, from a snapshot if it can, equals a plain replay."""
    service = Service(reopened(address), new_desk(desk))
    service.close()
    plain = new_desk(desk)
    with open_store(address, readonly=True) as store:
        for seq, event in store.events():
            plain.apply(event, seq)
    assert service.read(lambda desk: desk.digest()) == plain.digest()
