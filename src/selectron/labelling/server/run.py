"""One server process: a socket, the application, and an end without loose threads."""

import asyncio
import gc
import secrets
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from selectron.labelling.server.app import create_app
from selectron.labelling.server.guard import LOOPBACK, Limits
from selectron.labelling.server.logs import Log
from selectron.labelling.service import Service

STOP_SECONDS = 10
KEEP_SECONDS = 15
SWITCH_SECONDS = 0.0005  # calls do not wait 5 ms for the lock of a learner that computes
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Type: application/json\r\nContent-Length: 71\r\n\r\n"
    b'{"error": "Too many connections.", "remedy": "Try again in a second."} '
)


class Server:
    """A labelling server that is bound to its port and not yet running.

    `address` is what a person opens: it has the single-use token. `url` has none. `run` serves
    until `stop` is called, from any thread, or until SIGINT or SIGTERM comes.
    """

    def __init__(
        self,
        service: Service,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        token: str | None = None,
        public: str | None = None,
        limits: Limits | None = None,
        log: Path | None = None,
        **options: Any,
    ) -> None:
        if host not in LOOPBACK and (public is None or options.get("accounts") is None):
            raise ValueError(
                f"host {host} is reached from other machines; give accounts and a public origin, "
                "or leave out the host"
            )
        self.token = token or secrets.token_urlsafe(32)
        self._socket = _bind(host, port)
        self.port: int = self._socket.getsockname()[1]
        self.url = public or f"http://{'[::1]' if host == '::1' else host}:{self.port}"
        here = {f"http://{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        link = None if options.get("accounts") is not None else secrets.token_urlsafe(32)
        self.address = self.url + "/" + ("" if link is None else f"?token={link}")
        self.limits = limits or Limits()
        self.app: FastAPI = create_app(
            service,
            token=self.token,
            origin=here if public is None else here | {public},
            link=link,
            limits=self.limits,
            **options,
        )
        self._log = self.app.state.gate.log = Log(log)
        config = uvicorn.Config(
            self.app,
            http=type("Limited", (Limited,), {"limits": self.limits}),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        self._server = _Uvicorn(config)

    def run(self, ready: Callable[[str], None] | None = None) -> None:
        """Serve. `ready` is called with the address when the server takes calls."""
        self._server.ready = (lambda: ready(self.address)) if ready else None
        try:
            with _promptly():
                self._server.run(sockets=[self._socket])
        finally:
            self._log.close()

    def new_address(self) -> str:
        """Return another address that opens once, for another browser."""
        return f"{self.url}/?token={self.app.state.gate.tokens.new_link()}"

    def close(self) -> None:
        """Give the port back without having served."""
        self._socket.close()
        self._log.close()

    def stop(self) -> None:
        """Finish what is under way, end the streams, and return from `run`."""
        self._server.should_exit = True


def serve(
    service: Service,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    ready: Callable[[str], None] | None = None,
    **options: Any,
) -> None:
    """Serve until Ctrl-C. Options are those of `Server` and `create_app`.

    The caller closes the service afterwards.
    """
    Server(service, host, port, **options).run(ready)


class _Uvicorn(uvicorn.Server):
    ready: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.ready is not None and self.started:
            self.ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams first: uvicorn waits for open responses."""
        self.config.app.state.stream.stop()  # type: ignore[union-attr]
        await super().shutdown(sockets)


@contextmanager
def _promptly() -> Iterator[None]:
    """Let calls wait neither for a learner that computes nor for a collector of garbage.

    Compiled code and items are a million objects, which stay. To look for garbage among them takes
    .2 s, in which nothing is answered: one answer in a hundred would wait for that alone.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)


def _bind(host: str, port: int) -> socket.socket:
    if not 0 <= port < 1 << 16:
        raise ValueError(f"port {port} is not a number from 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((host, port))
    bound.set_inheritable(True)
    return bound


class Corked:
    """A transport that sends once a turn of the loop what was written in several pieces.

    uvicorn writes head and body apart. Each write gives up the interpreter's lock, and waits for
    it while another thread computes. One write instead of two lets 64 connections give 18 % more
    answers a second.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Keep the data until the loop turns."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Send what is kept, then close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():
            self._transport.write(b"".join(parts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Limited(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol with a cap on connections and a deadline for headers.

    uvicorn waits for the end of a request's headers as long as the client likes.
    """

    limits = Limits()
    alarm: asyncio.TimerHandle | None = None
    refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take a connection, unless there are too many."""
        self.refused = len(self.connections) >= self.limits.connections
        if self.refused:
            transport.write(BUSY)
            transport.close()
            return
        super().connection_made(Corked(transport, self.loop))
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
        if not self.refused:
            super().data_received(data)
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self.alarm is not None:
            self.alarm.cancel()
        if not self.refused:
            super().connection_lost(exc)

    def _watch(self) -> None:
        """Set the alarm while headers are awaited, at the latest when their first byte is here."""
        waits = self.cycle is None or self.cycle.response_complete
        if waits and self.alarm is None:
            self.alarm = self.loop.call_later(self.limits.header_seconds, self.transport.close)
        elif not waits and self.alarm is not None:
            self.alarm.cancel()
            self.alarm = None
