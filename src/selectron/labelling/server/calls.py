"""What people and programs do with questions, answers and items: the calls of version 1."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeVar
from urllib.parse import quote

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.routing import APIRoute

from selectron.labelling.checks import shown
from selectron.labelling.desk import Decision, Desk, Refused
from selectron.labelling.events import Item, Reply
from selectron.labelling.exports import export
from selectron.labelling.server import models, pictures
from selectron.labelling.server.guard import LOOPBACK, Gate, Turned, owner_of, person_of
from selectron.labelling.server.stream import Stream
from selectron.labelling.service import Service, Stopped

Format = Literal["jsonl", "csv", "parquet", "prodigy", "label-studio"]
State = Literal["all", "noted", "unlabelled", "asked", "labelled", "skipped", "passed"]
Doubt = Literal["most", "least"]
ANSWERS = "/api/v1/answers"

Found = TypeVar("Found")


class StrictRoute(APIRoute):
    """A call that refuses parameters it does not have: a misspelt filter would change nothing."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[None, None, Response]]:
        """Return the handler, with the check before it."""
        handle = super().get_route_handler()
        known = {parameter.alias for parameter in self.dependant.query_params}

        async def strict(request: Request) -> Response:
            if unknown := sorted(set(request.query_params) - known):
                raise Turned(
                    422, f"There is no parameter {shown(unknown[0])}.", "See /openapi.json."
                )
            return await handle(request)

        return strict


class Calls:
    """What people and programs do with questions, answers and items."""

    def __init__(self, service: Service, gate: Gate, images: Path | None) -> None:
        self.service, self.gate, self.images = service, gate, images
        self.team = False
        self.stream = Stream(lambda: self.read(Desk.status))

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Listen to the service while the server runs."""
        end = self.service.listen(self.stream.changed)
        yield
        self.stream.stop()
        end()

    def add_to(self, app: FastAPI) -> None:
        """Add the calls to an application."""
        get, post, put, delete = ["GET"], ["POST"], ["PUT"], ["DELETE"]
        add = partial(app.router.add_api_route, route_class_override=StrictRoute)
        v1 = "/api/v1"
        app.router.add_api_route(
            ANSWERS,
            self.answer,
            methods=post,
            response_model=models.Durable,
            openapi_extra=models.body_of(models.Answer, models.Skip, models.Found),
        )
        add(f"{v1}/next", self.next, methods=get, response_model=models.Questions)
        add(f"{v1}/answers/{{id}}", self.correct, methods=put, response_model=models.Durable)
        add(f"{v1}/answers/{{id}}", self.undo, methods=delete, response_model=models.Durable)
        add(f"{v1}/notes", self.note, methods=post, response_model=models.Durable)
        add(f"{v1}/items", self.push, methods=post, response_model=models.Pushed)
        add(f"{v1}/items", self.items, methods=get)
        add(f"{v1}/image", self.image, methods=get, response_class=Response)
        add(f"{v1}/classes", self.add_classes, methods=post)
        add(f"{v1}/settings", self.set, methods=put)
        add(f"{v1}/status", self.status, methods=get)
        add(f"{v1}/report", self.report, methods=get)
        add(f"{v1}/export", self.export, methods=get, response_class=Response)
        add(f"{v1}/model", self.model, methods=get, response_class=Response)
        hidden = APIRouter(include_in_schema=False)
        hidden.add_api_route(f"{v1}/events", self.events, methods=get)
        hidden.add_api_route("/healthz", self.health, methods=get)
        hidden.add_api_route("/metrics", self.metrics, methods=get)
        app.include_router(hidden)

    async def decide(self, command: Callable[[Desk], Decision]) -> Reply:
        """Have the one writer decide; return when the decision is durable."""
        return await asyncio.wrap_future(self.service.submit(command))

    async def read(self, function: Callable[[Desk], Found]) -> Found:
        """Read the desk beside the event loop: its lock may be held for a while."""
        return await to_thread.run_sync(self.service.read, function)

    async def read_learnt(self, function: Callable[[Desk], Found]) -> Found:
        """Read the desk once its learner has caught up; other calls come between its lessons."""
        for _ in range(await self.read(lambda desk: desk.lessons_left)):
            if await self.read(self.service.learn_some):
                break
        return await self.read(function)

    async def next(
        self, request: Request, n: Annotated[int, Query(ge=1, le=10)] = 2
    ) -> JSONResponse:
        """Lease up to `n` questions to the caller."""
        name = person_of(request).name
        reply = await self.decide(
            lambda desk: desk.next(name, n, now=time.monotonic(), at=time.time())
        )
        for question in reply["questions"]:
            question["item"] = _shown(question["item"])
        return JSONResponse(reply)

    async def answer(self, request: Request) -> JSONResponse:
        """Answer a question, skip it, or label an item that was found."""
        body = models.read_answer(request.state.body)
        name = person_of(request).name
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
        name = person_of(request).name
        return JSONResponse(
            await self.decide(lambda desk: desk.correct(id, body.label, name, time.time()))
        )

    async def undo(self, request: Request, id: models.Id) -> JSONResponse:
        """Take an answer back; its item may be asked again."""
        name = person_of(request).name
        return JSONResponse(await self.decide(lambda desk: desk.undo(id, name, time.time())))

    async def note(self, request: Request, body: models.Note) -> JSONResponse:
        """Leave a note with an item."""
        name = person_of(request).name
        return JSONResponse(
            await self.decide(lambda desk: desk.note(body.item, body.text, name, time.time()))
        )

    async def push(self, request: Request, body: models.Items) -> JSONResponse:
        """Add items; each is answered with its likely class and whether its label is asked."""
        owner_of(request)
        items = [item.model_dump(exclude_unset=True) for item in body.items]
        return JSONResponse(await self.decide(lambda desk: desk.push(items, time.time())))

    async def items(
        self,
        state: State = "all",
        doubt: Doubt | None = None,
        q: Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")] = "",
        page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    ) -> JSONResponse:
        """Return a page of items that have all words of `q`, ordered by doubt if one likes."""
        reply = await self.read_learnt(lambda desk: desk.items(state, doubt, q, page))
        return JSONResponse(reply | {"items": _rows_shown(reply["items"])})

    async def image(self, item: Annotated[models.ItemId, Query()]) -> Response:
        """Return the picture of an item."""
        books = await self.read(lambda desk: desk.books)
        row = books.rows.get(item)
        picture = None
        if row is not None:
            picture = await to_thread.run_sync(pictures.read, books.items[row], self.images)
        if picture is None:
            raise Turned(404, "The item has no picture.", "See GET /api/v1/items.")
        headers = {"Cache-Control": "private, max-age=3600"}
        return Response(picture.data, media_type=picture.kind, headers=headers)

    async def add_classes(self, request: Request, body: models.Classes) -> JSONResponse:
        """Add classes, after those that are there."""
        owner_of(request)
        return JSONResponse(
            await self.decide(lambda desk: desk.add_classes(body.names, time.time()))
        )

    async def set(self, request: Request, body: models.Settings) -> JSONResponse:
        """Change the question, the goal, the budget, the overlap or the positive class."""
        owner_of(request)
        changes = body.model_dump(exclude_unset=True)
        return JSONResponse(await self.decide(lambda desk: desk.set(changes, time.time())))

    async def status(self, request: Request) -> JSONResponse:
        """Return how far labelling has come."""
        person = person_of(request)
        status = await self.read(Desk.status)
        you = {"name": person.name, "role": person.role, "team": self.team}
        return JSONResponse(status | {"you": you})

    async def report(self) -> JSONResponse:
        """Return confusion, figures of each class, agreement and possible slips."""
        reply = await self.read_learnt(Desk.report)
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
        owner_of(request)
        try:
            file = await self.read(lambda desk: export(desk.books, format))
        except ImportError:
            raise Turned(
                422, "This server cannot write Parquet.", "Choose another format."
            ) from None
        return _download(file.content, file.media_type, f"labels.{file.ending}")

    async def model(self, request: Request) -> Response:
        """Return the learner as a `.selectron` file."""
        owner_of(request)
        content = await self.read_learnt(lambda desk: desk.learn().file())
        return _download(content, "application/octet-stream", "model.selectron")

    async def health(self) -> JSONResponse:
        """Tell whether answers are being taken."""
        if self.service.stopped:
            raise Stopped(self.service.stopped, self.service.full)
        return JSONResponse({"status": "ok"})

    async def metrics(self, request: Request) -> Response:
        """Return counts for Prometheus, to callers on this machine only."""
        forwarded = {"x-forwarded-for", "forwarded"} & set(request.headers)
        here = {request.state.address, request.url.hostname} <= set(LOOPBACK)
        if forwarded or not here:
            raise Turned(403, "Metrics are read on this machine.", "Ask from the loopback.")
        status = await self.read(Desk.status)
        names = ("labels", "items", "budget")
        gauges = {name: status[name] for name in names if isinstance(status.get(name), int)}
        return Response(self.gate.metrics.text(gauges), media_type="text/plain; version=0.0.4")


def _check_item(desk: Desk, question: str, item: str) -> None:
    """Refuse an answer that was meant for another store, where the question was another."""
    asked = desk.books.question_named(question)
    if asked is not None and desk.books.items[asked.row]["id"] != item:
        raise Refused(409, f"Question {question} is about another item.", "Ask for the next.")


def _shown(item: Item) -> Item:
    """Return an item with the address of its picture in place of its name or data."""
    if "image" not in item:
        return item
    return item | {"image": "/api/v1/image?item=" + quote(item["id"], safe="")}


def _rows_shown(rows: list[Reply]) -> list[Reply]:
    return [row | {"item": _shown(row["item"])} for row in rows]


def _download(content: bytes, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)
