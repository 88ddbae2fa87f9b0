"""`selectron consume`: a page that asks about the items of a live stream."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from socket import gethostname
from threading import Thread

from selectron.cli.desks import columns_of, is_address, without_password
from selectron.cli.label import Stop, Work, ask, classes_of, command_again
from selectron.cli.output import progress, write_json
from selectron.labelling.intake import Intake
from selectron.labelling.service import Service
from selectron.labelling.sources import source_of


def consume(options: Namespace) -> int:
    again = command_again("consume", options, without_password(options.source))
    work = Work(None, [], classes_of(options), options.images, options.store, again)
    consumer = _consumer(options.store)
    with closing(source_of(options.source, options.stream, options.group, consumer)) as source:
        columns, limits = columns_of(options), (options.batch, options.most_waiting)
        intake = Intake(source, columns, options.images, *limits)
        status = ask(options, work, partial(_running, intake))
    print(
        f"selectron: {intake.added:,} new items from {source.name}; {intake.known:,} entries were "
        f"known, {intake.dead:,} are no items and lie in {options.stream}:dead",
        file=sys.stderr,
    )
    counts = {name: getattr(intake, name) for name in ("added", "known", "dead")}
    write_json(status | {"source": {"name": source.name, **counts}}, options.json)
    return 0


def _consumer(store: str) -> str:
    """Name the store as a consumer: the same at every start, since one process writes to it."""
    file = f"{gethostname()}:{Path(store).resolve()}"
    place = without_password(store) if is_address(store) else file
    return f"selectron-{sha256(place.encode()).hexdigest()[:16]}"


@contextmanager
def _running(intake: Intake, service: Service, stop: Stop) -> Iterator[None]:
    """Bring items in a thread. If it fails, stop the page, then say why."""
    failures: list[Exception] = []
    with progress(None, "items") as bar:

        def tell(line: str) -> None:
            bar.write(f"selectron: {line}", file=sys.stderr)

        def watch() -> None:
            bar.update(intake.added - bar.n)
            bar.set_postfix(waiting=intake.waiting, dead=intake.dead)

        def work() -> None:
            try:
                intake.run(service, tell, watch)
            except Exception as error:
                failures.append(error)
                stop()

        thread = Thread(target=work, name="selectron-intake")
        thread.start()
        try:
            yield
        finally:
            intake.stop()
            thread.join()
            if failures:
                raise failures[0]
