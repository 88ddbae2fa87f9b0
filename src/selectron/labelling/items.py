"""Items and the labels they have already, from the files that people have.

A file may hold plain records, tasks of Prodigy or tasks of Label Studio. The same file again gives
the same items with the same ids, so that reading it again adds nothing.
"""

import base64
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import time
from typing import NamedTuple, TypeVar

from selectron.arrays import Values
from selectron.features import Features, kind_of
from selectron.labelling import checks, strict_json
from selectron.labelling.checks import Label, Refused, Settings
from selectron.labelling.desk import Decision, Desk
from selectron.labelling.events import Event, Item, canonical
from selectron.labelling.service import Service
from selectron.streams.opening import Tick
from selectron.streams.records import Record, read_records

LABEL_COLUMNS = ("label", "class", "target", "y")
NOT_SHOWN = ("id", "meta", "annotator", "answers", "notes")  # columns that are no content
LABEL_STUDIO = {"annotations", "predictions", "completed_at", "is_labeled", "total_annotations"}
PRODIGY = {"_input_hash", "_task_hash"}
DECISIONS = ("accept", "reject", "ignore")
BATCH = 1000  # items of one event
BATCH_CHARACTERS = 8 << 20
FILE = "file"  # the annotator of labels that no annotator is named for
Thing = TypeVar("Thing")


class Columns(NamedTuple):
    """Which column is what; None: found by its name."""

    text: str | None = None
    image: str | None = None
    id: str | None = None
    label: str | None = None
    show: Sequence[str] = ()


BY_NAME = Columns()


class Given(NamedTuple):
    """A label that is there already, and who gave it."""

    label: Label
    annotator: str = FILE


class Entry(NamedTuple):
    """An item of a file; who labelled it first comes first."""

    item: Item
    answers: list[Given]
    notes: list[dict[str, str]]
    classes: list[str]  # that a task of Prodigy offers
    place: str


def read_items(
    source: str, columns: Columns = BY_NAME, multilabel: bool = False, tick: Tick = int
) -> Iterator[Entry]:
    r"""Read items from a file, a folder of pictures, or with "-" from standard input.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w+", suffix=".csv") as file:
    ...     print("message,label\nWin a prize,spam\nSee you at six,", file=file, flush=True)
    ...     for entry in read_items(file.name):
    ...         print(entry.item["text"], [given.label for given in entry.answers])
    Win a prize ['spam']
    See you at six []
    """
    for number, record in enumerate(read_records(source, tick)):
        try:
            if number == 0 and columns.label and columns.label not in _content(record.values):
                raise ValueError(_missing(columns.label, record.values))
            yield entry_of(record, columns, multilabel)
        except Refused as refusal:
            raise ValueError(f"{record.place}: {refusal}") from None
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{record.place}: {error}") from None
        except (KeyError, TypeError, AttributeError):
            raise ValueError(
                f"{record.place}: its labels or notes are not written as `selectron export`, "
                "Prodigy or Label Studio write them; correct or remove them"
            ) from None


class Loaded(NamedTuple):
    """What a file brought to the desk."""

    added: int
    known: int
    answers: int


def load(
    service: Service,
    entries: Iterable[Entry],
    classes: Sequence[str] = (),
    images: Path | None = None,
    tick: Callable[[int], object] = int,
    settings: Settings | None = None,
) -> Loaded:
    """Bring items, then classes, the labels that are there, and settings to the desk.

    Nothing is asked before two classes have names, so every item is there when the first question
    is chosen. Without `classes`, the labels of the items name them. What comes after the items is
    sent together: the first question may take long to choose, and nobody waits for it here.
    """
    allowed = {*classes, *service.read(lambda desk: desk.books.classes)} if classes else None
    names = dict.fromkeys(classes)
    answers: dict[str, list[Given]] = {}
    notes: dict[str, list[dict[str, str]]] = {}
    added = known = 0
    first = service.read(lambda desk: desk.books.items[:1])
    kind = kind_of(first[0]) if first else None
    for batch in batches(entries, lambda entry: entry.item):
        new = service.read(partial(_unknown, batch))
        for entry in batch:
            kind = kind or kind_of(entry.item)
            if kind_of(entry.item) is not kind:
                raise ValueError(
                    f"{entry.place}: this is {kind_of(entry.item).value}, and other items are "
                    f"{kind.value}: name the column as before (--text, --image), or label each "
                    "kind in a store of its own"
                )
            _check(entry, allowed, images if entry.item["id"] in new else None)
            if entry.answers:
                answers.setdefault(entry.item["id"], []).extend(entry.answers)
            if entry.notes:
                notes.setdefault(entry.item["id"], []).extend(entry.notes)
            if not classes:
                labels = (name for given in entry.answers for name in _names(given.label))
                names |= dict.fromkeys([*entry.classes, *labels])
        reply = service.submit(partial(_add, batch)).result()
        added, known = added + reply["added"], known + reply["known"]
        tick(len(batch))
    last = [
        service.submit(lambda desk: desk.add_classes(list(names), time())),
        service.submit(lambda desk: desk.set(dict(settings or {}), time())),
        service.submit(lambda desk: answers_of(desk, answers, notes, time())),
    ]
    return Loaded(added, known, [call.result() for call in last][-1]["answers"])


def _add(batch: list[Entry], desk: Desk) -> Decision:
    try:
        return desk.add_items([entry.item for entry in batch], time())
    except Refused as refusal:  # of two items with one id
        raise ValueError(f"{batch[0].place} to {batch[-1].place}: {refusal}") from None


def batches(things: Iterable[Thing], content: Callable[[Thing], object]) -> Iterator[list[Thing]]:
    """Put things together: a thousand, or fewer long ones. An event is held in memory whole."""
    batch: list[Thing] = []
    size = 0
    for thing in things:
        batch.append(thing)
        size += len(str(content(thing)))
        if len(batch) == BATCH or size > BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _unknown(batch: list[Entry], desk: Desk) -> set[str]:
    return {entry.item["id"] for entry in batch} - desk.books.rows.keys()


def _check(entry: Entry, classes: set[str] | None, images: Path | None) -> None:
    """Refuse a label that is no class, and a picture that cannot be read."""
    for given in entry.answers:
        other = [name for name in _names(given.label) if classes and name not in classes]
        if other:
            raise ValueError(f"{entry.place}: the label {other[0]!r} is none of the classes")
    if images is not None and "image" in entry.item:
        try:
            Features([entry.item], images).picture(entry.item)
        except (ValueError, OSError) as error:
            raise ValueError(f"{entry.place}: {error}") from None


def _names(label: Label) -> list[str]:
    return label if isinstance(label, list) else [label]


def answers_of(
    desk: Desk,
    answers: Mapping[str, Sequence[Given]],
    notes: Mapping[str, Sequence[Mapping[str, str]]],
    at: float,
) -> Decision:
    """Take labels and notes of a file, by the ids of their items, into the log.

    An item that has an answer in the log keeps it: the log wins over the file.
    """
    books = desk.books
    events: list[Event] = []
    for item, given in answers.items():
        row = books.rows[item]
        question = books.open_on.get(row)
        if not books.answers.get(row) and not (question and question.annotator):
            events += _answered(desk, item, given, at)
    n_answers = len(events)
    for item, written in notes.items():
        known = [
            (note["text"], note["annotator"]) for note in books.notes.get(books.rows[item], [])
        ]
        for note in written:
            if (note["text"], note["annotator"]) not in known:
                events += desk.note(item, note["text"], note["annotator"], at).events[-1:]
    people = dict.fromkeys(event.body["annotator"] for event in events)
    joined = [
        Event("joined", {"annotator": checks.words(name, "annotator", 200)}, at)
        for name in people
        if name not in books.annotators
    ]
    return Decision(joined + events, {"answers": n_answers})


def _answered(desk: Desk, item: str, given: Sequence[Given], at: float) -> Iterator[Event]:
    """Yield one answer of each annotator; the first settles the question that is open."""
    books = desk.books
    question = books.open_on.get(books.rows[item])
    for annotator in dict.fromkeys(answer.annotator for answer in given):
        label = next(answer.label for answer in given if answer.annotator == annotator)
        id = "file-" + sha256(f"{item}\n{annotator}".encode()).hexdigest()[:32]
        if id not in books.ids:
            yield Event(
                "answered",
                {
                    "id": id,
                    "question": question and question.name,
                    "item": item,
                    "label": checks.label(label, books.classes, books.settings["multilabel"]),
                    "annotator": annotator,
                    "found": True,
                },
                at,
            )
            question = None


def _content(values: Values) -> Values:
    """Return the columns: of a task of Label Studio they are its data."""
    data = values.get("data")
    is_task = LABEL_STUDIO & values.keys() or values.keys() <= {"id", "data"}
    return data if isinstance(data, dict) and is_task else values


def entry_of(record: Record, columns: Columns = BY_NAME, multilabel: bool = False) -> Entry:
    """Return the item that a record is, and the labels it has."""
    values = _content(record.values)
    label_column = _label_column(values, columns)
    if values is not record.values:  # a task of Label Studio
        task = record.values
        values = {"id": f"ls-{task.get('id')}", "meta": task.get("meta"), **values}
        answers = list(_annotations(task))
    elif PRODIGY & values.keys() or ("accept" in values and values.get("answer") in DECISIONS):
        answers = list(_accepted(values))
    else:
        answers = list(_labelled(values, label_column))
    item = _item(values, columns, label_column)
    named = [Given(_label(label, multilabel), _annotator(name)) for label, name in answers]
    notes = values.get("notes") if isinstance(values.get("notes"), list) else []
    options = values.get("options") if PRODIGY & values.keys() else None
    classes = [str(option["id"]) for option in options] if isinstance(options, list) else []
    return Entry(item, named, [_note(note) for note in notes or []], classes, record.place)


def _item(values: Values, columns: Columns, label_column: str | None) -> Item:
    for column in (columns.text, columns.image, columns.id, *columns.show):
        if column is not None and column not in values:
            raise ValueError(_missing(column, values))
    if columns.text is not None:
        content: Item = {"text": _text(values[columns.text])}
    elif columns.image is not None:
        content = {"image": _image(values[columns.image])}
    else:
        content = found_content(values, columns, label_column)
    meta = _meta(values.get("meta"))
    meta |= {column: _plain(values[column]) for column in columns.show}
    item = content | ({"meta": meta} if meta else {})
    id = values.get(columns.id or "id")
    if _is_empty(id):
        id = item.get("image", "data:")
        if id.startswith("data:"):
            checks.storable(item, "item")
            id = sha256(canonical(item).encode()).hexdigest()[:20]
    return checks.item({"id": _text(id)} | item)


def _meta(value: object) -> Values:
    """Return what a task or a line tells about an item; tables have it as JSON in a cell."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = strict_json.DECODER.decode(value)
    return dict(value) if isinstance(value, dict) else {}


def found_content(
    values: Values, columns: Columns = BY_NAME, label_column: str | None = None
) -> Item:
    """Find what an item shows: by the names of desks, else its only column, else all of them."""
    for name, kind in (("fields", dict), ("vector", list), ("image", str), ("text", str)):
        if isinstance(values.get(name), kind):
            return {name: values[name]}
    no_content = {*NOT_SHOWN, columns.id, label_column, *columns.show}
    rest = {name: _plain(value) for name, value in values.items() if name not in no_content}
    if not rest:
        raise ValueError(_missing("text", values))
    (first, *others) = rest.values()
    if isinstance(first, str) and not others:
        return {"text": first}
    return {"fields": rest}


def _label_column(values: Values, columns: Columns) -> str | None:
    if columns.label:
        return columns.label
    taken = {columns.text, columns.image, columns.id, *columns.show}
    return next((name for name in LABEL_COLUMNS if name in values and name not in taken), None)


def _labelled(values: Values, column: str | None) -> Iterator[tuple[object, object]]:
    """Yield labels of a plain record, and who gave each."""
    several = values.get("answers")
    if isinstance(several, list):
        yield from ((answer["label"], answer["annotator"]) for answer in several)
    elif column and not _is_empty(values.get(column)):
        yield values[column], values.get("annotator") or FILE


def _accepted(values: Values) -> Iterator[tuple[object, object]]:
    """Yield what somebody accepted in Prodigy; what was rejected or ignored has no label."""
    label = values.get("accept", values.get("label"))
    if values.get("answer", "accept") == "accept" and label is not None:
        who = values.get("_annotator_id") or values.get("_session_id") or FILE
        yield label, who


def _annotations(task: Values) -> Iterator[tuple[object, object]]:
    """Yield the choices of a task of Label Studio, and who made them."""
    for annotation in task.get("annotations") or []:
        who = annotation.get("completed_by") or FILE
        who = who.get("email", FILE) if isinstance(who, dict) else who
        for region in annotation.get("result") or []:
            choices = region.get("value", {}).get("choices")
            if region.get("type") == "choices" and choices is not None:
                if not annotation.get("was_cancelled"):
                    yield choices, who
                break


def _label(value: object, multilabel: bool) -> Label:
    many = value if isinstance(value, list) else [value]
    names = [checks.words(_text(name), "class", 200) for name in many]
    if multilabel:
        return names
    if len(names) != 1:
        raise ValueError(f"{len(names)} labels; with --multilabel an item may have several")
    return names[0]


def _annotator(name: object) -> str:
    return checks.words(str(name), "annotator", 200)


def _note(note: Values) -> dict[str, str]:
    text = checks.words(note["text"], "note", 10_000)
    return {"text": text, "annotator": _annotator(note["annotator"])}


def _text(value: object) -> str:
    """Write a value as a text: 3.0 of a column of numbers is "3"."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if value is None:
        raise ValueError("a text, an id or a label is missing")
    return str(value)


def _image(value: object) -> str:
    """Return the name of a picture, or the picture itself as a data: address."""
    data = value.get("bytes") if isinstance(value, dict) else value
    if isinstance(data, bytes):
        return "data:image/any;base64," + base64.b64encode(data).decode()
    if not isinstance(value, str):
        raise ValueError("the column of pictures holds neither names nor pictures")
    return value


def _plain(value: object) -> object:
    """Return a value that JSON has: dates and others as texts, what is no number as null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return str(value)


def _is_empty(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _missing(column: str, values: Values) -> str:
    there = ", ".join(repr(name) for name in values)
    return f"there is no column {column!r}; the columns are {there}"
