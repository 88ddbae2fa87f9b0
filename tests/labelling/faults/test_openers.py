"""A second process is refused at once, and told who came first."""

from time import monotonic, sleep

import pytest

from selectron.labelling.store import Held, open_store
from tests.labelling.faults.judge import reopened


def test_the_second_one_is_told_who_came_first(nursery, address, tmp_path):
    pid = nursery.start("hold", address=address, ready=str(tmp_path / "ready"))
    end = monotonic() + 10
    while not (tmp_path / "ready").exists():
        assert monotonic() < end
        sleep(0.01)
    start = monotonic()
    with pytest.raises(Held) as held:
        open_store(address)
    assert monotonic() - start < 2
    assert held.value.pid == pid
    assert f"process {pid} on {held.value.host}" in str(held.value)
    open_store(address, readonly=True).close()
    nursery.kill(pid)
    reopened(address).close()
