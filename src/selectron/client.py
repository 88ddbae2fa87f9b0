"""A small client of the labelling service, for programs.

Every call that changes something has an id, made here. A call whose reply got lost is sent again
with the same id, and the service counts it once.

Examples
--------
>>> from selectron.client import Client
>>> with Client("http://127.0.0.1:8000", token) as client:       # doctest: +SKIP
...     client.push([{"id": "m1", "text": "Win a prize now"}])
...     for question in client.next(n=5)["questions"]:
...         client.answer(question["question"], "spam")
"""

import asyncio
import secrets
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, Self, TypedDict, cast

from selectron.extras import extra

with extra("label"):
    import httpx

Label = str | list[str]
Format = Literal["jsonl", "csv", "parquet", "prodigy", "label-studio"]
Doubt = Literal["most", "least"]
RETRIED = (408, 429, 502, 503, 504)

Body = dict[str, Any]  # an object of JSON that is sent
Reply = dict[str, Any]  # an object of JSON that comes back


class Item(TypedDict, total=False):
    id: str
    text: str
    image: str
    fields: Body
    vector: list[float]
    meta: Body


class Reason(TypedDict):
    kind: Literal["doubt", "audit", "first", "overlap", "stream"]
    margin: float | None
    odds: float
    text: str


class Question(TypedDict):
    question: str
    item: Item
    options: list[str]
    guess: Label | None
    reason: Reason
    lease_seconds: float


class Questions(TypedDict):
    questions: list[Question]
    why: str | None


class Durable(TypedDict):
    seq: int
    durable: bool


class Pushed(TypedDict):
    id: str
    label: Label | None
    probability: float | None
    asked: bool
    question: str | None


class CallRefused(Exception):
    """The service refused a call: what is wrong with it, and what helps."""

    def __init__(self, status: int, error: str, remedy: str) -> None:
        super().__init__(f"{error} {remedy}".strip())
        self.status, self.error, self.remedy = status, error, remedy


class _Call:
    """One call, and what each of its replies means."""

    def __init__(
        self, method: str, path: str, body: object = None, params: Body | None = None
    ) -> None:
        self.arguments: dict[str, Any] = {"method": method, "url": path, "params": params}
        if body is not None:
            self.arguments["json"] = body

    @staticmethod
    def waits(retries: int) -> Iterator[float]:
        """Yield how long to wait before each new attempt: 0.1 s, and twice as long each time."""
        return (0.1 * 2.0**attempt for attempt in range(retries))

    @staticmethod
    def pause(reply: httpx.Response, wait: float | None) -> float | None:
        """Return how long to wait before trying again; None where the reply is final."""
        if reply.status_code not in RETRIED or wait is None:
            return None
        said = reply.headers.get("Retry-After", "")
        return max(wait, float(said) if said.isdigit() else 0.0)

    @staticmethod
    def checked(reply: httpx.Response) -> httpx.Response:
        """Return the reply of a call that was not refused."""
        if reply.status_code < 400:
            return reply
        try:
            problem = reply.json()
        except ValueError:
            problem = {}
        raise CallRefused(
            reply.status_code,
            problem.get("error", f"The service answered {reply.status_code}."),
            problem.get("remedy", ""),
        )


def _answer(
    question: str | None, label: Label | None, id: str | None, item: str | None = None
) -> _Call:
    body: Body = {"id": id or new_id()}
    body |= {"skip": True} if label is None else {"label": label}
    body |= {"question": question} if question is not None else {"item": item}
    return _Call("POST", "/api/v1/answers", body)


def _items(state: str, doubt: Doubt | None, q: str, page: int) -> _Call:
    params = {"state": state, "q": q, "page": page} | ({"doubt": doubt} if doubt else {})
    return _Call("GET", "/api/v1/items", params=params)


def new_id() -> str:
    """Return an id that no other call has."""
    return secrets.token_hex(12)


class Client:
    """Calls of a labelling service, one at a time.

    Parameters
    ----------
    url : the address of the service, without a token
    token : the token that the service wrote to its token file
    retries : how often a call is sent again when no reply comes, or the service is full
    """

    def __init__(
        self, url: str, token: str, *, retries: int = 6, timeout: float = 30.0, **options: Any
    ) -> None:
        self._retries = retries
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout, **options)

    def next(self, n: int = 2) -> Questions:
        """Lease up to `n` questions."""
        return cast(Questions, self._json(_Call("GET", "/api/v1/next", params={"n": n})))

    def answer(self, question: str, label: Label, *, id: str | None = None) -> Durable:
        """Answer a question; the answer is on disk when this returns."""
        return cast(Durable, self._json(_answer(question, label, id)))

    def skip(self, question: str, *, id: str | None = None) -> Durable:
        """Say that nobody knows."""
        return cast(Durable, self._json(_answer(question, None, id)))

    def label(self, item: str, label: Label, *, id: str | None = None) -> Durable:
        """Label an item that was not asked about."""
        return cast(Durable, self._json(_answer(None, label, id, item)))

    def correct(self, id: str, label: Label) -> Durable:
        """Give the answer with this id another label."""
        call = _Call("PUT", f"/api/v1/answers/{id}", {"label": label})
        return cast(Durable, self._json(call))

    def undo(self, id: str) -> Durable:
        """Take the answer with this id back."""
        return cast(Durable, self._json(_Call("DELETE", f"/api/v1/answers/{id}")))

    def note(self, item: str, text: str) -> Durable:
        """Leave a note with an item."""
        call = _Call("POST", "/api/v1/notes", {"item": item, "text": text})
        return cast(Durable, self._json(call))

    def push(self, items: Sequence[Item]) -> list[Pushed]:
        """Add items; return what the learner says of each, and whether its label is asked."""
        reply = self._json(_Call("POST", "/api/v1/items", {"items": list(items)}))
        return cast(list[Pushed], reply["items"])

    def add_classes(self, names: Sequence[str]) -> list[str]:
        """Add classes; return all of them."""
        reply = self._json(_Call("POST", "/api/v1/classes", {"names": list(names)}))
        return cast(list[str], reply["classes"])

    def set(self, **changes: object) -> Reply:
        """Change settings, such as `budget` and `goal`; return all of them."""
        return self._json(_Call("PUT", "/api/v1/settings", changes))

    def items(
        self, state: str = "all", doubt: Doubt | None = None, q: str = "", page: int = 1
    ) -> Reply:
        """Return a page of items."""
        return self._json(_items(state, doubt, q, page))

    def status(self) -> Reply:
        """Return how far labelling has come."""
        return self._json(_Call("GET", "/api/v1/status"))

    def report(self) -> Reply:
        """Return confusion, figures of each class, and agreement."""
        return self._json(_Call("GET", "/api/v1/report"))

    def export(self, format: Format = "jsonl") -> bytes:
        """Return the labels as a file."""
        return self._send(_Call("GET", "/api/v1/export", params={"format": format})).content

    def model(self) -> bytes:
        """Return the learner as a `.selectron` file."""
        return self._send(_Call("GET", "/api/v1/model")).content

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, place: TracebackType | None
    ) -> None:
        self.close()

    def _json(self, call: _Call) -> Reply:
        return cast(Reply, self._send(call).json())

    def _send(self, call: _Call) -> httpx.Response:
        waits = call.waits(self._retries)
        while True:
            wait = next(waits, None)
            try:
                reply = self._http.request(**call.arguments)
            except httpx.TransportError:
                if wait is None:
                    raise
                pause: float | None = wait
            else:
                pause = call.pause(reply, wait)
                if pause is None:
                    return call.checked(reply)
            time.sleep(pause or 0.0)


class AsyncClient:
    """The calls of `Client`, for asyncio."""

    def __init__(
        self, url: str, token: str, *, retries: int = 6, timeout: float = 30.0, **options: Any
    ) -> None:
        self._retries = retries
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, **options)

    async def next(self, n: int = 2) -> Questions:
        """Lease up to `n` questions."""
        return cast(Questions, await self._json(_Call("GET", "/api/v1/next", params={"n": n})))

    async def answer(self, question: str, label: Label, *, id: str | None = None) -> Durable:
        """Answer a question; the answer is on disk when this returns."""
        return cast(Durable, await self._json(_answer(question, label, id)))

    async def skip(self, question: str, *, id: str | None = None) -> Durable:
        """Say that nobody knows."""
        return cast(Durable, await self._json(_answer(question, None, id)))

    async def label(self, item: str, label: Label, *, id: str | None = None) -> Durable:
        """Label an item that was not asked about."""
        return cast(Durable, await self._json(_answer(None, label, id, item)))

    async def correct(self, id: str, label: Label) -> Durable:
        """Give the answer with this id another label."""
        call = _Call("PUT", f"/api/v1/answers/{id}", {"label": label})
        return cast(Durable, await self._json(call))

    async def undo(self, id: str) -> Durable:
        """Take the answer with this id back."""
        return cast(Durable, await self._json(_Call("DELETE", f"/api/v1/answers/{id}")))

    async def note(self, item: str, text: str) -> Durable:
        """Leave a note with an item."""
        call = _Call("POST", "/api/v1/notes", {"item": item, "text": text})
        return cast(Durable, await self._json(call))

    async def push(self, items: Sequence[Item]) -> list[Pushed]:
        """Add items; return what the learner says of each, and whether its label is asked."""
        reply = await self._json(_Call("POST", "/api/v1/items", {"items": list(items)}))
        return cast(list[Pushed], reply["items"])

    async def add_classes(self, names: Sequence[str]) -> list[str]:
        """Add classes; return all of them."""
        reply = await self._json(_Call("POST", "/api/v1/classes", {"names": list(names)}))
        return cast(list[str], reply["classes"])

    async def set(self, **changes: object) -> Reply:
        """Change settings, such as `budget` and `goal`; return all of them."""
        return await self._json(_Call("PUT", "/api/v1/settings", changes))

    async def items(
        self, state: str = "all", doubt: Doubt | None = None, q: str = "", page: int = 1
    ) -> Reply:
        """Return a page of items."""
        return await self._json(_items(state, doubt, q, page))

    async def status(self) -> Reply:
        """Return how far labelling has come."""
        return await self._json(_Call("GET", "/api/v1/status"))

    async def report(self) -> Reply:
        """Return confusion, figures of each class, and agreement."""
        return await self._json(_Call("GET", "/api/v1/report"))

    async def export(self, format: Format = "jsonl") -> bytes:
        """Return the labels as a file."""
        reply = await self._send(_Call("GET", "/api/v1/export", params={"format": format}))
        return reply.content

    async def model(self) -> bytes:
        """Return the learner as a `.selectron` file."""
        return (await self._send(_Call("GET", "/api/v1/model"))).content

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: object, place: TracebackType | None
    ) -> None:
        await self.close()

    async def _json(self, call: _Call) -> Reply:
        return cast(Reply, (await self._send(call)).json())

    async def _send(self, call: _Call) -> httpx.Response:
        waits = call.waits(self._retries)
        while True:
            wait = next(waits, None)
            try:
                reply = await self._http.request(**call.arguments)
            except httpx.TransportError:
                if wait is None:
                    raise
                pause: float | None = wait
            else:
                pause = call.pause(reply, wait)
                if pause is None:
                    return call.checked(reply)
            await asyncio.sleep(pause or 0.0)
