"""The calls of version 1, as a FastAPI application."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlsplit

from anyio import to_thread
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, StreamingResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from selectron.labelling.desk import Decision, Desk, Refused
from selectron.labelling.server import models, pictures
from selectron.labelling.server.accounts import Accounts, Failures, Person, Sessions, Tokens
from selectron.labelling.server.files import PageFiles
from selectron.labelling.server.guard import LOOPBACK, Gate, Guard, Limits, Turned
from selectron.labelling.server.label_studio import LabelStudio
from selectron.labelling.server.stream import Stream
from selectron.labelling.service import Full, Service, Stopped

Exporter = Callable[[Desk, str], tuple[str, bytes]]  # (desk, format) -> (media type, content)
Format = Literal["jsonl", "csv", "parquet", "prodigy", "label-studio"]
State = Literal["all", "noted", "unlabelled", "asked", "labelled", "skipped", "passed"]
Doubt = Literal["most", "least"]
IDLE_SECONDS = 12 * 3600.0
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": models.Problem, "description": why}
    for status, why in {
        400: "The body is not JSON.",
        401: "Nobody is signed in.",
        403: "The caller may not do this, or the call comes from another page.",
        404: "There is no such thing.",
        409: "The call contradicts what is in the log.",
        413: "The body is too long.",
        415: "The body is not declared as JSON.",
        421: "The Host is not served here.",
        422: "A value is not what the call takes.",
        503: "The service is full or has stopped; Retry-After says when to try again.",
    }.items()
}


def create_app(
    service: Service,
    *,
    token: str,
    origin: str | Iterable[str],
    link: str | None = None,
    tokens: Mapping[str, str] | None = None,
    annotator: str = "you",
    accounts: Accounts | None = None,
    images: Path | None = None,
    exporter: Exporter | None = None,
    limits: Limits | None = None,
    proxy: str | None = None,
) -> FastAPI:
    """Return the application that answers for a service.

    Parameters
    ----------
    token : what a program sends as ``Authorization: Bearer TOKEN``; it speaks as an owner
    origin : the address of the page, such as ``http://127.0.0.1:8000``, or several of them
    link : the single-use token of the printed address; without one nobody comes in by address
    tokens : more tokens, each with the name of the annotator that its program speaks for
    annotator : the name of who comes in by the address
    accounts : names and passwords; with them the page asks people to sign in
    images : the folder in which the pictures of items lie
    exporter : writes the labels in a format; without one there is nothing to download
    proxy : the address of a proxy whose ``X-Forwarded-For`` is believed
    """
    origins = frozenset([origin] if isinstance(origin, str) else origin)
    people = {token: Person("program", "owner")}
    people |= {secret: Person(name, "annotator") for secret, name in (tokens or {}).items()}
    gate = Gate(
        origins=origins,
        tokens=Tokens(people, link),
        sessions=Sessions(IDLE_SECONDS),
        cookie=_cookie_name(origins),
        limits=limits or Limits(),
        proxy=proxy,
    )
    calls = Calls(service, gate, images, exporter)
    doors = Doors(calls, accounts, annotator)
    app = FastAPI(
        title="selectron",
        version="1",
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        lifespan=calls.lifespan,
    )
    app.state.stream = calls.stream
    app.state.gate = gate
    calls.add_to(app)
    doors.add_to(app)
    LabelStudio(calls.decide).add_to(app)
    PageFiles().add_to(app)
    for kind, handler in (
        (Refused, _refused),
        (Turned, _turned),
        (Full, _full),
        (Stopped, _stopped),
        (RequestValidationError, _invalid),
        (HTTPException, _http),
    ):
        app.add_exception_handler(kind, handler)
    app.add_middleware(Guard, gate=gate)
    return app


class Calls:
    """What people and programs do with questions, answers and items."""

    def __init__(
        self, service: Service, gate: Gate, images: Path | None, exporter: Exporter | None
    ) -> None:
        self.service, self.gate, self.images, self.exporter = service, gate, images, exporter
        self.team = False
        self.stream = Stream(lambda: self.read(Desk.status))

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Listen to the service while the server runs."""
        self.service.listen(self.stream.changed)
        yield
        self.stream.stop()

    def add_to(self, app: FastAPI) -> None:
        """Add the calls to an application."""
        bearer = HTTPBearer(auto_error=False, description="The token that the command wrote.")
        security = {"openapi_extra": {"security": [{bearer.scheme_name: []}]}}
        v1 = "/api/v1"
        get, post = ["GET"], ["POST"]
        add = app.add_api_route
        add(f"{v1}/next", self.next, methods=get, response_model=models.Questions, **security)
        add(f"{v1}/answers", self.answer, methods=post, response_model=models.Durable, **security)
        add(f"{v1}/answers/{{id}}", self.correct, methods=["PUT"], **security)
        add(f"{v1}/answers/{{id}}", self.undo, methods=["DELETE"], **security)
        add(f"{v1}/notes", self.note, methods=post, **security)
        add(f"{v1}/items", self.push, methods=post, **security)
        add(f"{v1}/items", self.items, methods=get, **security)
        add(f"{v1}/image", self.image, methods=get, response_class=Response, **security)
        add(f"{v1}/classes", self.add_classes, methods=post, **security)
        add(f"{v1}/settings", self.set, methods=["PUT"], **security)
        add(f"{v1}/status", self.status, methods=get, **security)
        add(f"{v1}/report", self.report, methods=get, **security)
        add(f"{v1}/events", self.events, methods=get, include_in_schema=False)
        add(f"{v1}/export", self.export, methods=get, response_class=Response, **security)
        add(f"{v1}/model", self.model, methods=get, response_class=Response, **security)
        add("/healthz", self.health, methods=get, include_in_schema=False)
        add("/metrics", self.metrics, methods=get, include_in_schema=False)
        original = app.openapi

        def openapi() -> dict[str, Any]:
            schema = original()
            schemes = schema.setdefault("components", {}).setdefault("securitySchemes", {})
            schemes[bearer.scheme_name] = {"type": "http", "scheme": "bearer"}
            return schema

        app.openapi = openapi  # type: ignore[method-assign]

    async def decide(self, command: Callable[[Desk], Decision]) -> dict[str, Any]:
        """Have the one writer decide; return when the decision is durable."""
        try:
            return await asyncio.wrap_future(self.service.submit(command))
        except CancelledError:
            raise Stopped("the service is stopping") from None

    async def read(self, function: Callable[[Desk], Any]) -> Any:
        """Read the desk beside the event loop: its lock may be held for a while."""
        return await to_thread.run_sync(self.service.read, function)

    async def next(
        self, request: Request, n: Annotated[int, Query(ge=1, le=10)] = 2
    ) -> JSONResponse:
        """Lease up to `n` questions to the caller."""
        name = _person(request).name
        reply = await self.decide(
            lambda desk: desk.next(name, n, now=time.monotonic(), at=time.time())
        )
        for question in reply["questions"]:
            question["item"] = _shown(question["item"])
        return JSONResponse(reply)

    async def answer(
        self, request: Request, body: models.Answer | models.Skip | models.Found
    ) -> JSONResponse:
        """Answer a question, skip it, or label an item that was found."""
        name = _person(request).name
        question = getattr(body, "question", None)

        def command(desk: Desk) -> Decision:
            if question is not None and body.item is not None:
                _check_item(desk, question, body.item)
            return desk.answer(
                body.id,
                question,
                getattr(body, "label", None),
                name,
                now=time.monotonic(),
                at=time.time(),
                skip=isinstance(body, models.Skip),
                item=None if question else body.item,
            )

        return JSONResponse(await self.decide(command))

    async def correct(
        self, request: Request, id: models.Id, body: models.Correction
    ) -> JSONResponse:
        """Give an answer another label; the learner forgets the first."""
        name = _person(request).name
        return JSONResponse(
            await self.decide(lambda desk: desk.correct(id, body.label, name, time.time()))
        )

    async def undo(self, request: Request, id: models.Id) -> JSONResponse:
        """Take an answer back; its item may be asked again."""
        name = _person(request).name
        return JSONResponse(await self.decide(lambda desk: desk.undo(id, name, time.time())))

    async def note(self, request: Request, body: models.Note) -> JSONResponse:
        """Leave a note with an item."""
        name = _person(request).name
        return JSONResponse(
            await self.decide(lambda desk: desk.note(body.item, body.text, name, time.time()))
        )

    async def push(self, request: Request, body: models.Items) -> JSONResponse:
        """Add items; each is answered with its likely class and whether its label is asked."""
        _owner(request)
        items = [item.model_dump(exclude_none=True) for item in body.items]
        return JSONResponse(await self.decide(lambda desk: desk.push(items, time.time())))

    async def items(
        self,
        state: State = "all",
        doubt: Doubt | None = None,
        q: Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")] = "",
        page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    ) -> JSONResponse:
        """Return a page of items that have all words of `q`, ordered by doubt if one likes."""
        reply = await self.read(lambda desk: desk.items(state, doubt, q, page))
        return JSONResponse(reply | {"items": _rows_shown(reply["items"])})

    async def image(self, item: Annotated[models.ItemId, Query()]) -> Response:
        """Return the picture of an item."""
        books = await self.read(lambda desk: desk.books)
        row = books.rows.get(item)
        picture = None
        if row is not None:
            picture = await to_thread.run_sync(pictures.read, books.items[row], self.images)
        if picture is None:
            raise Turned(404, "the item has no picture", "see GET /api/v1/items")
        headers = {"Cache-Control": "private, max-age=3600"}
        return Response(picture.data, media_type=picture.kind, headers=headers)

    async def add_classes(self, request: Request, body: models.Classes) -> JSONResponse:
        """Add classes, after those that are there."""
        _owner(request)
        return JSONResponse(
            await self.decide(lambda desk: desk.add_classes(body.names, time.time()))
        )

    async def set(self, request: Request, body: models.Settings) -> JSONResponse:
        """Change the question, the goal, the budget, the overlap or the positive class."""
        _owner(request)
        changes = body.model_dump(exclude_unset=True)
        return JSONResponse(await self.decide(lambda desk: desk.set(changes, time.time())))

    async def status(self, request: Request) -> JSONResponse:
        """Return how far labelling has come."""
        person = _person(request)
        status = await self.read(Desk.status)
        you = {"name": person.name, "role": person.role, "team": self.team}
        return JSONResponse(status | {"you": you})

    async def report(self) -> JSONResponse:
        """Return confusion, figures of each class, agreement and possible slips."""
        reply = await self.read(Desk.report)
        shown = {name: _rows_shown(reply[name]) for name in ("slips", "disagreements")}
        return JSONResponse(reply | shown)

    async def events(self) -> StreamingResponse:
        """Send the status as it changes."""
        return StreamingResponse(
            self.stream.listen(),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def export(self, request: Request, format: Format = "jsonl") -> Response:
        """Return everything labelled so far, as a file."""
        _owner(request)
        exporter = self.exporter
        if exporter is None:
            raise Turned(404, "this server writes no files", "use `selectron export STORE`")
        kind, content = await self.read(lambda desk: exporter(desk, format))
        ending = {"prodigy": "jsonl", "label-studio": "json"}.get(format, format)
        return _download(content, kind, f"labels.{ending}")

    async def model(self, request: Request) -> Response:
        """Return the learner as a `.selectron` file."""
        _owner(request)
        content = await self.read(lambda desk: desk.learn().file())
        return _download(content, "application/octet-stream", "model.selectron")

    async def health(self) -> JSONResponse:
        """Tell whether answers are being taken."""
        await to_thread.run_sync(self.service.read, lambda desk: None)
        return JSONResponse({"status": "ok"})

    async def metrics(self, request: Request) -> Response:
        """Return counts for Prometheus, to callers on this machine only."""
        forwarded = {"x-forwarded-for", "forwarded"} & set(request.headers)
        if request.state.address not in LOOPBACK or forwarded:
            raise Turned(403, "metrics are read on this machine", "ask from the loopback")
        status = await self.read(Desk.status)
        names = ("labels", "items", "budget")
        gauges = {name: status[name] for name in names if isinstance(status.get(name), int)}
        return Response(self.gate.metrics.text(gauges), media_type="text/plain; version=0.0.4")


class Doors:
    """How people come in: by the printed address, or with a name and a password."""

    def __init__(self, calls: Calls, accounts: Accounts | None, annotator: str) -> None:
        self.gate, self.accounts, self.annotator = calls.gate, accounts, annotator
        calls.team = accounts is not None
        self.failures = Failures()
        self._hashing = asyncio.Semaphore(2)  # one Argon2 hash takes 64 MB

    def add_to(self, app: FastAPI) -> None:
        """Add the doors to an application."""
        hidden = {"include_in_schema": False}
        add = app.add_api_route
        add("/", self.enter, methods=["GET"], **hidden)
        add("/login", self.login_page, methods=["GET"], **hidden)
        add("/api/v1/session", self.sign_in, methods=["POST"], **hidden)
        add("/api/v1/session", self.sign_out, methods=["DELETE"], **hidden)
        add("/api/v1/accounts", self.people, methods=["GET"], **hidden)
        add("/api/v1/accounts", self.add_person, methods=["POST"], **hidden)
        add("/api/v1/accounts/{name}", self.remove_person, methods=["DELETE"], **hidden)

    async def enter(self, request: Request) -> Response:
        """Show the page; exchange the token of the address for a cookie first."""
        token = request.query_params.get("token")
        person = request.state.person
        if token is not None:
            reply = RedirectResponse("/", status_code=303)
            if person is None:
                if not self.gate.tokens.use_link(token):
                    return PageFiles.page("used.html", 401)
                secret = self.gate.sessions.open(Person(self.annotator, "owner"))
                self._give_cookie(reply, secret)
            return reply
        if person is not None:
            return PageFiles.page("index.html")
        if self.accounts is not None:
            return RedirectResponse("/login", status_code=303)
        return PageFiles.page("used.html", 401)

    async def login_page(self) -> Response:
        """Show where people sign in."""
        return PageFiles.page("login.html")

    async def sign_in(self, request: Request, body: models.SignIn) -> Response:
        """Begin a session. Five failures a minute are enough, for a name and for an address."""
        if self.accounts is None:
            raise Turned(404, "this server has no accounts", "open the address that was printed")
        keys = f"name {body.name}", f"address {request.state.address}"
        wait = max(self.failures.wait(key) for key in keys)
        if wait > 0:
            raise Turned(429, "too many failed attempts", "wait a minute", int(wait) + 1)
        async with self._hashing:
            person = await to_thread.run_sync(self.accounts.check, body.name, body.password)
        for key in keys:
            (self.failures.count if person is None else self.failures.forget)(key)
        if person is None:
            raise Turned(401, "name or password is wrong", "try again, or ask an owner")
        reply = JSONResponse({"name": person.name, "role": person.role})
        self._give_cookie(reply, self.gate.sessions.open(person))
        return reply

    async def sign_out(self, request: Request) -> Response:
        """End the session."""
        if request.state.cookie is not None:
            self.gate.sessions.close(request.state.cookie)
        reply = JSONResponse({"name": None})
        reply.delete_cookie(self.gate.cookie)
        return reply

    async def people(self, request: Request) -> JSONResponse:
        """Return who has an account."""
        return JSONResponse({"people": [row._asdict() for row in self._book(request).people()]})

    async def add_person(self, request: Request, body: models.NewAccount) -> JSONResponse:
        """Add an account, or change its password and role; its sessions end."""
        book = self._book(request)
        async with self._hashing:
            row = await to_thread.run_sync(book.add, body.name, body.password, body.role)
        self.gate.sessions.revoke(body.name)
        return JSONResponse(row._asdict())

    async def remove_person(self, request: Request, name: models.AccountName) -> JSONResponse:
        """Remove an account and end its sessions."""
        book = self._book(request)
        if name == _person(request).name:
            raise Turned(409, "nobody removes themselves", "ask another owner")
        if not book.remove(name):
            raise Turned(404, "there is no such account", "see GET /api/v1/accounts")
        self.gate.sessions.revoke(name)
        return JSONResponse({"name": name})

    def _book(self, request: Request) -> Accounts:
        _owner(request)
        if self.accounts is None:
            raise Turned(404, "this server has no accounts", "start it with --team")
        return self.accounts

    def _give_cookie(self, reply: Response, secret: str) -> None:
        secure = all(origin.startswith("https:") for origin in self.gate.origins)
        reply.set_cookie(
            self.gate.cookie, secret, path="/", httponly=True, samesite="strict", secure=secure
        )


def _cookie_name(origins: Iterable[str]) -> str:
    """Return a name for the cookie: browsers keep one jar for all ports of a host."""
    ports = sorted(str(urlsplit(origin).port or "") for origin in origins)
    return f"selectron_{ports[0]}" if ports[0] else "selectron"


def _person(request: Request) -> Person:
    person: Person = request.state.person
    return person


def _owner(request: Request) -> None:
    if _person(request).role != "owner":
        raise Turned(403, "only an owner may do this", "ask an owner")


def _check_item(desk: Desk, question: str, item: str) -> None:
    """Refuse an answer that was meant for another store, where the question was another."""
    asked = desk.books.question_named(question)
    if asked is not None and desk.books.items[asked.row]["id"] != item:
        raise Refused(409, f"Question {question} is about another item.", "Ask for the next.")


def _shown(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item with the address of its picture in place of its name or data."""
    if "image" not in item:
        return item
    return item | {"image": "/api/v1/image?item=" + quote(item["id"], safe="")}


def _rows_shown(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"item": _shown(row["item"])} for row in rows]


def _download(content: bytes, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


def _problem(status: int, error: str, remedy: str, retry_after: int | None = None) -> JSONResponse:
    headers = None if retry_after is None else {"Retry-After": str(retry_after)}
    return JSONResponse({"error": error, "remedy": remedy}, status, headers)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    return _problem(error.status, error.error, error.remedy)


async def _turned(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Turned)
    return _problem(error.status, error.error, error.remedy, error.retry_after)


async def _full(request: Request, error: Exception) -> JSONResponse:
    return _problem(503, "the service is full", "try again in a second", 1)


async def _stopped(request: Request, error: Exception) -> JSONResponse:
    return _problem(503, "the service has stopped", "its keeper starts it again", 5)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return _problem(422, f"{place}: {first['msg']}", "see /openapi.json for what the call takes")


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    reply = _problem(error.status_code, str(error.detail), "see /openapi.json for the calls")
    reply.headers.update(error.headers or {})
    return reply
