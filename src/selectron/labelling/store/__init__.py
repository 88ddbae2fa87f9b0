"""Where events are kept: SQLite or PostgreSQL, behind one protocol.

Event n is stored as one line of strict JSON. Its hash is the SHA-256 of the hash of event n - 1,
the number n and that line. So the last hash stands for the whole log: an event that is changed,
missing, added or moved gives another one.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Protocol, Self

from selectron.extras import extra
from selectron.labelling.events import Event, Reply, written

__all__ = ["Damaged", "DiskFull", "Held", "Report", "Store", "StoreError", "Unfit", "open_store"]

GENESIS = bytes(32)  # stands for the hash before event 1
WITH_CLIENT_ID = frozenset({"answered", "skipped"})  # kinds whose body has an id made by the client
SNAPSHOTS_KEPT = 2


class StoreError(RuntimeError):
    """The store cannot do what was asked; whether the last events were kept is unknown."""


class Damaged(StoreError):
    """The store is not what was acknowledged: events are missing or changed."""


class DiskFull(StoreError):
    """There is no room for more events."""


class Held(StoreError):
    """Another process writes to the store."""

    def __init__(self, store: str, pid: int | None, host: str) -> None:
        holder = f"process {pid or '?'} on {host or '?'}"
        super().__init__(f"{store} is in use by {holder}: stop that process, or use another store")
        self.pid, self.host = pid, host


class Unfit(ValueError):
    """The event cannot be written as JSON; nothing was stored."""


class Row(NamedTuple):
    """One event as the tables have it."""

    seq: int
    kind: str
    client: str | None  # the id that the client made; no two rows have the same
    line: str
    hash: bytes


class Report(NamedTuple):
    """What `verify` found."""

    events: int
    head: str  # the last hash, in hexadecimal digits: it stands for the whole log
    marked: int | None  # the last event known to be acknowledged, from outside the log
    problems: list[str]

    @property
    def ok(self) -> bool:
        return not self.problems


class Store(Protocol):
    """A durable log of events with one writer, and a few snapshots of what was made of it.

    After any error of `append` or `save_snapshot` the store refuses to write (fail-stop): only
    opening it again shows what was kept.
    """

    def append(self, events: list[Event]) -> int:
        """Keep all of these events or none; they are durable when it returns the first number."""

    def events(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        """Give the events after this number in order; raise `Damaged` where the chain breaks."""

    def save_snapshot(self, seq: int, data: bytes, digest: str) -> None:
        """Keep what was made of the events up to this number, with a digest to compare it by."""

    def snapshot(self) -> tuple[int, bytes, str] | None:
        """Return the newest whole snapshot that belongs to this log, if there is one."""

    def verify(self) -> Report:
        """Read everything and say what is wrong."""

    def backup(self, path: Path | str) -> None:
        """Copy the log to a new SQLite file, while others write, and verify the copy."""

    def info(self) -> Reply:
        """Say how many events of which kind there are, and where and how they are kept."""

    def close(self) -> None:
        """Let others write."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...


class Failing:
    """Fail-stop: after the first error while writing, every later write is refused.

    A failed fsync may have dropped the pages it could not write, and the next one then succeeds
    without them. So nothing may be written after it that would be acknowledged.
    """

    def __init__(self) -> None:
        self.reason: str | None = None

    def check(self) -> None:
        if self.reason:
            raise StoreError(f"the store must be opened again, for it stopped: {self.reason}")

    def __call__(self, error: BaseException) -> None:
        self.reason = self.reason or f"{type(error).__name__}: {error}"


class Writing:
    """What both stores have: one lock, one fail-stop, and an end."""

    _last: int  # the number of the last event
    _head: bytes  # its hash

    def __init__(self, readonly: bool) -> None:
        self._readonly = readonly
        self._failing = Failing()
        self._lock = Lock()  # of the connection that writes
        self._open = ExitStack()  # what `close` closes, in the opposite order

    def append(self, events: list[Event]) -> int:
        with self._lock:
            self._check_writable()
            first = self._last + 1
            rows = rows_of(events, self._last, self._head)
            if rows:
                self._insert(rows)
                self._last, self._head = rows[-1].seq, rows[-1].hash
            return first

    def _insert(self, rows: "list[Row]") -> None:
        """Keep rows for good, or stop for good."""
        raise NotImplementedError  # every store has its own

    def close(self) -> None:
        with self._lock:
            self._failing.reason = self._failing.reason or "it was closed"
            self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _check_writable(self) -> None:
        if self._readonly:
            raise StoreError(f"{self} was opened for reading")
        self._failing.check()


def line_of(event: Event) -> str:
    """Write an event as one line of strict JSON."""
    try:
        return written(event._asdict())
    except (TypeError, ValueError, RecursionError) as error:
        raise Unfit(f"an event of kind {event.kind!r} cannot be stored: {error}") from None


def client_of(event: Event) -> str | None:
    """Return the id that the client made for this answer, if the event is one."""
    if event.kind not in WITH_CLIENT_ID:
        return None
    client = event.body.get("id")
    if not isinstance(client, str) or "\0" in client:
        raise Unfit(f"the id of an answer must be a string without NUL, not {client!r}")
    return client


def check_fit(event: Event) -> None:
    """Raise `Unfit` if no store can keep the event."""
    line_of(event)
    client_of(event)


def link(previous: bytes, seq: int, line: str) -> bytes:
    """Return the hash of event `seq`."""
    return sha256(previous + b"%d\n" % seq + line.encode()).digest()


def rows_of(events: Iterable[Event], last: int, head: bytes) -> list[Row]:
    """Number and chain events that follow event `last` with hash `head`."""
    rows = []
    for seq, event in enumerate(events, last + 1):
        line = line_of(event)
        head = link(head, seq, line)
        rows.append(Row(seq, event.kind, client_of(event), line, head))
    return rows


def checked(rows: Iterable[Row], last: int, head: bytes) -> Iterator[tuple[Row, Event]]:
    """Read rows that follow event `last` with hash `head`; raise `Damaged` at a wrong one."""
    for row in rows:
        if row.seq != last + 1:
            raise Damaged(f"event {last + 1} is missing: event {row.seq} follows event {last}")
        if isinstance(row.line, str):  # a flipped bit can make it a number
            head = link(head, row.seq, row.line)
        if head != row.hash:
            raise Damaged(f"event {row.seq} is not what was stored: its hash does not match")
        event = Event(**json.loads(row.line))
        if (row.kind, row.client) != (event.kind, client_of(event)):
            raise Damaged(f"the columns of event {row.seq} do not match the event")
        yield row, event
        last = row.seq


def examine(
    rows: AbstractContextManager[Iterable[Row]], marked: tuple[int, bytes] | None
) -> Report:
    """Read a whole log, and compare it with the mark kept outside of it."""
    last, head, problems = 0, GENESIS, []
    at_mark = GENESIS if marked and marked[0] == 0 else None
    try:
        with rows as found:
            for row, _ in checked(found, 0, GENESIS):
                last, head = row.seq, row.hash
                if marked and last == marked[0]:
                    at_mark = head
    except StoreError as damage:
        problems.append(str(damage))
    if marked and at_mark != marked[1]:
        problems.append(
            missing(last, marked[0]) if at_mark is None else f"event {marked[0]} is another one"
        )
    return Report(last, head.hex(), marked[0] if marked else None, problems)


def missing(last: int, marked: int) -> str:
    """Say that the end of the log is lost."""
    return f"the log ends at event {last}, but event {marked} was acknowledged"


def open_store(url: str | Path, *, readonly: bool = False) -> Store:
    """Open the store at a path or at a `postgresql://` address; make it if it is new.

    Parameters
    ----------
    url : str or Path
        `FILE.db`, or `postgresql://user@host/database`.
    readonly : bool
        Read a store that another process may be writing to; nothing is made, locked or changed.
    """
    if str(url).startswith(("postgresql://", "postgres://")):
        with extra("postgres"):
            from selectron.labelling.store.postgres import PostgresStore  # noqa: PLC0415
        return PostgresStore(str(url), readonly)
    from selectron.labelling.store.sqlite import SqliteStore  # noqa: PLC0415 - beside the other

    return SqliteStore(Path(url), readonly)
