"""Who may come in: accounts with passwords, sessions behind cookies, and tokens of programs.

Passwords are kept as Argon2 hashes in a file that its owner alone reads. A session is a random
secret in a cookie; the server keeps its SHA-256 only. A session ends when it is idle too long, when
its person signs out, and when the account is removed.
"""

import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

Role = Literal["annotator", "owner"]
ROLES: tuple[Role, ...] = ("annotator", "owner")
SHORTEST_PASSWORD = 10
MOST_SESSIONS = 10_000


class Person(NamedTuple):
    """Somebody who was let in. An owner may change settings, add items and export."""

    name: str
    role: Role


class Accounts:
    """Names, roles and Argon2 hashes, kept in one file with mode 0600."""

    def __init__(self, path: Path, hasher: PasswordHasher | None = None) -> None:
        self.path = Path(path)
        self._hasher = hasher or PasswordHasher()
        self._lock = threading.Lock()
        self._nobody = self._hasher.hash(secrets.token_hex())
        self._rows: dict[str, dict[str, str]] = {}
        if self.path.exists():
            self._rows = json.loads(self.path.read_text("utf-8"))

    def __len__(self) -> int:
        return len(self._rows)

    def people(self) -> list[Person]:
        """Return everybody who has an account, by name."""
        return [_person(name, row) for name, row in sorted(self._rows.items())]

    def add(self, name: str, password: str, role: Role = "annotator") -> Person:
        """Add an account, or give an account another password and role."""
        if len(password) < SHORTEST_PASSWORD:
            raise ValueError(f"a password has at least {SHORTEST_PASSWORD} characters")
        if role not in ROLES:
            raise ValueError(f"role is {role!r}; it is one of {', '.join(ROLES)}")
        with self._lock:
            self._rows[name] = {"role": role, "hash": self._hasher.hash(password)}
            self._write()
        return Person(name, role)

    def remove(self, name: str) -> bool:
        """Remove an account; its sessions are the caller's to end."""
        with self._lock:
            gone = self._rows.pop(name, None) is not None
            if gone:
                self._write()
        return gone

    def check(self, name: str, password: str) -> Person | None:
        """Return whose password this is. An unknown name takes as long as a wrong password."""
        row = self._rows.get(name)
        try:
            self._hasher.verify(row["hash"] if row else self._nobody, password)
        except (Argon2Error, InvalidHashError):
            return None
        return _person(name, row) if row else None

    def _write(self) -> None:
        """Replace the file as a whole, so that a crash leaves the old one or the new one."""
        beside = self.path.with_name(self.path.name + ".new")
        beside.unlink(missing_ok=True)
        beside.touch(0o600, exist_ok=False)
        with beside.open("w", encoding="utf-8") as file:
            json.dump(self._rows, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path)


def _person(name: str, row: Mapping[str, str]) -> Person:
    return Person(name, "owner" if row["role"] == "owner" else "annotator")


class Sessions:
    """Secrets of cookies, and whose they are."""

    def __init__(self, idle: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.idle = idle
        self._clock = clock
        self._open: dict[bytes, tuple[Person, float]] = {}

    def open(self, person: Person) -> str:
        """Begin a session and return its secret."""
        now = self._clock()
        self._open = {k: v for k, v in self._open.items() if now - v[1] <= self.idle}
        while len(self._open) >= MOST_SESSIONS:
            self._open.pop(next(iter(self._open)))
        secret = secrets.token_urlsafe(32)
        self._open[_digest(secret)] = person, now
        return secret

    def person(self, secret: str) -> Person | None:
        """Return whose session this is, and keep it awake."""
        key, now = _digest(secret), self._clock()
        person, seen = self._open.get(key, (None, 0.0))
        if person is None or now - seen > self.idle:
            self._open.pop(key, None)
            return None
        self._open[key] = person, now
        return person

    def close(self, secret: str) -> None:
        """End one session."""
        self._open.pop(_digest(secret), None)

    def revoke(self, name: str) -> None:
        """End every session of a person."""
        self._open = {key: row for key, row in self._open.items() if row[0].name != name}


class Tokens:
    """Tokens of programs, and the single-use token of the printed address.

    Tokens are looked up by their SHA-256, so the time of a look-up tells nothing about a token.
    """

    def __init__(self, people: Mapping[str, Person], link: str | None = None) -> None:
        self._people = {_digest(token): person for token, person in people.items()}
        self._links = set() if link is None else {_digest(link)}

    def person(self, token: str) -> Person | None:
        """Return for whom a program speaks."""
        return self._people.get(_digest(token))

    def use_link(self, token: str) -> bool:
        """Tell whether this is the token of the address; from then on it is worth nothing."""
        known = _digest(token) in self._links
        self._links.discard(_digest(token))
        return known

    def new_link(self) -> str:
        """Return another single-use token."""
        link = secrets.token_urlsafe(32)
        self._links.add(_digest(link))
        return link


class Failures:
    """Failed attempts in the last minute, by name and by address."""

    def __init__(
        self, most: int = 5, window: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most, self._window, self._clock = most, window, clock
        self._times: dict[str, list[float]] = {}

    def wait(self, key: str) -> float:
        """Return how many seconds this key has to wait before the next attempt."""
        now = self._clock()
        times = [at for at in self._times.get(key, []) if now - at < self._window]
        return self._window - (now - times[0]) if len(times) >= self._most else 0.0

    def count(self, key: str) -> None:
        """Count one failure."""
        now = self._clock()
        if len(self._times) > MOST_SESSIONS:
            self._times = {k: v for k, v in self._times.items() if now - v[-1] < self._window}
        self._times[key] = [*self._times.get(key, []), now][-self._most :]

    def forget(self, key: str) -> None:
        """The right password was given."""
        self._times.pop(key, None)


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()
