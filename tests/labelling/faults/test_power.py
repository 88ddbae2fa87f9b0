"""Power cuts, replayed from a trace of what the service told the system.

kill -9 leaves what was written in the system's memory, so it cannot tell a store that flushes from
one that does not. Here every write, flush and name is traced. A power cut at an acknowledgement
leaves what was flushed by then, and of the rest none, some or most.
"""

import random
import re
import shutil

import pytest

from selectron.labelling.store import StoreError, open_store
from tests.labelling.faults.nursery import Nursery

CALLS = "openat,pwrite64,write,fsync,fdatasync,ftruncate,unlink,rename"
CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+)")
HEX = re.compile(r"(?:\\x[0-9a-f]{2})+")
SHARES = (0.0, 0.3, 0.7)  # of what was written and not flushed


class File:
    """What was written to a file, and what of it is sure to be on the disk."""

    def __init__(self):
        self.content, self.flushed, self.waiting = bytearray(), b"", []

    def change(self, place, data):
        """Write data at a place, or cut the file there if data is None."""
        self.waiting.append((place, data))
        apply(self.content, place, data)

    def flush(self):
        self.flushed, self.waiting = bytes(self.content), []

    def after_a_cut(self, share, coins):
        content = bytearray(self.flushed)
        for place, data in self.waiting:
            if coins.random() < share:
                apply(content, place, data)
        return bytes(content)


def apply(content, place, data):
    content.extend(bytes(max(0, place - len(content))))
    if data is None:
        del content[place:]
    else:
        content[place : place + len(data)] = data


class Disk:
    """One folder, with names that are sure to be on the disk once the folder is flushed."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.names, self.flushed = {}, {}

    def take(self, call, paths, rest):
        """Let one call of the trace happen."""
        path = paths[0]
        if call in ("fsync", "fdatasync"):
            if path == self.folder:
                self.flushed = dict(self.names)
            elif path in self.names:
                self.names[path].flush()
        elif call == "openat" and "O_CREAT" in rest:
            self.names.setdefault(path, File())
        elif call == "rename":
            self.names[paths[1]] = self.names.pop(path)
        elif call == "unlink":
            del self.names[path]
        elif call == "ftruncate":
            self.names[path].change(int(rest.split(",")[-1]), None)

    def write(self, path, data, place):
        file = self.names[path]
        file.change(len(file.content) if place is None else place, data)

    def after_a_cut(self, share, coins):
        """Return the files by name."""
        names = {}
        for name in sorted({*self.names, *self.flushed}):
            file = (self.names if coins.random() < share else self.flushed).get(name)
            if file and not name.endswith("-shm"):  # shared memory that is made anew
                names[name.rpartition("/")[2]] = file.after_a_cut(share, coins)
        return names


def calls_of(trace):
    """Give the calls of a trace in order; one that was interrupted, when it ended."""
    begun = {}
    with trace.open() as lines:
        for line in lines:
            pid, _, said = line.partition(" ")
            if "<unfinished ...>" in said:
                begun[pid] = said.partition(" <unfinished")[0]
                continue
            if "resumed>" in said:
                said = begun.pop(pid) + said.partition("resumed>")[2]
            found = CALL.match(said.strip())
            if found and int(found[3]) >= 0:
                yield found[1], found[2]


def decoded(text):
    return bytes.fromhex(text.replace("\\x", ""))


def cuts(trace, folder, acks):
    """Give for every acknowledgement what clients were told by then, and the disk."""
    disk, told = Disk(folder), []
    for call, arguments in calls_of(trace):
        parts = HEX.findall(arguments)
        named = [decoded(part).decode(errors="replace") for part in parts if len(part) < 2000]
        paths = [name for name in named if name.startswith((str(folder), str(acks)))]
        if not paths:
            continue
        if paths[0].startswith(str(acks)):
            if call == "write":
                id_, seq = decoded(parts[-1]).decode().split()
                told.append((id_, int(seq)))
                yield dict(told), disk
        elif call in ("write", "pwrite64"):
            place = int(arguments.split(",")[-1]) if call == "pwrite64" else None
            disk.write(paths[0], decoded(parts[1]) if len(parts) > 1 else b"", place)
        else:
            disk.take(call, paths, arguments)


def losses(tmp_path, acks, memory, answers, **life):
    """Count cuts, and those after which an acknowledged answer is missing or nothing opens."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    folder, trace = tmp_path / "store", tmp_path / "trace"
    folder.mkdir()
    strace = ["strace", "-f", "--seccomp-bpf", "-y", "-xx", "-s", "1000000"]
    address = str(folder / "labels.db")
    with Nursery(*strace, "-o", str(trace), "-e", f"trace={CALLS}") as nursery:
        nursery.run("annotate_once", address=address, acks=str(acks), answers=answers, **life)
    coins, made, lost = random.Random(1), 0, 0
    for told, disk in cuts(trace, folder, acks):
        for share in SHARES:
            for left in memory.iterdir():
                left.unlink()
            for name, content in disk.after_a_cut(share, coins).items():
                (memory / name).write_bytes(content)
            made += 1
            lost += not all_there(memory / "labels.db", told)
    return made, lost


def all_there(path, told):
    try:
        with open_store(path) as store:
            found = {e.body["id"]: seq for seq, e in store.events() if e.kind == "answered"}
            return store.verify().ok and told.items() <= found.items()
    except StoreError:
        return False


@pytest.mark.parametrize(
    ("answers", "checkpoint"), [(150, 50), pytest.param(2000, 1000, marks=pytest.mark.slow)]
)
def test_a_power_cut_loses_nothing(tmp_path, acks, memory, answers, checkpoint):
    made, lost = losses(tmp_path, acks, memory, answers, checkpoint=checkpoint)
    assert made >= 3 * answers
    assert lost == 0


def test_the_test_can_fail(tmp_path, acks, memory):
    """Control: a store that does not flush its commits."""
    made, lost = losses(tmp_path, acks, memory, 30, synchronous="NORMAL")
    assert lost > 0.5 * made
