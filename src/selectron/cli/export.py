"""`selectron export`: the labels of a store as a file, also while a server writes to the store."""

import sys
from argparse import Namespace
from pathlib import Path

from selectron.cli.desks import books_of, desk_of, images_beside, reading
from selectron.cli.output import check_outputs, write_json
from selectron.files import write_whole
from selectron.labelling.exports import export as written


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
