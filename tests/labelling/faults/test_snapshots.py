"""Stop and start again at every event: the same bits as without a stop."""

from selectron.labelling import service as service_module
from selectron.labelling.service import Service
from selectron.labelling.store import open_store
from tests.labelling.tally import Tally


def test_a_restart_at_every_event_changes_nothing(address, monkeypatch):
    monkeypatch.setattr(service_module, "PACK_LESSONS", 3)
    straight, restored = Tally(), []
    unpack = Tally.unpack
    monkeypatch.setattr(
        Tally, "unpack", lambda desk, *packed: (restored.append(desk.last), unpack(desk, *packed))
    )
    for k in range(40):
        service = Service(open_store(address), Tally())
        assert service.read(Tally.digest) == straight.digest()
        service.submit(lambda desk, id_=f"a{k}": desk.answer(id_, "x")).result()
        service.close()
        straight = Tally()
        with open_store(address, readonly=True) as store:
            for seq, event in store.events():
                straight.apply(event, seq)
        assert service.read(Tally.digest) == straight.digest()
    assert len(set(restored)) > 5
