"""The gate before every call: which host, from which page, who, how much, how slowly.

The gate is plain ASGI around the application, so that static files, errors and unknown paths pass
it as well. It also gives every response the headers that keep a browser careful, and counts it.
"""

import asyncio
import base64
import json
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from fastapi import Request

from selectron.labelling import strict_json
from selectron.labelling.server.accounts import Person, Sessions, Tokens
from selectron.labelling.server.logs import Log, Metrics, place_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
OPEN_PATHS = {"/", "/login", "/healthz", "/metrics", "/openapi.json", "/favicon.ico"}
OPEN_CALLS = {"/api/v1/session"}  # signing in is how one gets a session
EVENTS = "/api/v1/events"
DOORS = {"/", "/login"}  # a link from elsewhere may lead here, and nowhere else
CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Turned(Exception):
    """A call that is turned away, with what its maker may do about it."""

    def __init__(self, status: int, error: str, remedy: str, retry_after: int | None = None):
        super().__init__(error)
        self.status, self.error, self.remedy, self.retry_after = status, error, remedy, retry_after


class Limits(NamedTuple):
    """How much one call may bring, how long it may take, and how many at a time."""

    body: int = 1 << 20
    bulk_body: int = 16 << 20  # items, which come in thousands
    body_seconds: float = 10.0
    calls: int = 256
    connections: int = 1024
    header_seconds: float = 10.0


BULK_PATHS = {"/api/v1/items", "/predict", "/webhook"}


@dataclass
class Gate:
    """Who is let in, and from where."""

    origins: frozenset[str]
    tokens: Tokens
    sessions: Sessions
    cookie: str
    limits: Limits = field(default_factory=Limits)
    proxy: str | None = None
    log: Log = field(default_factory=Log)
    metrics: Metrics = field(default_factory=Metrics)
    hosts: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """An origin's host, with its port, is the only Host that a request may name."""
        self.hosts = frozenset(urlsplit(origin).netloc for origin in self.origins)


class Guard:
    """The gate as ASGI middleware."""

    def __init__(self, app: App, gate: Gate) -> None:
        self.app, self.gate = app, gate
        self.calls = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a call pass, or answer it."""
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            await receive()
            return await send({"type": "websocket.close", "code": 1008})
        return await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, reply = time.perf_counter(), _Reply(send)
        counts = scope["path"] != EVENTS  # streams last; connections are capped
        self.calls += counts
        try:
            receive = await self._admit(scope, receive)
            await self.app(scope, receive, reply.send)
        except Turned as turned:
            await reply.turn(turned)
        except Exception as error:
            self.gate.log.write("failed", error=place_of(error))
            if not reply.status:
                await reply.turn(Turned(500, "The server failed.", "Tell its keeper."))
        finally:
            self.calls -= counts
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", "unknown")
            self.gate.metrics.count(scope["method"], route, reply.status, seconds)
            self.gate.log.write(
                "request",
                method=scope["method"],
                route=route,
                status=reply.status,
                ms=round(1000 * seconds, 2),
            )

    async def _admit(self, scope: Scope, receive: Receive) -> Receive:
        headers = _single(scope["headers"])
        path, method = scope["path"], scope["method"]
        if headers.get("host") not in self.gate.hosts:
            raise Turned(421, "This host is not served here.", "Use the address that was printed.")
        reads = method in ("GET", "HEAD")
        cookie = cookies(headers).get(self.gate.cookie)
        _check_site(headers, reads and path in DOORS)
        if not reads:
            self._check_origin(headers, cookie)
        person = self._identify(headers, cookie)
        scope["state"] = scope.get("state", {}) | {
            "person": person,
            "cookie": cookie,
            "body": None,
            "address": self._address(scope, headers),
        }
        if person is None and not _is_open(path):
            if "authorization" in headers:
                raise Turned(
                    401,
                    "This token is not known.",
                    "Read the file of --token-file: a start renews it.",
                )
            raise Turned(401, "Nobody is signed in.", "Open the printed address, or send a token.")
        if self.calls > self.gate.limits.calls:
            raise Turned(503, "Too many calls at a time.", "Try again in a second.", 1)
        return receive if reads else await self._body(scope, headers, receive)

    def _check_origin(self, headers: dict[str, str], cookie: str | None) -> None:
        """A page of another origin may not act for who is signed in here."""
        origin = headers.get("origin")
        if origin is None:
            if "authorization" not in headers or cookie is not None:
                raise Turned(403, "The call names no origin.", "Send a token and no cookie.")
        elif origin not in self.gate.origins:
            raise Turned(403, "The call comes from another page.", "Use the address printed.")

    def _identify(self, headers: dict[str, str], cookie: str | None) -> Person | None:
        kind, _, secret = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self.gate.tokens.person(secret.strip())
        if kind.lower() == "basic":  # Label Studio has no other way to send a token
            return self.gate.tokens.person(_password(secret))
        return None if cookie is None else self.gate.sessions.person(cookie)

    def _address(self, scope: Scope, headers: dict[str, str]) -> str:
        """Return the caller's address; a named proxy is believed when it names another."""
        address = (scope.get("client") or ("", 0))[0]
        if self.gate.proxy is not None and address == self.gate.proxy:
            return headers.get("x-forwarded-for", address).rpartition(",")[2].strip()
        return str(address)

    async def _body(self, scope: Scope, headers: dict[str, str], receive: Receive) -> Receive:
        """Read the body. Its value goes into the state of the call; its bytes can be read again."""
        limits = self.gate.limits
        cap = limits.bulk_body if scope["path"] in BULK_PATHS else limits.body
        try:
            async with asyncio.timeout(limits.body_seconds):
                body = await _read(receive, cap)
        except TimeoutError:
            raise Turned(408, "The body came too slowly.", "Send it again.") from None
        if body:
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise Turned(415, "The body is not JSON.", "Send Content-Type: application/json.")
            try:
                scope["state"]["body"] = strict_json.loads(body)
            except strict_json.NotJSON as error:
                raise Turned(400, str(error), "Send one JSON object.") from None
            except strict_json.BadValue as error:
                raise Turned(422, str(error), "Leave it out.") from None
        return _Again(body, receive)


class _Again:
    """The body once more, for the application; then what the connection says."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self.body: bytes | None = body
        self.receive = receive

    async def __call__(self) -> Message:
        if self.body is None:
            return await self.receive()
        body, self.body = self.body, None
        return {"type": "http.request", "body": body, "more_body": False}


class _Reply:
    """A response on its way out, with the headers that every response has."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            named = {name for name, _ in message["headers"]}
            extra = HEADERS if b"cache-control" in named else [*HEADERS, NO_STORE]
            message["headers"] = [*message["headers"], *extra]
        await self._send(message)

    async def turn(self, turned: Turned) -> None:
        body = json.dumps({"error": turned.error, "remedy": turned.remedy}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
        ]
        if turned.status in (408, 413):
            headers.append((b"connection", b"close"))
        if turned.retry_after is not None:
            headers.append((b"retry-after", b"%d" % turned.retry_after))
        await self.send(
            {"type": "http.response.start", "status": turned.status, "headers": headers}
        )
        await self.send({"type": "http.response.body", "body": body})


NO_STORE = (b"cache-control", b"no-store")


async def _read(receive: Receive, cap: int) -> bytes:
    """Read a body. One that is too long is read on for a while, so that its sender hears why."""
    parts, size, more = [], 0, True
    while more and size <= 4 * cap:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        part = message.get("body", b"")
        size += len(part)
        if size <= cap:
            parts.append(part)
        more = message.get("more_body", False)
    if size > cap:
        raise Turned(413, f"The body is longer than {cap} bytes.", "Send less at a time.")
    return b"".join(parts)


def _single(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by name. A guarded header that comes twice is refused: which would count?"""
    headers: dict[str, str] = {}
    for name, value in pairs:
        key = name.decode("latin-1").lower()
        if key in headers and key in ("host", "origin", "authorization", "content-type"):
            raise Turned(400, f"The header {key} comes twice.", "Send it once.")
        joint = "; " if key == "cookie" else ", "
        text = value.decode("latin-1")
        headers[key] = headers[key] + joint + text if key in headers else text
    return headers


def cookies(headers: dict[str, str]) -> dict[str, str]:
    """Return the cookies of a request."""
    if "cookie" not in headers:  # programs have none, and an empty jar takes .1 ms
        return {}
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(headers["cookie"])
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in jar.items()}


def _password(basic: str) -> str:
    try:
        return base64.b64decode(basic, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _check_site(headers: dict[str, str], door: bool) -> None:
    """Browsers say where a request comes from. Another port of this machine is another site."""
    site = headers.get("sec-fetch-site", "none")
    if site in ("same-origin", "none"):
        return
    if not (door and headers.get("sec-fetch-mode") == "navigate"):
        raise Turned(403, "The call comes from another page.", "Use the address that was printed.")


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path in OPEN_CALLS or path.startswith("/page/")


def person_of(request: Request) -> Person:
    """Return who makes a call that the gate let pass."""
    person: Person = request.state.person
    return person


def owner_of(request: Request) -> Person:
    """Return the owner who makes a call; turn others away."""
    person = person_of(request)
    if person.role != "owner":
        raise Turned(403, "Only an owner may do this.", "Ask an owner.")
    return person
