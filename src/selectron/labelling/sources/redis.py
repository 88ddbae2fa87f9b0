"""Redis Streams: each entry is a message, handed out to the consumers of a group."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    NoPermissionError,
    RedisError,
    ResponseError,
)
from redis.retry import Retry

from selectron.labelling import strict_json
from selectron.labelling.sources import Away, Message

HOPELESS = (AuthenticationError, AuthorizationError, NoPermissionError)
HOPELESS_WORDS = ("WRONGTYPE", "unknown command")  # how the server begins such an error
TIMEOUT = 10.0  # seconds that a reply may take; a read that waits for messages takes less
LONGEST = 8 << 20  # bytes of an entry
FIRST, NEW = "0", ">"  # ids from which Redis reads: what this consumer has not settled, or new ones


class RedisStream:
    """A stream of Redis, read by one consumer of a group.

    Entries that cannot be items go to the stream NAME:dead.

    Parameters
    ----------
    idle_seconds : float
        Entries that another consumer of the group left unsettled for so long are taken over.
    """

    def __init__(
        self, url: str, stream: str, group: str, consumer: str, idle_seconds: float = 60.0
    ) -> None:
        # A command that is sent again by itself could set an entry aside twice, or lose a reply
        # with entries in it. So nothing is: after an error, `read` begins anew.
        self._redis: Any = Redis.from_url(
            url,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=TIMEOUT,
            socket_connect_timeout=TIMEOUT,
        )
        where = self._redis.connection_pool.connection_kwargs
        place = where.get("path") or f"{where.get('host', 'localhost')}:{where.get('port', 6379)}"
        self.name = f"{url.partition(':')[0]}://{place}/{where.get('db', 0)}/{stream}"
        self._stream, self._dead = stream, f"{stream}:dead"
        self._group, self._consumer, self._idle_seconds = group, consumer, idle_seconds
        self._begun = False
        self._left = True  # there may be entries that were handed out before and not settled
        self._claim_at, self._cursor = 0.0, b"0-0"

    def read(self, most: int, seconds: float) -> list[Message]:
        with self._reaching():
            if not self._begun:
                self._begin()
            while self._left or self._claim(most):
                found = self._next(FIRST, most)
                self._left = bool(found)
                if found:
                    return found
            return self._next(NEW, most, max(1, round(1000 * seconds)))

    def settle(self, messages: Sequence[Message], refused: Mapping[str, str]) -> None:
        with self._reaching(), self._redis.pipeline(transaction=True) as both:
            for message in messages:
                if message.id in refused:
                    why = {"_entry": message.id, "_reason": refused[message.id]}
                    both.xadd(self._dead, message.raw | why)
            both.xack(self._stream, self._group, *(message.id for message in messages))
            both.execute()

    def close(self) -> None:
        self._redis.close()

    def _begin(self) -> None:
        """Make the group, which begins with the first entry there is."""
        try:
            self._redis.xgroup_create(self._stream, self._group, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):  # it is there
                raise
        if self._redis.type(self._dead) not in (b"none", b"stream"):
            raise ValueError(f"{self.name}: {self._dead} is no stream: rename it")
        self._begun = self._left = True

    def _claim(self, most: int) -> bool:
        """Take over what dead consumers of the group left, now and then; tell if there is any."""
        if monotonic() < self._claim_at:
            return False
        idle = round(1000 * self._idle_seconds)
        self._cursor, claimed, *_ = self._redis.xautoclaim(
            self._stream, self._group, self._consumer, idle, self._cursor, most
        )
        if not claimed and self._cursor == b"0-0":  # all were looked at
            self._claim_at = monotonic() + self._idle_seconds
        return bool(claimed)

    def _next(self, after: str, most: int, block: int | None = None) -> list[Message]:
        found = self._redis.xreadgroup(
            self._group, self._consumer, {self._stream: after}, most, block
        )
        return [
            self._message(id.decode(), fields) for _, entries in found for id, fields in entries
        ]

    def _message(self, id: str, fields: dict[bytes, bytes]) -> Message:
        place = f"{self._stream}:{id}"
        try:
            return Message(id, place, _values(fields), None, fields)
        except ValueError as error:
            return Message(id, place, {}, str(error), fields)

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Say in one word whether it helps to try again."""
        try:
            yield
        except RedisError as error:
            self._begun = False
            said = f"{self.name}: {error}"
            if isinstance(error, HOPELESS) or str(error).startswith(HOPELESS_WORDS):
                raise ValueError(said) from error
            raise Away(said) from error


def _values(fields: dict[bytes, bytes]) -> dict[str, object]:
    """Return the columns of an entry: its fields, or the object in its only field, `json`."""
    if not fields:
        raise ValueError("The entry was deleted from the stream before it was read.")
    if sum(len(name) + len(value) for name, value in fields.items()) > LONGEST:
        raise ValueError(f"The entry is longer than {LONGEST >> 20} MB.")
    if list(fields) == [b"json"]:
        values = strict_json.loads(fields[b"json"])
        if not isinstance(values, dict):
            raise ValueError("The field json holds no object.")
        return values
    values = {name.decode(): value.decode() for name, value in fields.items()}
    strict_json.check(values)
    return values
