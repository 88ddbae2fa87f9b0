"""Where live items come from: brokers that hand out messages, behind one protocol."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from selectron.extras import extra

__all__ = ["Away", "Message", "Source", "source_of"]


class Away(ConnectionError):
    """The source cannot be reached now. Try again: `read` begins with what was not settled."""


class Message(NamedTuple):
    """What a source hands out.

    Attributes
    ----------
    id : str
        No other message of the source has the same id.
    place : str
        Where the message lies, for people, such as "mail:1700000000000-0".
    values : dict
        Its columns, as those of a record of a file.
    flaw : str or None
        Why the message cannot be read; it then has no values.
    raw : object
        The message as the source has it, to be set aside if it is refused.
    """

    id: str
    place: str
    values: dict[str, object]
    flaw: str | None = None
    raw: Any = None


class Source(Protocol):
    """A stream of messages at a broker, read by one consumer.

    A message may be handed out more than once, and in another order after a crash: whoever takes
    it must know it by its id.
    """

    name: str  # the same at every start, and without passwords, for it is kept in the log

    def read(self, most: int, seconds: float) -> list[Message]:
        """Return the next messages; none if none came in so many seconds.

        What was handed out before and not settled comes first. Raises `Away`; ValueError if trying
        again cannot help.
        """

    def settle(self, messages: Sequence[Message], refused: Mapping[str, str]) -> None:
        """Never hand out these messages again, and set aside those refused, with the reason.

        All or nothing, as far as the broker can. After `Away` nobody knows: read again.
        """

    def close(self) -> None:
        """Disconnect."""


def source_of(url: str, stream: str, group: str, consumer: str) -> Source:
    """Return the source at an address; nothing is connected yet.

    Parameters
    ----------
    url : str
        `redis://host:port/0`, `rediss://…` with TLS, or `unix://` and the path of a socket.
    stream : str
        Which stream of the broker.
    group : str
        The broker remembers for each group what it has been handed out.
    consumer : str
        The member of the group that reads: the same name again is handed out first what it was
        handed out before and did not settle.
    """
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError(f"{url} is no source: give redis://HOST:PORT/0")
    with extra("redis"):
        from selectron.labelling.sources.redis import RedisStream  # noqa: PLC0415

    return RedisStream(url, stream, group, consumer)
