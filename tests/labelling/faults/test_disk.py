"""Disks that fail or are full: the service stops, says why, and nothing acknowledged is lost."""

import os
import subprocess

import pytest

from selectron.labelling.store import open_store
from tests.labelling.faults.judge import check_digests, judge, told
from tests.labelling.faults.lives import Tally
from tests.labelling.faults.nursery import Nursery, compiled


@pytest.fixture(scope="module")
def failing_disk(tmp_path_factory):
    """Return a nursery in which a write or a flush can be made to fail."""
    library = compiled("eio.c", tmp_path_factory.mktemp("eio"))
    with Nursery(LD_PRELOAD=library) as nursery:
        yield nursery


def recovers(address, acks):
    """Check that all acknowledged answers are there, in order, and that the store goes on."""
    verdict = judge(address, acks)
    assert verdict.flaws == 0, verdict
    check_digests(address)
    with open_store(address) as store:
        desk = Tally()
        for seq, event in store.events():
            desk.apply(event, seq)
        assert len(desk.answers) <= verdict.acknowledged + 1  # the one that nobody was told of
        store.append(desk.answer("after", "a").events)
    return verdict.acknowledged


@pytest.mark.parametrize("kind", ["flush", "write"])
@pytest.mark.parametrize("last", [50, pytest.param(500, marks=pytest.mark.slow)])
def test_the_kth_write_or_flush_fails(failing_disk, memory, tmp_path, kind, last):
    stopped, refused = 0, 0
    for k in range(1, last + 1):
        folder, acks = memory / f"{k}", tmp_path / f"acks{k}"
        folder.mkdir()
        acks.mkdir()
        fault = {"FAULT_FOLDER": str(folder), "FAULT_AT": str(k), "FAULT_KIND": kind}
        address = str(folder / "labels.db")
        failing_disk.run(
            "annotate_until_stopped", address=address, acks=str(acks), most=last, fault=fault
        )
        stopped += (acks / "stopped").exists()
        refused += (acks / "refused").exists()
        recovers(address, acks)
    assert stopped > 0.3 * last  # making a store takes some thirty writes: those refuse to open
    assert stopped + refused > 0.9 * last


def test_a_file_that_may_not_grow(nursery, tmp_path, acks):
    address = str(tmp_path / "labels.db")
    life = {"address": address, "acks": str(acks), "most": 1000}
    nursery.run("annotate_until_stopped", limit=200_000, **life)
    assert (acks / "stopped").exists()
    assert recovers(address, acks) > 10


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk(nursery, tmp_path, acks):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk])
    if mounted.returncode:
        pytest.skip("this root may not mount")
    try:
        life = {"address": str(disk / "labels.db"), "acks": str(acks), "most": 1000}
        nursery.run("annotate_until_stopped", **life)
        assert "full" in (acks / "stopped").read_text()
        assert len(told(acks)) > 50
        nursery.run("annotate_until_stopped", **life)  # there is still no room
        assert "full" in (acks / "stopped").read_text()
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        recovers(life["address"], acks)
    finally:
        subprocess.run(["umount", disk], check=True)
