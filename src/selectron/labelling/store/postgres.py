"""Events in PostgreSQL, for teams that have a server.

One session writes. It holds an advisory lock, which the server gives back when the session ends,
however it ends; so whoever writes is the only one who does. Events are numbered here and not by a
sequence of the server, whose numbers have gaps after every crash. A lost connection is never opened
again by itself: whether the last commit was kept is known only after reading the log anew. The
address is that of the server, and not of a pool in which sessions are shared.

The server guards its own write-ahead log with checksums, so there is no mark outside of it.
"""

import contextlib
import json
import logging
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import psycopg

from selectron.labelling.events import Event, Reply
from selectron.labelling.store import (
    GENESIS,
    SNAPSHOTS_KEPT,
    Damaged,
    DiskFull,
    Held,
    Report,
    Row,
    StoreError,
    Writing,
    checked,
    examine,
)
from selectron.labelling.store.sqlite import SqliteStore

# Step k makes a store of version k out of one of version k - 1. Steps are only ever added.
MIGRATIONS = [
    """
    CREATE TABLE selectron_events (
        seq bigint PRIMARY KEY, kind text NOT NULL, client text UNIQUE,
        line text NOT NULL, hash bytea NOT NULL
    );
    CREATE TABLE selectron_snapshots (
        seq bigint PRIMARY KEY, data bytea NOT NULL, digest text NOT NULL,
        hash bytea NOT NULL, checksum bytea NOT NULL
    );
    """,
]
SESSION = (
    "SET synchronous_commit = on",
    # A holder whose machine lost its power gives up the lock in half a minute, not in two hours.
    "SET tcp_keepalives_idle = 10",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 4",
)
LOCK = "hashtextextended('selectron ' || current_schema(), 0)"
HOLDER = f"""
    SELECT pid, application_name FROM pg_stat_activity JOIN pg_locks USING (pid)
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32) | objid::bigint = {LOCK}
"""
Session = psycopg.Connection[tuple[Any, ...]]
logger = logging.getLogger(__name__)


class PostgresStore(Writing):
    """A store on a server; see `Store`."""

    def __init__(self, url: str, readonly: bool = False) -> None:
        super().__init__(readonly)
        self._url = url
        with _said(), contextlib.ExitStack() as opened:
            self._db = opened.enter_context(contextlib.closing(_connect(url)))
            info = self._db.info
            self.name = f"PostgreSQL database {info.dbname} on {info.host or 'this machine'}"
            if not readonly:
                self._hold()
                opened.callback(self._release)
            self._check_version()
            if not readonly:
                self._migrate()
                self._last, self._head = _end(self._db)
            self._open = opened.pop_all()
        logger.info("opened %s, server %s", self.name, info.server_version)

    def _insert(self, rows: list[Row]) -> None:
        with self._transaction() as db, db.cursor() as cursor:
            cursor.executemany("INSERT INTO selectron_events VALUES (%s, %s, %s, %s, %s)", rows)

    def events(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        with self._reading() as db:
            for row, event in checked(_rows(db, after), after, _hash_at(db, after)):
                yield row.seq, event

    def save_snapshot(self, seq: int, data: bytes, digest: str) -> None:
        with self._lock:
            self._check_writable()
            with self._transaction() as db:
                db.execute("DELETE FROM selectron_snapshots WHERE seq = %s", (seq,))
                db.execute(
                    "INSERT INTO selectron_snapshots VALUES (%s, %s, %s, %s, %s)",
                    (seq, data, digest, _hash_at(db, seq), sha256(data).digest()),
                )
                db.execute(
                    "DELETE FROM selectron_snapshots WHERE seq NOT IN"
                    " (SELECT seq FROM selectron_snapshots ORDER BY seq DESC LIMIT %s)",
                    (SNAPSHOTS_KEPT,),
                )

    def snapshot(self) -> tuple[int, bytes, str] | None:
        with self._reading() as db:
            for seq, data, digest, hash_, checksum in db.execute(
                "SELECT seq, data, digest, hash, checksum FROM selectron_snapshots"
                " ORDER BY seq DESC"
            ).fetchall():
                ours = seq <= _end(db)[0] and hash_ == _hash_at(db, seq)
                if ours and sha256(data).digest() == checksum:
                    return seq, data, digest
                logger.warning("the snapshot at event %d does not belong to this log", seq)
        return None

    def verify(self) -> Report:
        @contextmanager
        def rows() -> Iterator[Iterator[Row]]:
            with self._reading() as db:
                yield _rows(db, 0)

        return examine(rows(), None)

    def backup(self, path: Path | str) -> None:
        path = Path(path).absolute()
        if path.exists():
            raise StoreError(f"{path} exists: a backup goes to a new file")
        with (
            tempfile.TemporaryDirectory(dir=path.parent) as folder,
            SqliteStore(Path(folder, "copy.db")) as copy,
        ):
            saved = self.snapshot()  # first, so that the events cover it
            events = (event for _, event in self.events())
            while batch := list(islice(events, 1000)):
                copy.append(batch)
            if saved:
                copy.save_snapshot(*saved)
            copy.backup(path)

    def info(self) -> Reply:
        with self._reading() as db:
            kinds = db.execute(
                "SELECT kind, count(*) FROM selectron_events GROUP BY kind ORDER BY kind"
            ).fetchall()
            snapshots = db.execute("SELECT seq FROM selectron_snapshots ORDER BY seq").fetchall()
            size = db.execute(
                "SELECT pg_total_relation_size('selectron_events')"
                " + pg_total_relation_size('selectron_snapshots')"
            ).fetchone()
            return {
                "store": self.name,
                "engine": f"PostgreSQL {_one(db, 'SHOW server_version')}",
                "version": _version(db),
                "events": _end(db)[0],
                "kinds": dict(kinds),
                "snapshots": [seq for (seq,) in snapshots],
                "bytes": size[0] if size else 0,
                "fsync": _one(db, "SHOW fsync"),
                "fsync_ms": _commit_milliseconds(self._url),
            }

    def __str__(self) -> str:
        return self.name

    def _hold(self) -> None:
        """Take the lock of the one who writes; whoever comes second is told who came first."""
        if _one(self._db, f"SELECT pg_try_advisory_lock({LOCK})"):
            return
        pid, host = None, ""
        if found := self._db.execute(HOLDER).fetchone():
            name, _, host = (found[1] or "").partition("@")
            pid = int(name.removeprefix("selectron ")) if name.startswith("selectron ") else None
        raise Held(self.name, pid, host)

    def _release(self) -> None:
        """Give the lock back at once; the server ends a session a little after the client does."""
        with contextlib.suppress(psycopg.Error):
            self._db.execute("SELECT pg_advisory_unlock_all()")

    def _check_version(self) -> None:
        version = _version(self._db)
        if version > len(MIGRATIONS):
            raise StoreError(
                f"{self.name} has version {version}, and this selectron reads up to "
                f"{len(MIGRATIONS)}: install a newer one"
            )
        if self._readonly and not version:
            raise StoreError(f"there is no store in the {self.name}")
        if _one(self._db, "SHOW fsync") != "on":
            logger.warning("%s has fsync off: a power cut loses acknowledged events", self.name)

    def _migrate(self) -> None:
        version = _version(self._db)
        if version < len(MIGRATIONS):
            with self._transaction() as db:
                for step in MIGRATIONS[version:]:
                    db.execute(step.encode())
                db.execute("CREATE TABLE IF NOT EXISTS selectron_version (version integer)")
                db.execute("DELETE FROM selectron_version")
                db.execute("INSERT INTO selectron_version VALUES (%s)", (len(MIGRATIONS),))

    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        """Commit what the block does, or stop for good: the session ends, and with it the lock."""
        try:
            with _said(), self._db.transaction():
                yield self._db
        except BaseException as error:
            self._failing(error)
            self._open.close()
            raise

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        """Read one state of the log, in a session of its own."""
        with _said(), contextlib.closing(_connect(self._url)) as db, db.transaction():
            db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield db


def _connect(url: str) -> Session:
    name = f"selectron {os.getpid()}@{socket.gethostname()}"
    db = psycopg.connect(url, autocommit=True, application_name=name[:63], connect_timeout=10)
    for setting in SESSION:
        db.execute(setting.encode())
    return db


@contextmanager
def _said() -> Iterator[None]:
    """Say in our own words what the server raises."""
    try:
        yield
    except psycopg.errors.DiskFull as error:
        raise DiskFull(f"PostgreSQL: {error}") from error
    except psycopg.errors.DataCorrupted as error:
        raise Damaged(f"PostgreSQL: {error}") from error
    except psycopg.Error as error:
        raise StoreError(f"PostgreSQL: {error}".strip()) from error
    except json.JSONDecodeError as error:
        raise Damaged(f"PostgreSQL: {error}") from error


def _one(db: Session, query: str) -> Any:
    found = db.execute(query.encode()).fetchone()
    return found[0] if found else None


def _version(db: Session) -> int:
    if _one(db, "SELECT to_regclass('selectron_version')") is None:
        return 0
    return int(_one(db, "SELECT version FROM selectron_version") or 0)


def _end(db: Session) -> tuple[int, bytes]:
    query = "SELECT seq, hash FROM selectron_events ORDER BY seq DESC LIMIT 1"
    found = db.execute(query).fetchone()
    return (found[0], found[1]) if found else (0, GENESIS)


def _hash_at(db: Session, seq: int) -> bytes:
    if seq == 0:
        return GENESIS
    query = "SELECT hash FROM selectron_events WHERE seq = %s"
    found = db.execute(query, (seq,)).fetchone()
    if not found:
        raise Damaged(f"event {seq} is missing")
    hash_: bytes = found[0]
    return hash_


def _rows(db: Session, after: int) -> Iterator[Row]:
    with db.cursor("selectron_rows") as cursor:  # on the server: it sends a part at a time
        cursor.itersize = 1000
        query = "SELECT * FROM selectron_events WHERE seq > %s ORDER BY seq"
        yield from map(Row._make, cursor.execute(query, (after,)))


def _commit_milliseconds(url: str) -> float:
    """Measure how long the server takes to keep a few bytes for good."""
    times = []
    with contextlib.closing(_connect(url)) as other:
        for _ in range(5):
            start = perf_counter()
            other.execute("SELECT pg_logical_emit_message(true, 'selectron', '')")
            times.append(perf_counter() - start)
    return round(1000 * median(times), 3)
