"""The labels as files for other programs: JSON lines, CSV, Parquet, Prodigy and Label Studio.

`read_items` reads what is written here. For JSON lines, Prodigy and Label Studio, a new store made
of an export gives the same export again, byte for byte.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias
from xml.sax.saxutils import quoteattr

from selectron.extras import extra
from selectron.labelling import asking
from selectron.labelling.books import Answer, Books, Note
from selectron.labelling.checks import Label
from selectron.labelling.events import Item, canonical, written
from selectron.labelling.lessons import ItemLearner

Row: TypeAlias = dict[str, Any]  # one line of a file: its values by name
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet computes cells that begin like this


class Export(NamedTuple):
    """A file: what it holds, and what its reader must know."""

    media_type: str
    ending: str
    content: bytes
    note: str | None = None


class Line(NamedTuple):
    """An item with the answer that decides, then those of others; or what the learner says."""

    item: Item
    answers: list[Answer]
    notes: list[Note]
    guess: Label | None = None
    probability: float | None = None


def export(books: Books, format: str, learner: ItemLearner | None = None) -> Export:
    """Write the labelled items.

    Parameters
    ----------
    format : str
        "jsonl", "csv", "parquet", "prodigy" or "label-studio".
    learner : ItemLearner, optional
        With a learner that has caught up, the other items follow in their places, each with the
        class that the learner predicts.
    """
    if format not in FORMATS:
        raise ValueError(f"there is no format {format!r}; the formats are {', '.join(FORMATS)}")
    return FORMATS[format](books, list(_lines(books, learner)))


def _lines(books: Books, learner: ItemLearner | None) -> Iterator[Line]:
    known = learner is not None and books.knows_two_classes
    chances = learner.chances() if learner is not None and known else None
    for row, item in enumerate(books.items):
        opinions = [answer for answer in books.answers.get(row, ()) if answer.label is not None]
        notes = books.notes.get(row, [])
        if opinions:
            first = max(opinions, key=lambda answer: answer.corrected)
            yield Line(item, [first, *(a for a in opinions if a is not first)], notes)
        elif chances is not None:
            guess = asking.guess(books, chances[row])
            yield Line(item, [], notes, guess, round(float(chances[row].max()), 6))
        elif learner is not None:
            yield Line(item, [], notes)


def _label(answer: Answer) -> Label:
    """Return the label; of several in the order of the alphabet, whatever order classes have."""
    label = answer.label
    assert label is not None
    return sorted(label) if isinstance(label, list) else label


def _decided(line: Line) -> Row:
    if line.answers:
        return {"label": _label(line.answers[0]), "annotator": line.answers[0].annotator}
    return {"label": None, "guess": line.guess, "probability": line.probability}


# JSON lines


def _jsonl(books: Books, lines: list[Line]) -> Export:
    return Export("application/x-ndjson", "jsonl", _in_lines(map(_plain, lines)))


def _plain(line: Line) -> Row:
    written = {**line.item, **_decided(line)}
    if len(line.answers) > 1:
        written["answers"] = [
            {"label": _label(answer), "annotator": answer.annotator} for answer in line.answers
        ]
    if line.notes:
        written["notes"] = [
            {"text": note["text"], "annotator": note["annotator"]} for note in line.notes
        ]
    return written


def _in_lines(values: Iterator[Row]) -> bytes:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


# tables


def _csv(books: Books, lines: list[Line]) -> Export:
    head, rows = _table(lines)
    cells: list[list[object]] = [list(head), *([row.get(name) for name in head] for row in rows)]
    out = io.StringIO(newline="")
    csv.writer(out).writerows([_safe(cell) for cell in row] for row in cells)
    changed = sum(_safe(cell) != _text(cell) for row in cells for cell in row)
    note = (
        f"{changed} cells that began with = + - @, a tab or a carriage return have a ' before "
        "them, so that no spreadsheet computes them; --format jsonl keeps them as they are"
    )
    content = out.getvalue().encode()
    return Export("text/csv; charset=utf-8", "csv", content, note if changed else None)


def _safe(cell: object) -> str:
    """Write a cell as a text that no spreadsheet takes for a formula."""
    text = _text(cell)
    is_number = isinstance(cell, int | float)
    return f"'{text}" if text.startswith(FORMULA) and not is_number else text


def _text(cell: object) -> str:
    if cell is None:
        return ""
    return canonical(cell) if isinstance(cell, list | dict) else str(cell)


def _parquet(books: Books, lines: list[Line]) -> Export:
    with extra("tables"):
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

    def column(values: list[object]) -> object:
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several types
            return pa.array([None if value is None else _text(value) for value in values])

    head, rows = _table(lines)
    table = pa.table({name: column([row.get(name) for row in rows]) for name in head})
    out = io.BytesIO()
    pq.write_table(table, out)
    return Export("application/vnd.apache.parquet", "parquet", out.getvalue())


def _table(lines: list[Line]) -> tuple[list[str], list[Row]]:
    """Return the columns, and of each item its cells by column."""
    rows = [_cells(line) for line in lines]
    head = dict.fromkeys(["id", *(name for row in rows for name in row), "label"])
    last = [name for name in ("label", "annotator", "guess", "probability") if name in head]
    return [name for name in head if name not in last] + last, rows


def _cells(line: Line) -> Row:
    reserved = {"id", "meta", "label", "annotator", "guess", "probability"}
    cells = {name: value for name, value in line.item.items() if name not in ("fields", "meta")}
    for name, value in line.item.get("fields", {}).items():
        cells[f"fields.{name}" if name in reserved else name] = value
    if line.item.get("meta"):
        cells["meta"] = written(line.item["meta"])
    return cells | _decided(line)


# Prodigy


def _prodigy(books: Books, lines: list[Line]) -> Export:
    options = [{"id": name, "text": name} for name in books.classes]
    style = "multiple" if books.settings["multilabel"] else "single"
    tasks = (task for line in lines for task in _tasks(line, options, style))
    return Export("application/x-ndjson", "jsonl", _in_lines(tasks))


def _tasks(line: Line, options: list[dict[str, str]], style: str) -> Iterator[Row]:
    """Yield a task for each answer, as Prodigy keeps those of several sessions."""
    shown = _shown(line.item)
    task = shown | {
        "options": options,
        "_input_hash": _hash(shown),
        "_task_hash": _hash([shown, options]),
        "_view_id": "choice",
        "config": {"choice_style": style},
    }
    for answer in line.answers:
        accepted = {"accept": _choices(_label(answer)), "answer": "accept"}
        who = {"_annotator_id": answer.annotator, "_session_id": answer.annotator}
        yield task | accepted | who
    if not line.answers:
        yield task


def _hash(value: object) -> int:
    """Return a whole number of 32 bits: equal for equal inputs, as Prodigy's hashes are."""
    return int.from_bytes(sha256(canonical(value).encode()).digest()[:4], "big", signed=True)


def _shown(item: Item) -> Item:
    """Return an item with a text where it has neither text nor picture: others show only these."""
    if "fields" in item:
        return item | {"text": "\n".join(f"{k}: {_text(v)}" for k, v in item["fields"].items())}
    return item | {"text": item["id"]} if "vector" in item else item


def _choices(label: Label) -> list[str]:
    return label if isinstance(label, list) else [label]


# Label Studio


def _label_studio(books: Books, lines: list[Line]) -> Export:
    tasks = [_task(number, line) for number, line in enumerate(lines, 1)]
    content = (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n").encode()
    note = f"the labelling interface of Label Studio is {label_studio_config(books)}"
    return Export("application/json", "json", content, note)


def _task(number: int, line: Line) -> Row:
    data = _shown(line.item)
    meta = {"meta": data["meta"]} if "meta" in data else {}
    return {
        "id": number,
        "data": {name: value for name, value in data.items() if name != "meta"},
        **meta,
        "annotations": [
            {
                "id": 1000 * number + k,
                "completed_by": {"email": answer.annotator},
                "result": _result(_label(answer)),
                "was_cancelled": False,
                "ground_truth": False,
            }
            for k, answer in enumerate(line.answers)
        ],
        "predictions": [
            {
                "model_version": "selectron",
                "score": line.probability,
                "result": _result(line.guess),
            }
        ]
        if line.guess is not None
        else [],
    }


def _result(label: Label) -> list[Row]:
    value = {"choices": _choices(label)}
    return [
        {"id": "label", "from_name": "label", "to_name": "item", "type": "choices", "value": value}
    ]


def label_studio_config(books: Books) -> str:
    """Return the labelling interface that the tasks of an export belong to."""
    picture = bool(books.items) and "image" in books.items[0]
    tag, column = ("Image", "image") if picture else ("Text", "text")
    choices = "".join(f"<Choice value={quoteattr(name)}/>" for name in books.classes)
    several = "multiple" if books.settings["multilabel"] else "single"
    return (
        f'<View><{tag} name="item" value="${column}"/>'
        f'<Choices name="label" toName="item" choice="{several}">{choices}</Choices></View>'
    )


FORMATS: dict[str, Callable[[Books, list[Line]], Export]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "parquet": _parquet,
    "prodigy": _prodigy,
    "label-studio": _label_studio,
}
