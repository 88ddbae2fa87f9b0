"""Events in one SQLite file, for one machine.

The sqlite3 of the standard library may be older than 3.51.3, whose write-ahead log can lose commits
when one connection writes while another one resets the log. That cannot happen here: one connection
does all writes and all checkpoints, other connections only read (`mode=ro`), and a lock on
`FILE.db.lock` keeps other writers out.

`synchronous=FULL` makes every commit durable. One that comes back from a crash may have been
written and not flushed, so opening the store flushes what it finds before anybody is told of it.
"""

import contextlib
import fcntl
import json
import logging
import os
import socket
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

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
    missing,
)
from selectron.labelling.store.mark import Mark, error_of, flush, flush_folder, read_mark

MAGIC = b"SQLite format 3\0"  # how a file of SQLite begins
APPLICATION = 0x53454C45  # "SELE", in the header of the file
# Step k makes a store of version k out of one of version k - 1. Steps are only ever added.
MIGRATIONS = [
    """
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, client TEXT UNIQUE,
        line TEXT NOT NULL, hash BLOB NOT NULL
    );
    CREATE TABLE snapshots (
        seq INTEGER PRIMARY KEY, data BLOB NOT NULL, digest TEXT NOT NULL,
        hash BLOB NOT NULL, checksum BLOB NOT NULL
    );
    """,
]
PRAGMAS = {
    "synchronous": "FULL",  # less loses acknowledged events at a power cut
    "fullfsync": "ON",  # macOS: flush the cache of the disk too
    "checkpoint_fullfsync": "ON",
}
logger = logging.getLogger(__name__)


class SqliteStore(Writing):
    """A store in one file; see `Store`."""

    def __init__(self, path: Path, readonly: bool = False) -> None:
        super().__init__(readonly)
        self.path = path.absolute()
        with _said(self.path):
            _check_place(self.path)
        if readonly:
            if not self.path.exists():
                raise StoreError(f"there is no store at {self.path}")
            with _said(self.path):
                self._check()
            return
        with _said(self.path), contextlib.ExitStack() as opened:
            opened.callback(os.close, _hold(self.path))
            self._check()
            self._mark = opened.enter_context(closing(Mark(_beside(self.path, "mark"))))
            self._db = opened.enter_context(closing(_plain(self.path)))
            self._prepare()
            # While a second connection is open, closing the first one does not checkpoint. A
            # checkpoint after a failed fsync could spread what was not written.
            guard = opened.enter_context(closing(_reader(self.path)))
            self._last, self._head = _end(guard)
            self._mark.write(self._last, self._head)
            flush_folder(self.path.parent)
            self._open = opened.pop_all()
        logger.info("opened %s at event %d, SQLite %s", path, self._last, sqlite3.sqlite_version)

    def _insert(self, rows: list[Row]) -> None:
        with self._transaction() as db:
            db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
        with self._fail_stop():
            self._mark.write(rows[-1].seq, rows[-1].hash)

    def events(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        with _said(self.path), closing(_reader(self.path)) as db:
            for row, event in checked(_rows(db, after), after, _hash_at(db, after)):
                yield row.seq, event

    def save_snapshot(self, seq: int, data: bytes, digest: str) -> None:
        with self._lock:
            self._check_writable()
            with self._transaction() as db:
                values = (seq, data, digest, _hash_at(db, seq), sha256(data).digest())
                db.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", values)
                db.execute(
                    "DELETE FROM snapshots WHERE seq NOT IN"
                    " (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT ?)",
                    (SNAPSHOTS_KEPT,),
                )

    def snapshot(self) -> tuple[int, bytes, str] | None:
        with _said(self.path), closing(_reader(self.path)) as db:
            for seq, data, digest, hash_, checksum in db.execute(
                "SELECT seq, data, digest, hash, checksum FROM snapshots ORDER BY seq DESC"
            ):
                ours = seq <= _end(db)[0] and hash_ == _hash_at(db, seq)
                if ours and sha256(data).digest() == checksum:
                    return seq, data, digest
                logger.warning("the snapshot at event %d does not belong to this log", seq)
        return None

    def verify(self) -> Report:
        return _verify(self.path)

    def backup(self, path: Path | str) -> None:
        path = Path(path).absolute()
        if path.exists():
            raise StoreError(f"{path} exists: a backup goes to a new file")
        part = _beside(path, "part")
        part.unlink(missing_ok=True)
        with _said(part), closing(_reader(self.path)) as db, closing(_plain(part)) as copy:
            db.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # the copy is one file
            end = _end(copy)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        report = _verify(part)
        if not report.ok:
            raise Damaged(f"the backup of {self.path} is damaged: {report.problems[0]}")
        _beside(path, "mark").unlink(missing_ok=True)  # of a backup that is gone
        with closing(Mark(_beside(path, "mark"))) as mark:
            mark.write(*end)
        part.rename(path)
        flush_folder(path.parent)

    def info(self) -> Reply:
        with _said(self.path), closing(_reader(self.path)) as db:
            kinds = dict(
                db.execute("SELECT kind, count(*) FROM events GROUP BY kind ORDER BY kind")
            )
            snapshots = [seq for (seq,) in db.execute("SELECT seq FROM snapshots ORDER BY seq")]
            version = _pragma(db, "user_version")
            last = _end(db)[0]
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return {
            "store": str(self.path),
            "engine": f"SQLite {sqlite3.sqlite_version}",
            "version": version,
            "events": last,
            "kinds": kinds,
            "snapshots": snapshots,
            "bytes": sum(file.stat().st_size for file in files if file.exists()),
            "fsync_ms": _flush_milliseconds(self.path.parent),
        }

    def __str__(self) -> str:
        return str(self.path)

    def _check(self) -> None:
        """Refuse a log that is not ours, too new, or shorter than what was acknowledged."""
        marked = read_mark(_beside(self.path, "mark"))  # before the log, which another may write to
        last, at_mark = 0, GENESIS
        if self.path.exists() and self.path.stat().st_size:
            with closing(_reader(self.path)) as db:
                version = _check_version(self.path, db)
                if self._readonly and version < len(MIGRATIONS):
                    raise StoreError(
                        f"{self.path} has version {version}: open it for writing once, "
                        f"which brings it to version {len(MIGRATIONS)}"
                    )
                last = _end(db)[0] if version else 0  # of version 0: begun, and left at once
                if marked is None and last:
                    logger.warning("%s has no mark: a lost end cannot be noticed", self.path)
                if marked and marked.seq <= last:
                    at_mark = _hash_at(db, marked.seq)
        if marked and (marked.seq > last or marked.head != at_mark):
            said = missing(last, marked.seq) if marked.seq > last else "the log is another one"
            raise Damaged(
                f"{self.path} is damaged: {said}; restore a backup, or delete "
                f"{_beside(self.path, 'mark')} to go on with what is left"
            )

    def _prepare(self) -> None:
        """Set how commits are kept, bring the tables up to date, and flush what is there."""
        db = self._db
        if db.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise StoreError(f"{self.path}: this file system cannot hold a write-ahead log")
        for name, value in PRAGMAS.items():
            db.execute(f"PRAGMA {name} = {value}")
        version = _pragma(db, "user_version")
        if version < len(MIGRATIONS):
            steps = "".join(MIGRATIONS[version:])
            db.executescript(
                f"BEGIN IMMEDIATE; {steps} PRAGMA application_id = {APPLICATION};"
                f"PRAGMA user_version = {len(MIGRATIONS)}; COMMIT"
            )
        db.execute("PRAGMA wal_checkpoint(PASSIVE)")

    @contextmanager
    def _fail_stop(self) -> Iterator[None]:
        try:
            with _said(self.path):
                yield
        except BaseException as error:
            self._failing(error)
            self._db.close()  # while the guard is open
            raise

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._fail_stop():
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db
            self._db.execute("COMMIT")


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}.{suffix}")


def _check_place(path: Path) -> None:
    """Refuse a path that no store can be at, before anything is made beside it."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder, not a store: name a file, {path / 'labels.db'} say")
    if not path.parent.is_dir():
        raise StoreError(f"there is no folder {path.parent}: make it, or name another store")
    mends = any(path.with_name(path.name + end).exists() for end in ("-wal", "-journal"))
    if path.exists() and not mends:  # otherwise SQLite mends what a power cut has torn
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
        if start and start != MAGIC:
            raise Damaged(
                f"{path} is no store, or its beginning is damaged: name another file, or restore "
                "a backup"
            )


def _plain(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


def _reader(path: Path) -> sqlite3.Connection:
    """Open a connection that can only read."""
    address = f"{path.as_uri()}?mode=ro"
    db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return db


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """Say in our own words what SQLite and the system raise."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        kind = {
            sqlite3.SQLITE_FULL: DiskFull,
            sqlite3.SQLITE_CORRUPT: Damaged,
            sqlite3.SQLITE_NOTADB: Damaged,
        }.get(code, StoreError)
        raise kind(f"{path}: {error}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Damaged(f"{path} is damaged: {error}") from error
    except OSError as error:
        raise error_of(path, error) from error


def _check_version(path: Path, db: sqlite3.Connection) -> int:
    """Return the version of the tables, 0 if there are none yet."""
    version = _pragma(db, "user_version")
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and _pragma(db, "application_id") != APPLICATION:
        raise StoreError(f"{path} is a database of another program: name another file")
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{path} has version {version}, and this selectron reads up to {len(MIGRATIONS)}: "
            "install a newer one"
        )
    return version


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def _end(db: sqlite3.Connection) -> tuple[int, bytes]:
    found = db.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    return (found[0], found[1]) if found else (0, GENESIS)


def _hash_at(db: sqlite3.Connection, seq: int) -> bytes:
    if seq == 0:
        return GENESIS
    found = db.execute("SELECT hash FROM events WHERE seq = ?", (seq,)).fetchone()
    if not found:
        raise Damaged(f"event {seq} is missing")
    hash_: bytes = found[0]
    return hash_


def _rows(db: sqlite3.Connection, after: int) -> Iterator[Row]:
    query = "SELECT seq, kind, client, line, hash FROM events WHERE seq > ? ORDER BY seq"
    return map(Row._make, db.execute(query, (after,)))


def _verify(path: Path) -> Report:
    marked = read_mark(_beside(path, "mark"))  # before the log: it may only be behind

    @contextmanager
    def rows() -> Iterator[Iterator[Row]]:
        with _said(path), closing(_reader(path)) as db:
            found = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found != "ok":
                raise Damaged(f"{path}: {found}")
            yield _rows(db, 0)

    return examine(rows(), marked)


def _hold(path: Path) -> int:
    """Lock the store for this process; whoever comes second is told who came first."""
    lock = _beside(path, "lock")
    file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        for _ in range(10):
            holder = lock.read_text().split()
            if len(holder) == 2:
                break
            sleep(0.02)  # the holder has locked the file, and has yet to write its name
        os.close(file)
        pid, host = holder if len(holder) == 2 else ("0", "")
        raise Held(str(path), int(pid), host) from None
    os.ftruncate(file, 0)
    os.pwrite(file, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)
    return file


def _flush_milliseconds(folder: Path) -> float | None:
    """Measure how long this disk takes to keep a few bytes for good, if one may write there."""
    times = []
    if not os.access(folder, os.W_OK):
        return None
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(5):
            start = perf_counter()
            os.pwrite(file.fileno(), bytes(64), 0)
            flush(file.fileno())
            times.append(perf_counter() - start)
    return round(1000 * median(times), 3)
