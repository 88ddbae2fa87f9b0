"""The learner of a desk, and how it follows the books."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from selectron.labelling.books import Books
from selectron.labelling.checks import Label


class Pick(NamedTuple):
    """An item that the learner wants to ask about."""

    row: int
    margin: float | None
    kind: str  # "first" while fewer than two classes are known, then "doubt"
    guess: str | None


class ItemLearner(Protocol):
    """What the desk needs of a learner.

    `restore` brings back everything as it was at `snapshot`, the rows and classes that were there
    included: those that came later are added again.
    """

    def add_rows(self, items: list[dict[str, Any]]) -> None:
        """Take items in; rows are numbered in their order."""

    def add_classes(self, names: list[str]) -> None: ...
    def teach(self, row: int, label: Label) -> None: ...
    def choose(self, n: int, free: NDArray[np.bool_]) -> list[Pick]:
        """Return up to n different rows among those that are free."""

    def chances(self) -> NDArray[np.float64]:
        """Return the probability of each class (column) for each row."""

    def forecast(self, items: list[dict[str, Any]]) -> NDArray[np.float64]:
        """Return the probability of each class for items that were not added."""

    def snapshot(self) -> Any: ...
    def restore(self, snapshot: Any) -> None: ...
    def digest(self) -> str: ...
    def file(self) -> bytes:
        """Return the learner as a `.selectron` file."""


class Saved(NamedTuple):
    steps: int  # how many steps of the books the snapshot has
    lessons: int
    learner: Any
    judged: NDArray[np.float64] | None


class Lessons:
    """A learner that trails the books, with snapshots from which an answer can be un-taught.

    Snapshots lie at doubling distance: to go back d lessons, fewer than 4 d are learnt again, and
    n lessons keep at most 2 log2(n) + 2 snapshots.
    """

    def __init__(self, make: Callable[[dict[str, Any]], ItemLearner]) -> None:
        self._make = make
        self._saved: list[Saved] = []
        self._done = 0  # steps of the books that the learner has followed
        self._lessons = 0
        self.learner: ItemLearner | None = None
        self.judged: NDArray[np.float64] | None = None  # chances of the frozen model

    def follow(self, books: Books) -> ItemLearner:
        """Catch up with the books."""
        changed, books.relearn_from = books.relearn_from, None
        if self.learner is None or changed == -1:
            self.learner = self._make(dict(books.settings))
            self._saved, self._done, self._lessons, self.judged = [], 0, 0, None
        elif changed is not None and changed < self._done:
            self._go_back(self.learner, changed)
        kept = _places(len(books.lessons) - 1)
        self._saved = [saved for saved in self._saved if saved.lessons in kept]
        while self._done < len(books.steps):
            self._take(self.learner, books, kept)
        return self.learner

    def _go_back(self, learner: ItemLearner, step: int) -> None:
        while self._saved[-1].steps > step:
            self._saved.pop()
        self._done, self._lessons, snapshot, self.judged = self._saved[-1]
        learner.restore(snapshot)

    def _take(self, learner: ItemLearner, books: Books, kept: set[int]) -> None:
        _, what, value = books.steps[self._done]
        if what == "teach":
            if self._lessons in kept and (
                not self._saved or self._saved[-1].lessons < self._lessons
            ):
                snapshot = learner.snapshot()
                self._saved.append(Saved(self._done, self._lessons, snapshot, self.judged))
            learner.teach(*value)
            self._lessons += 1
        elif what == "rows":
            learner.add_rows(books.items[value[0] : value[1]])
        elif what == "classes":
            learner.add_classes(value)
        else:
            self.judged = learner.chances().copy() if what == "freeze" else None
        self._done += 1


def _places(last: int) -> set[int]:
    """Return before which lessons a snapshot is kept, where `last` is the last lesson.

    For every power of two these are its two last multiples. A later set needs no place that an
    earlier one had given up.
    """
    places = {0}
    for power in range(max(0, last).bit_length()):
        multiple = last >> power << power
        places |= {multiple, multiple - (1 << power)}
    return places
