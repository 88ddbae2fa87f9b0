"""Label Studio's interface of a machine-learning backend, so that it can ask and teach this desk.

Tasks come to `/predict` and get the likely class with its probability as the score, which Label
Studio sorts by. Annotations come to `/webhook` as answers. A task is an item named `ls-` and its
number, unless it is an item that was exported from this desk; an annotation is an answer named the
same way.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import chain, count
from typing import Annotated, Any, Literal

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from selectron.arrays import Values
from selectron.labelling.checks import CONTENTS
from selectron.labelling.desk import Decision, Desk, Refused
from selectron.labelling.events import Item, Reply
from selectron.labelling.server.interface import Interface, interface_of

Decide = Callable[[Callable[[Desk], Decision]], Awaitable[Reply]]
ANNOTATOR = "label-studio"
CREATED = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED")
DELETED = ("ANNOTATIONS_DELETED", "ANNOTATION_DELETED")
ACTIONS = (*CREATED, "ANNOTATION_UPDATED", *DELETED)
MODEL = {"model_version": "selectron"}
NO_PREDICTION: Reply = {"result": [], "score": 0.0, **MODEL}
NOTHING_DONE = Decision([], {})
Number = Annotated[int, Field(ge=0, lt=2**63, strict=True)]


class Open(BaseModel):
    """Label Studio sends many members that nothing here needs."""

    model_config = ConfigDict(extra="ignore")


class Task(Open):
    id: Number
    data: Values


class Tasks(Open):
    tasks: Annotated[list[Task], Field(max_length=1000)]
    label_config: str = ""


class Annotation(Open):
    id: Number
    task: Number | None = None
    result: Annotated[list[Values], Field(max_length=1000)] = []
    was_cancelled: StrictBool = False


class Project(Open):
    label_config: str = ""


class Event(Open):
    """What happened. An event of several annotations has lists, under one name or the other."""

    action: Annotated[str, Field(max_length=100)]
    project: Project = Project()
    task: Task | list[Task] = []
    annotation: Annotation | list[Annotation] = []
    annotations: list[Annotation] = []

    def each(self) -> Iterator[tuple[Annotation, Task | None]]:
        """Yield each annotation with its task, which a deletion leaves out."""
        tasks, some = _listed(self.task), _listed(self.annotation)
        for annotation in chain(some, self.annotations):
            own = (task for task in tasks if annotation.task in (None, task.id))
            yield annotation, next(own, None)


class Setup(Open):
    project: Any = None
    label_config: Annotated[str, Field(alias="schema")] = ""


class Model(BaseModel):
    model_config = ConfigDict(protected_namespaces=())
    model_version: str


class Prediction(Model):
    result: list[Values]
    score: float


class Predictions(BaseModel):
    results: list[Prediction]


class Done(BaseModel):
    status: Literal["ok", "ignored"]


class Health(BaseModel):
    status: Literal["UP"]
    model_class: str


class LabelStudio:
    """The four calls of a backend."""

    def __init__(self, decide: Decide) -> None:
        self.decide = decide
        self.interface = Interface()  # of calls that name none

    def add_to(self, app: FastAPI) -> None:
        """Add the calls to an application."""
        add = app.router.add_api_route
        add("/predict", self.predict, methods=["POST"], response_model=Predictions)
        add("/setup", self.setup, methods=["POST"], response_model=Model)
        add("/webhook", self.webhook, methods=["POST"], response_model=Done)
        add("/health", self.health, methods=["GET"], response_model=Health)

    async def predict(self, body: Tasks) -> JSONResponse:
        """Return a prediction for each task; an empty one for a task that is refused."""
        interface = self._interface(body.label_config)
        if not body.tasks:
            return JSONResponse({"results": []})
        items: dict[int, Item] = {}

        def push(desk: Desk) -> Decision:
            items.update(_items(desk, body.tasks, interface))
            return desk.push(list(items.values()), time.time())

        rows = {row["id"]: row for row in (await self.decide(push))["items"]}
        found = {task: _prediction(rows[item["id"]], interface) for task, item in items.items()}
        return JSONResponse({"results": [found.get(t.id, NO_PREDICTION) for t in body.tasks]})

    async def setup(self, body: Setup) -> JSONResponse:
        """Keep the interface, if it fits the desk, and say which model answers."""
        interface = self._interface(body.label_config)

        def check(desk: Desk) -> Decision:
            interface.check(desk.books.classes, desk.books.settings["multilabel"])
            return NOTHING_DONE

        await self.decide(check)
        self.interface = interface
        return JSONResponse(MODEL)

    async def health(self) -> JSONResponse:
        """Say that the backend is up."""
        return JSONResponse({"status": "UP", "model_class": "selectron"})

    async def webhook(self, body: Event) -> JSONResponse:
        """Take annotations as answers, corrections or undos."""
        done, refused = False, None
        if body.action in ACTIONS:
            interface = self._interface(body.project.label_config)
            for annotation, task in body.each():
                try:
                    done |= await self._teach(body.action, annotation, task, interface)
                except Refused as refusal:  # the other annotations are no worse for it
                    refused = refused or refusal
        if refused:
            raise refused
        return JSONResponse({"status": "ok" if done else "ignored"})

    async def _teach(
        self, action: str, annotation: Annotation, task: Task | None, interface: Interface
    ) -> bool:
        """Take the task in, unless it is known, and then what the annotation says of it."""
        choices = [] if action in DELETED else _choices(annotation, interface)
        item = None
        if choices and task:
            item = (await self.decide(lambda desk: _taken(desk, task, interface)))["id"]
        reply = await self.decide(
            lambda desk: _decision(desk, action, annotation.id, choices, item)
        )
        return bool(reply)

    def _interface(self, config: str) -> Interface:
        return interface_of(config) if config else self.interface


def _listed(one: Any) -> list[Any]:
    return one if isinstance(one, list) else [one]


def _choices(annotation: Annotation, interface: Interface) -> list[str]:
    """Return what was chosen in the interface's first choices; nothing where it was skipped."""
    chosen: list[str] = []
    for region in [] if annotation.was_cancelled else annotation.result:
        value = region.get("value")
        choices = value.get("choices") if isinstance(value, dict) else None
        named = not interface.known or region.get("from_name") == interface.from_name
        if named and region.get("type") == "choices" and isinstance(choices, list):
            chosen += [str(name) for name in choices]
    return chosen


def _taken(desk: Desk, task: Task, interface: Interface) -> Decision:
    """Take a task in, unless it is known."""
    item = _item(desk, task, interface)
    is_known = item["id"] in desk.books.rows
    events = [] if is_known else desk.push([item], time.time()).events
    return Decision(events, {"id": item["id"]})


def _decision(
    desk: Desk, action: str, annotation: int, choices: list[str], item: str | None
) -> Decision:
    """Answer, correct or undo; an answer that was emptied and is filled again is another one."""
    id, at = f"ls-{annotation}", time.time()
    if action not in CREATED:
        ids = chain([id], (f"{id}.{again}" for again in count(2)))
        id = next(id for id in ids if id not in desk.books.ids or not desk.books.ids[id].undone)
    if not choices:
        return desk.undo(id, ANNOTATOR, at) if id in desk.books.ids else NOTHING_DONE
    several = desk.books.settings["multilabel"] or len(choices) > 1
    label = choices if several else choices[0]
    if action not in CREATED and id in desk.books.ids:
        return desk.correct(id, label, ANNOTATOR, at)
    if item is None:
        return NOTHING_DONE
    return desk.answer(id, None, label, ANNOTATOR, now=time.monotonic(), at=at, item=item)


def _items(desk: Desk, tasks: Iterable[Task], interface: Interface) -> dict[int, Item]:
    """Return the items by their tasks, without those that are refused; refuse none but all."""
    items: dict[int, Item] = {}
    new: dict[str, Item] = {}
    refused = None
    for task in tasks:
        try:
            item = _item(desk, task, interface)
            desk.check_new(item, new)
            items[task.id] = item
        except Refused as refusal:
            refused = refused or refusal
    if refused and not items:
        raise refused
    return items


def _item(desk: Desk, task: Task, interface: Interface) -> Item:
    """Return the item that a task is: one of this desk if it was exported from here."""
    items, name = desk.books.items, task.data.get("id")
    content = interface.content(
        task.data, next((kind for kind in CONTENTS if items and kind in items[0]), None)
    )
    row = desk.books.rows.get(name) if isinstance(name, str) else None
    if row is not None and content.items() <= items[row].items():
        return items[row]
    return {"id": f"ls-{task.id}", **content}


def _prediction(row: Reply, interface: Interface) -> Reply:
    label = row["label"]
    if not label:
        return NO_PREDICTION
    result = {
        "from_name": interface.from_name,
        "to_name": interface.to_name,
        "type": "choices",
        "value": {"choices": _listed(label)},
    }
    return {"result": [result], "score": row["probability"] or 0.0, **MODEL}
