"""Where live items come from: brokers that hand out messages, behind one protocol."""

from selectron.extras import extra
from selectron.labelling.sources.protocol import Away, Message, Source

__all__ = ["Away", "Message", "Source", "source_of"]


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
