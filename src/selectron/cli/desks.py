"""What the commands of labelling share: stores, the desks made of them, and how errors are said."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selectron.labelling.books import Books
from selectron.labelling.checks import Settings
from selectron.labelling.desk import Desk, ItemLearner
from selectron.labelling.items import Columns
from selectron.labelling.learner import PoolLearner
from selectron.labelling.service import Full, Stopped
from selectron.labelling.store import Store, StoreError, open_store

SUFFIX = ".selectron.db"


@contextmanager
def in_one_line() -> Iterator[None]:
    """Raise errors of stores and services as those that every command says in one line."""
    try:
        yield
    except (StoreError, Stopped, Full) as error:
        raise OSError(str(error)) from error


@contextmanager
def reading(store: str) -> Iterator[Store]:
    """Open a store that is there, beside whoever writes to it."""
    with in_one_line(), open_store(store, readonly=True) as opened:
        yield opened


def is_address(store: str) -> bool:
    """Say whether a store is a database server and not a file."""
    return store.startswith(("postgresql://", "postgres://"))


def without_password(store: str) -> str:
    """Return the name of a store or a source as it may be printed."""
    if "://" not in store:
        return store
    shown = re.sub(r"(//[^:@/]*):[^@]*@", r"\1@", store).replace("//@", "//")
    return re.sub(r"(?<=[?&])password=[^&]*&?", "", shown).rstrip("?&")


def new_desk(images: Path | None) -> Desk:
    def learner(settings: Settings) -> ItemLearner:
        return PoolLearner(settings, images)

    return Desk(learner)


def desk_of(store: Store, images: Path | None) -> Desk:
    """Make a desk of the events of a store."""
    desk = new_desk(images)
    for seq, event in store.events():
        desk.apply(event, seq)
    return desk


def books_of(store: Store) -> Books:
    books = Books()
    for seq, event in store.events():
        books.apply(event, seq)
    return books


def store_beside(items: str) -> str:
    """Return where labels are kept if nobody says where: beside the items."""
    path = Path(items)
    return str(path.with_name((path.name if path.is_dir() else path.stem) + SUFFIX))


def images_beside(store: str) -> Path | None:
    """Return where the pictures of a store lie: in the folder it is named for, or beside it."""
    if is_address(store):
        return None
    path = Path(store).absolute()
    folder = path.with_name(path.name.removesuffix(SUFFIX))
    return folder if folder.is_dir() else path.parent


def columns_of(options: object) -> Columns:
    """Return the columns that options name."""
    named = {name: getattr(options, name) for name in ("text", "image", "id", "label", "show")}
    return Columns(**{name: value for name, value in named.items() if value})
