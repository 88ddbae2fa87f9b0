"""`selectron store`: whether a store is whole, a copy of it, and what is in it."""

import sys
from argparse import Namespace
from pathlib import Path

from selectron.cli.desks import (
    books_of,
    desk_of,
    images_beside,
    is_address,
    reading,
    without_password,
)
from selectron.cli.output import check_outputs, facts_table, tell, write_json
from selectron.files import write_whole
from selectron.labelling.exports import export as written


def store(options: Namespace) -> int:
    check_outputs(options)
    return {"verify": _verify, "backup": _backup, "info": _info}[options.task](options)


def _verify(options: Namespace) -> int:
    with reading(options.store) as opened:
        report = opened.verify()
    name = without_password(options.store)
    facts = report._asdict() | {"ok": report.ok}
    if report.ok:
        marked = "no mark beside it" if report.marked is None else f"marked to {report.marked:,}"
        text = f"{name} is whole: {report.events:,} events, {marked}, {report.head}"
    else:
        text = "\n".join(f"{name}: {problem}" for problem in report.problems)
    tell(options, text, facts)
    return 0 if report.ok else 1


def _backup(options: Namespace) -> int:
    target = options.output or (
        "selectron.backup.db" if is_address(options.store) else f"{options.store}.backup"
    )
    with reading(options.store) as opened:
        opened.backup(target)
    name = without_password(options.store)
    return tell(options, f"{target} is a whole copy of {name}", {"backup": target})


def _info(options: Namespace) -> int:
    with reading(options.store) as opened:
        info = opened.info()
    shown = info | {"kinds": ", ".join(f"{n:,} {kind}" for kind, n in info["kinds"].items())}
    return tell(options, facts_table(shown), info)


def export(options: Namespace) -> int:
    check_outputs(options)
    with reading(options.store) as store:
        if options.all:
            desk = desk_of(store, options.images or images_beside(options.store))
            books, learner = desk.books, desk.learn()
            file = written(books, options.format, learner)
        else:
            books = books_of(store)
            file = written(books, options.format)
    if options.output in (None, "-"):
        sys.stdout.buffer.write(file.content)
        sys.stdout.buffer.flush()
    else:
        write_whole(Path(options.output), file.content)
        print(f"{options.output}: {len(books.labels):,} of {len(books.items):,} items have labels")
    if file.note:
        print(f"selectron: {file.note}", file=sys.stderr)
    facts = {"labels": len(books.labels), "items": len(books.items), "format": options.format}
    write_json(facts, options.json)
    return 0
