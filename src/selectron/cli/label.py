"""`selectron label` and `selectron serve`: a page that asks what is worth asking."""

import os
import shlex
import signal
import sys
import threading
import webbrowser
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from getpass import getpass
from itertools import chain, islice
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, NamedTuple

from selectron.cli.desks import (
    columns_of,
    in_one_line,
    is_address,
    new_desk,
    store_beside,
    without_password,
)
from selectron.cli.interrupts import leaving_at_once
from selectron.cli.main import COMMANDS, OPTIONS
from selectron.cli.output import check_outputs, progress, write_json
from selectron.labelling import demo
from selectron.labelling.checks import Settings
from selectron.labelling.desk import Desk
from selectron.labelling.events import Reply
from selectron.labelling.items import Entry, load, read_items
from selectron.labelling.service import Service, Stopped
from selectron.labelling.store import open_store
from selectron.streams.records import images_of

if TYPE_CHECKING:
    from selectron.labelling.server import Accounts

ANNOTATOR = "you"
# Options that are settings of the desk. Those that name a class wait until there are classes.
SETTINGS = ("question", "budget", "overlap", "seed", "multilabel", "audit_rate")
SETTINGS_OF_CLASSES = ("positive", "goal")
READING_SECONDS = 60.0  # what is kept can be read so long after the store has failed
KEPT_BY_STORE = ("items", "source", "desk", "json")  # groups of options not to be given again


Stop = Callable[[], None]
Run = Callable[[Callable[[Stop], None]], None]  # asks; it hands on, once begun, what ends it
Beside = Callable[[Service, Stop], AbstractContextManager[None]]


class Work(NamedTuple):
    """What is to be labelled, where the labels go, and how to go on another time."""

    source: str | None  # a file or folder; None: items come over HTTP
    entries: Iterable[Entry]
    classes: list[str]
    images: Path | None
    store: str
    again: str


def label(options: Namespace) -> int:
    if options.items == "demo" and not Path("demo").exists():
        work = _demo(options)
    else:
        work = _of_file(options)
    return _written(ask(options, work), options)


def serve(options: Namespace) -> int:
    again = command_again("serve", options)
    work = Work(None, [], classes_of(options), options.images, options.store, again)
    return _written(ask(options, work), options)


def _written(status: Reply, options: Namespace) -> int:
    write_json(status, options.json)
    return 0


def _demo(options: Namespace) -> Work:
    name = "selectron-demo-pictures" if options.pictures else "selectron-demo"
    entries = demo.digits() if options.pictures else demo.tickets()
    classes = demo.DIGIT_CLASSES if options.pictures else demo.TICKET_CLASSES
    options.question = options.question or (
        "Which digit is it?" if options.pictures else "What is this letter about?"
    )
    store, again = options.store or f"{name}.db", command_again("label", options, "demo")
    return Work("demo", entries, classes_of(options) or list(classes), None, store, again)


def _of_file(options: Namespace) -> Work:
    items = options.items
    if items == "-" and (options.terminal or not options.store):
        raise ValueError(
            "items from standard input need --store FILE.db, and cannot go with --terminal"
        )
    if items != "-" and not Path(items).exists():
        raise FileNotFoundError(f"{items}: there is no such file")
    store = options.store or store_beside(items)
    again = command_again("label", options, items)
    entries = read_items(items, columns_of(options), bool(options.multilabel))
    first = list(islice(entries, 1))  # read before a store is made for items that are not there
    if not (first or is_address(store) or Path(store).exists()):
        raise ValueError(f"{items} has no items: give a file that has some")
    whole = chain(first, entries)
    return Work(items, whole, classes_of(options), images_of(items), store, again)


def command_again(command: str, options: Namespace, *items: str) -> str:
    """Return the command that goes on: how items are read, and where labels and page are.

    What the store keeps is left out, for it may have changed on the page: classes and settings.
    """
    words = ["selectron", command, *items]
    groups = (OPTIONS[name] for name in COMMANDS[command].options if name not in KEPT_BY_STORE)
    for group in groups:
        for flag, declared in group.items():
            value = getattr(options, flag.removeprefix("--").replace("-", "_"))
            if value is True:
                words.append(flag)
            elif value not in (None, False, [], declared.get("default")):
                values = value if isinstance(value, list) else [value]
                words += [flag, *(without_password(str(each)) for each in values)]
    return shlex.join(words)


def classes_of(options: Namespace) -> list[str]:
    return [name.strip() for name in (options.classes or "").split(",") if name.strip()]


def ask(options: Namespace, work: Work, beside: Beside | None = None) -> Reply:
    """Open the store, bring the items, and ask until somebody ends it; return the status then.

    A Ctrl-C before or after the asking ends the process at once: a learner may compile for a
    minute, and the log is whole at any moment.
    What is done `beside` begins when the page is there, and ends before the store is closed.
    """
    check_outputs(options)
    asking = _in_terminal if getattr(options, "terminal", False) else _on_page(options, work)
    with in_one_line(), leaving_at_once(), _service(work) as service, asking(service) as run:
        _set(service, _given(options, SETTINGS))
        with progress(None, "items") as bar:
            later = _given(options, SETTINGS_OF_CLASSES)
            loaded = load(service, work.entries, work.classes, work.images, bar.update, later)
        n_items = service.read(lambda desk: len(desk.books.items))
        if work.source and not n_items:
            raise ValueError(f"{work.source} has no items: give a file that has some")
        if n_items > loaded.added or loaded.known or loaded.answers:
            others = n_items - loaded.added - loaded.known
            print(
                f"selectron: {loaded.added:,} new items, {loaded.known:,} known"
                + (f", {others:,} others in the store" if others > 0 else "")
                + f"; {loaded.answers:,} labels of the file taken as answers",
                file=sys.stderr,
            )
        print(
            "selectron: the learner is made ready, then the questions come; "
            "the first start compiles it, for up to a minute",
            file=sys.stderr,
        )
        service.read(Desk.warm)
        with _until_interrupted(), ExitStack() as running:

            def began(stop: Stop) -> None:
                if beside:
                    running.enter_context(beside(service, stop))

            run(began)
        if service.stopped:  # the books may be ahead of the log
            raise Stopped(service.stopped)
        status = service.read(Desk.status)
    print(_reached(status, work), flush=True)
    return status


@contextmanager
def _service(work: Work) -> Iterator[Service]:
    store = open_store(work.store)
    info = store.info()
    flush = info.get("fsync_ms")
    print(
        f"selectron: {without_password(work.store)} has {info['events']:,} events"
        + (f"; this disk keeps an answer in {flush:.1f} ms" if flush is not None else ""),
        file=sys.stderr,
    )
    service = Service(store, new_desk(work.images))
    try:
        yield service
    finally:
        service.close()


def _given(options: Namespace, names: Iterable[str]) -> Settings:
    """Return the settings among the options that were given."""
    found = {name: getattr(options, name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _set(service: Service, changes: Settings) -> None:
    service.submit(lambda desk: desk.set(changes, time())).result()


@contextmanager
def _until_interrupted() -> Iterator[None]:
    """Go on after Ctrl-C or SIGTERM: they end the work, not the command."""
    heard = [signal.SIGTERM]
    if callable(signal.getsignal(signal.SIGINT)):  # otherwise it is ignored, and stays so
        heard.append(signal.SIGINT)
    before = [signal.signal(number, signal.default_int_handler) for number in heard]
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in zip(heard, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def _in_terminal(service: Service) -> Iterator[Run]:
    """Ask in the terminal, once all is there. Nothing goes on beside it."""
    from selectron.cli.terminal import Terminal

    yield lambda began: Terminal(service, ANNOTATOR).run()


def _on_page(options: Namespace, work: Work) -> Callable[[Service], AbstractContextManager[Run]]:
    """Return what serves the page, once all is there.

    What is missing for it is said before the store is opened. The server is made before items are
    read: beside a learner that compiles that would take long.
    """
    with leaving_at_once():
        from selectron.labelling.server import Accounts, Server
        from selectron.labelling.server.guard import LOOPBACK

    if options.host not in LOOPBACK and not (options.team and options.public):
        raise ValueError(
            f"--host {options.host} is reached from other machines: give --team and --public URL"
        )
    accounts = _accounts(Accounts(_accounts_file(work.store))) if options.team else None

    @contextmanager
    def page(service: Service) -> Iterator[Run]:
        server = Server(
            service,
            options.host,
            options.port,
            public=options.public,
            accounts=accounts,
            annotator=ANNOTATOR,
            images=work.images,
        )
        if options.token_file:
            _write_secret(Path(options.token_file), server.token)

        def run(began: Callable[[Stop], None]) -> None:
            def ready(address: str) -> None:
                print(f"selectron: open {address}", flush=True)
                if not options.no_browser and _has_display():
                    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
                began(server.stop)

            with _ending_if_it_stops(service, server.stop):
                server.run(ready)

        try:
            yield run
        finally:
            server.close()

    return page


@contextmanager
def _ending_if_it_stops(service: Service, end: Stop) -> Iterator[None]:
    """End the page a while after its store has failed: nobody can answer, and all can read."""
    timer = threading.Timer(READING_SECONDS, end)
    timer.daemon = True
    lock = threading.Lock()

    def look() -> None:
        with lock:
            if service.stopped and timer.ident is None:
                timer.start()
                print(
                    f"selectron: the page can be read for {READING_SECONDS:.0f} s more",
                    file=sys.stderr,
                )

    forget = service.listen(look)
    look()
    try:
        yield
    finally:
        forget()
        timer.cancel()


def _has_display() -> bool:
    there = "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    return there or sys.platform in ("darwin", "win32")


def _write_secret(path: Path, token: str) -> None:
    """Write a token to a file that its owner alone reads."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(file, "w") as opened:
        os.fchmod(file, 0o600)
        opened.write(token)


def _accounts_file(store: str) -> Path:
    return Path("selectron.accounts" if is_address(store) else f"{store}.accounts")


def _accounts(accounts: "Accounts") -> "Accounts":
    """Ask for the first account, an owner's, where there is none: owners add the others."""
    if not len(accounts):
        if not sys.stdin.isatty():
            raise ValueError("--team has no accounts yet: start it once on a terminal")
        name = input("Name of the first owner: ").strip()
        accounts.add(name, getpass("Password, at least 10 characters: "), "owner")
    return accounts


def _reached(status: Reply, work: Work) -> str:
    """Say what was reached and how to go on."""
    store = without_password(work.store)
    estimate = status["estimate"] or {}
    error = ""
    if estimate.get("error") is not None:
        error = (
            f" The learner errs on {estimate['error']:.1%} of the rest "
            f"({estimate['low']:.1%} to {estimate['high']:.1%}, by {estimate['audits']} audits)."
        )
    return (
        f"{status['labels']:,} of {status['items']:,} items have labels, kept in {store}.{error}\n"
        f"go on:   {work.again}\n"
        f"export:  selectron export {shlex.quote(store)} --format csv -o labels.csv"
    )
