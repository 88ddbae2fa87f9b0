"""Label Studio's interface of a machine-learning backend, so that it can ask and teach this desk.

Tasks come to `/predict` and get the likely class with its probability as the score, which Label
Studio sorts by. Annotations come to `/webhook` as answers. A task is an item named `ls-` and its
number; an annotation is an answer named the same way.
"""

import re
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from selectron.arrays import Values
from selectron.labelling.desk import Decision, Desk
from selectron.labelling.events import Item, Reply

Decide = Callable[[Callable[[Desk], Decision]], Awaitable[Reply]]
ANNOTATOR = "label-studio"
Number = Annotated[int, Field(ge=0, lt=2**63, strict=True)]


class Open(BaseModel):
    """Label Studio sends many members that nothing here needs."""

    model_config = ConfigDict(extra="ignore")


class Task(Open):
    id: Number
    data: Values


class Tasks(Open):
    tasks: Annotated[list[Task], Field(max_length=1000)]
    label_config: Annotated[str, Field(max_length=100_000)] = ""


class Annotation(Open):
    id: Number
    result: Annotated[list[dict[str, Any]], Field(max_length=1000)] = []
    was_cancelled: bool = False


class Event(Open):
    action: Annotated[str, Field(max_length=100)]
    task: Task | None = None
    annotation: Annotation | None = None


class Setup(Open):
    project: str | int | None = None
    label_config: Annotated[str, Field(alias="schema", max_length=100_000)] = ""


class LabelStudio:
    """The four calls of a backend."""

    def __init__(self, decide: Decide) -> None:
        self.decide = decide

    def add_to(self, app: FastAPI) -> None:
        """Add the calls to an application."""
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/predict", self.predict, methods=["POST"])
        router.add_api_route("/setup", self.setup, methods=["POST"])
        router.add_api_route("/webhook", self.webhook, methods=["POST"])
        router.add_api_route("/health", self.health, methods=["GET"])
        app.include_router(router)

    async def predict(self, body: Tasks) -> JSONResponse:
        """Return a choice for each task."""
        names = _names(body.label_config)
        if not body.tasks:
            return JSONResponse({"results": []})
        items = [_item(task) for task in body.tasks]
        reply = await self.decide(lambda desk: desk.push(items, time.time()))
        return JSONResponse({"results": [_prediction(row, names) for row in reply["items"]]})

    async def setup(self, body: Setup) -> JSONResponse:
        """Say which model answers."""
        return JSONResponse({"model_version": "selectron"})

    async def health(self) -> JSONResponse:
        """Say that the backend is up."""
        return JSONResponse({"status": "UP", "model_class": "selectron"})

    async def webhook(self, body: Event) -> JSONResponse:
        """Take an annotation as an answer, a correction or an undo."""
        command = _command(body)
        if command is not None:
            await self.decide(command)
        return JSONResponse({"status": "ok" if command else "ignored"})


def _command(event: Event) -> Callable[[Desk], Decision] | None:
    if event.annotation is None:
        return None
    id = f"ls-{event.annotation.id}"
    label = _label(event.annotation)
    if event.action == "ANNOTATION_DELETED":
        return lambda desk: desk.undo(id, ANNOTATOR, time.time())
    if label is None or event.task is None:
        return None
    item = f"ls-{event.task.id}"
    if event.action == "ANNOTATION_UPDATED":
        return lambda desk: desk.correct(id, label, ANNOTATOR, time.time())
    if event.action == "ANNOTATION_CREATED":
        return lambda desk: desk.answer(
            id, None, label, ANNOTATOR, now=time.monotonic(), at=time.time(), item=item
        )
    return None


def _label(annotation: Annotation) -> str | None:
    for region in annotation.result:
        value = region.get("value")
        choices = value.get("choices") if isinstance(value, dict) else None
        if region.get("type") == "choices" and isinstance(choices, list) and choices:
            return str(choices[0])
    return None


def _item(task: Task) -> Item:
    texts = [value for value in task.data.values() if isinstance(value, str)]
    body = {"text": texts[0]} if len(texts) == len(task.data) == 1 else {"fields": task.data}
    return {"id": f"ls-{task.id}", **body}


def _names(config: str) -> tuple[str, str]:
    """Return name and toName of the first Choices of a labelling configuration."""
    choices = re.search(r"<Choices\b[^>]*>", config)
    tag = choices.group() if choices else ""
    name, to = (re.search(rf'\b{key}="([^"]*)"', tag) for key in ("name", "toName"))
    return name.group(1) if name else "label", to.group(1) if to else "text"


def _prediction(row: Reply, names: tuple[str, str]) -> Reply:
    if row["label"] is None:
        return {"result": [], "score": 0.0, "model_version": "selectron"}
    result = {
        "from_name": names[0],
        "to_name": names[1],
        "type": "choices",
        "value": {"choices": [row["label"]]},
    }
    score = row["probability"] or 0.0
    return {"result": [result], "score": score, "model_version": "selectron"}
