"""The learner of a desk, and how it follows the books."""

import json
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise, takewhile
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from selectron.files import Description
from selectron.labelling.books import Books, Step
from selectron.labelling.checks import Label, Settings
from selectron.labelling.events import Item, canonical

LEAST_POWER = 5  # of the two in the distance of two snapshots
WARM_LESSONS = 5  # two of each class, or one of a third class and one after it
WARM_CLASSES = ["one", "two"]
WARM_ITEMS = [{"id": str(n), "text": f"some words of text {n}"} for n in range(60)]
WRITTEN_OUT = 32  # after a multiple of so many lessons, weights are written out in less time
LESSONS_AT_ONCE = 128  # in one call: other threads wait for its end


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

    def add_rows(self, items: list[Item]) -> None:
        """Take items in; rows are numbered in their order."""

    def add_classes(self, names: list[str]) -> None: ...
    def teach(self, lessons: Sequence[tuple[int, Label]]) -> None:
        """Learn labels of rows, one after the other."""

    def choose(self, n: int, free: NDArray[np.bool_]) -> list[Pick]:
        """Return up to n different rows among those that are free."""

    def chances(self) -> NDArray[np.float64]:
        """Return the probability of each class (column) for each row."""

    def chances_at(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Return the probability of each class for some rows alone."""

    def forecast(self, items: list[Item]) -> NDArray[np.float64]:
        """Return the probability of each class for items that were not added."""

    def snapshot(self) -> object: ...
    def restore(self, snapshot: Any) -> None: ...
    def digest(self) -> str: ...
    def file(self) -> bytes:
        """Return the learner as a `.selectron` file."""

    def packing(self) -> Callable[[], bytes]:
        """Copy all that is known except the items; what is returned makes bytes of it."""

    def unpack(self, data: bytes, items: list[Item]) -> None:
        """Take what was packed into a new learner, with the items that were there then."""


class Saved(NamedTuple):
    steps: int  # how many steps of the books the snapshot has
    lessons: int
    learner: object
    judged: NDArray[np.float64] | None


class Lessons:
    """A learner that trails the books, with snapshots from which an answer can be un-taught.

    Snapshots lie at doubling distance, from 32 lessons on: to go back d lessons, fewer than
    4 d + 64 are learnt again, and n lessons keep at most 2 log2(n) snapshots. A snapshot costs as
    much as some forty lessons, so one is taken before every thirty-second.
    """

    def __init__(self, make: Callable[[Settings], ItemLearner]) -> None:
        self._make = make
        self._saved: list[Saved] = []
        self._done = 0  # steps of the books that the learner has followed
        self._lessons = 0
        self._packed = 0  # lessons that the last pack has
        self._knew = 0  # steps that the learner had followed before it went back
        self.learner: ItemLearner | None = None
        self.judged: NDArray[np.float64] | None = None  # chances of the frozen model

    def follow(self, books: Books, most: int | None = None) -> ItemLearner:
        """Catch up with the books; with `most`, leave lessons over that so many do not reach.

        Items and classes are never left over, nor what is frozen.
        """
        changed, books.relearn_from = books.relearn_from, None
        learner = self.learner
        if learner is not None and changed is not None and changed < self._done:
            self._knew = max(self._knew, self._done)
            learner = self._gone_back(learner, changed)
        if learner is None:
            learner = self.learner = self._make(dict(books.settings))
            self._saved, self._done, self._lessons, self.judged = [], 0, 0, None
        kept = _places(len(books.lessons) - 1)
        self._saved = [saved for saved in self._saved if saved.lessons in kept]
        end = len(books.steps)
        if most is not None:
            if most > WRITTEN_OUT:
                most -= (self._lessons + most) % WRITTEN_OUT
            end = min(end, max(self._done + most, books.lessons_from))
        while self._done < end:
            self._take(learner, books, kept, end)
        if not self.learns_again(books):
            self._knew = 0
        return learner

    def warm(self, books: Books) -> None:
        """Do once, and take back, all that the first questions and answers take of the learner.

        So it is compiled before anybody waits for it. Without items, it is made ready for texts.
        """
        items, free = books.items, books.free()
        if items:
            learner = self.follow(books)
        else:
            items, free = WARM_ITEMS, np.ones(len(WARM_ITEMS), bool)
            learner = self._make(dict(books.settings))
            learner.add_rows(items)
            learner.add_classes(books.classes)
        before = learner.snapshot()
        # Three classes have another learner than two, which comes first.
        names = list(dict.fromkeys(books.classes + WARM_CLASSES))[: max(2, len(books.classes))][:3]
        learner.add_classes([name for name in names if name not in books.classes])
        for n, row in enumerate(np.flatnonzero(free)[:WARM_LESSONS].tolist()):
            name = names[n % len(names)]
            learner.teach([(row, [name] if books.settings["multilabel"] else name)])
            free[row] = False
            learner.choose(2, free)
        learner.chances()
        learner.forecast(items[:1])
        learner.restore(before)

    def left(self, books: Books) -> int:
        """Return how many steps of the books the learner has yet to take, or to take again."""
        changed = self._done if books.relearn_from is None else max(0, books.relearn_from)
        return len(books.steps) - min(self._done, changed)

    def learns_again(self, books: Books) -> bool:
        """Tell whether the learner has gone back, and not yet learnt again what it knew."""
        return self._done < min(self._knew, len(books.steps))

    def has_caught_up(self, books: Books) -> bool:
        return books.relearn_from is None and self._done == len(books.steps)

    def _gone_back(self, learner: ItemLearner, step: int) -> ItemLearner | None:
        """Return the learner as it was before a step; None where no snapshot goes back so far."""
        while self._saved and self._saved[-1].steps > step:
            self._saved.pop()
        if not self._saved:
            return None
        self._done, self._lessons, snapshot, self.judged = self._saved[-1]
        learner.restore(snapshot)
        return learner

    def packing(self, books: Books) -> Callable[[], bytes]:
        """Let the learner catch up with the books, and copy it; return what makes bytes of it.

        The snapshots are left out: to un-teach what came before, all is learnt anew.
        """
        packed = self.follow(books).packing()
        judged = np.zeros((0, 0)) if self.judged is None else self.judged
        says = {"steps": self._done, "lessons": self._lessons, "judged": list(judged.shape)}
        self._packed = self._lessons
        return lambda: joined(says, judged.tobytes(), packed())

    @property
    def unpacked(self) -> int:
        """How many lessons there are since the learner was packed."""
        return abs(self._lessons - self._packed)

    def unpack(self, data: bytes, books: Books) -> None:
        """Go on from what was packed, when the books were where they are now."""
        says, (judged, packed) = parted(data)
        if [says["steps"], says["lessons"]] != [len(books.steps), len(books.lessons)]:
            raise ValueError("the learner was packed at another place of the log")
        learner = self._make(dict(books.settings))
        learner.unpack(packed, books.items)
        self.learner, self._saved, books.relearn_from = learner, [], None
        self._done, self._lessons = says["steps"], says["lessons"]
        self._packed = self._lessons
        found = np.frombuffer(judged).reshape(says["judged"])
        self.judged = found if found.size else None

    def _take(self, learner: ItemLearner, books: Books, kept: set[int], end: int) -> None:
        """Take the next step of the books, or the next lessons up to the next snapshot."""
        _, what, value = books.steps[self._done]
        if what == "teach":
            if self._lessons in kept and (
                not self._saved or self._saved[-1].lessons < self._lessons
            ):
                snapshot = learner.snapshot()
                self._saved.append(Saved(self._done, self._lessons, snapshot, self.judged))
            later = (place for place in kept if place > self._lessons)
            at_once = LESSONS_AT_ONCE - self._lessons % LESSONS_AT_ONCE
            most = min(min(later, default=end) - self._lessons, at_once)
            steps = books.steps[self._done : min(end, self._done + most)]
            lessons = [value for _, _, value in takewhile(_is_lesson, steps)]
            learner.teach(lessons)
            self._lessons += len(lessons)
            self._done += len(lessons)
            return
        if what == "rows":
            learner.add_rows(books.items[value[0] : value[1]])
        elif what == "classes":
            learner.add_classes(value)
        else:
            self.judged = learner.chances().copy() if what == "freeze" else None
        self._done += 1


def _is_lesson(step: Step) -> bool:
    return step[1] == "teach"


def joined(says: Description, *parts: bytes) -> bytes:
    """Return parts as one, after a line that describes them."""
    sizes = [len(part) for part in parts]
    return b"".join([canonical({"sizes": sizes, **says}).encode(), b"\n", *parts])


def parted(data: bytes) -> tuple[Description, list[bytes]]:
    """Return the description and the parts of what was joined."""
    first = data.index(b"\n") + 1
    says = json.loads(data[:first])
    ends = accumulate(says["sizes"], initial=first)
    return says, [data[start:end] for start, end in pairwise(ends)]


def _places(last: int) -> set[int]:
    """Return before which lessons a snapshot is kept, where `last` is the last lesson.

    For every power of two from 32 on these are its two last multiples. A later set needs no place
    that an earlier one had given up.
    """
    places = {0}
    for power in range(LEAST_POWER, max(0, last).bit_length()):
        multiple = last >> power << power
        places |= {multiple, multiple - (1 << power)}
    return places
