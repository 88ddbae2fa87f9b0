"""The learner of a desk: rows of items, a belief about their classes, and which item to ask about.

It is a `SelectiveClassifier` whose rows are all at hand. What it has learnt depends on the order of
items and lessons alone, so a replay of the log makes the same learner, bit for bit.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from selectron.arrays import Flags, Indices, Table
from selectron.classifier.estimator import SelectiveClassifier, load_as
from selectron.classifier.run import Checkpoint
from selectron.features import Features
from selectron.labelling.checks import Settings
from selectron.labelling.events import Item
from selectron.labelling.lessons import Pick, joined, parted

Label = str | list[str]
LOOKED_AT = 20_000  # items among which the next one is chosen: a choice takes some 33 ms
Chances = NDArray[np.float64]
NO, YES = "no", "yes"  # of several labels an item, each has a learner of its own


class Snapshot(NamedTuple):
    """What lessons and items can change."""

    n_items: int
    classes: list[str]
    lessons: list[tuple[int, Label]]
    studied: int
    learners: list[tuple[SelectiveClassifier, Checkpoint]]


class Begun(NamedTuple):
    """Learners that have studied the items, before their first lesson."""

    n_items: int
    learners: list[tuple[SelectiveClassifier, Checkpoint]]


class PoolLearner:
    """Items at hand, and the learner that has been taught some of their labels.

    Rarities, directions and scales are learnt from the items that are there at the first lesson,
    and again whenever their number has doubled since; then all lessons are taught anew.

    Parameters
    ----------
    settings : dict
        Of the desk: "seed", and "multilabel" if an item may have several labels.
    images : path, optional
        The folder of the pictures that items name.
    """

    def __init__(self, settings: Settings, images: Path | None = None) -> None:
        self._seed, self._images = int(settings.get("seed") or 0), images
        self._several = bool(settings.get("multilabel"))
        self._items: list[Item] = []
        self._first = 0  # items that came first, and decided how all others are read
        self._features: Features | None = None
        self._pieces: list[Table] = []  # rows of items, as they came
        self._classes: list[str] = []
        self._lessons: list[tuple[int, Label]] = []
        self._studied = 0  # items that there were when the learners began
        self._learners: list[SelectiveClassifier] = []  # one; of several labels an item, one each
        self._begun: Begun | None = None
        self._chances: Chances | None = None

    # --- what the log tells

    def add_rows(self, items: list[Item]) -> None:
        """Take items in; rows are numbered in their order."""
        if not items:
            return
        if self._features is None:
            self._features, self._first = Features(items, self._images), len(items)
        rows = self._features.rows(items)
        self._items.extend(items)
        self._pieces.append(rows)
        self._chances = None
        if self._lessons and len(self._items) >= 2 * self._studied:
            self._begin()

    def add_classes(self, names: list[str]) -> None:
        """Let classes join, in this order."""
        self._classes.extend(name for name in names if name not in self._classes)
        self._chances = None
        if self._several and self._learners:
            self._begin()

    def teach(self, lessons: Sequence[tuple[int, Label]]) -> None:
        """Teach labels of items, one after the other."""
        self._lessons.extend(lessons)
        if self._learners:
            self._teach(lessons)
        elif lessons:
            self._begin()

    def _begin(self) -> None:
        """Begin with the items of now, and teach all lessons so far."""
        self._learners = self._new_learners(len(self._classes) if self._several else 1)
        self._studied = len(self._items)
        self._teach(self._lessons)

    def _new_learners(self, n: int) -> list[SelectiveClassifier]:
        """Return n learners that have studied all items and were taught nothing.

        To study 100,000 texts takes seconds, so the learners are kept as they were then.
        """
        known = self._begun
        if known is None or known.n_items != len(self._items) or len(known.learners) < n:
            learners = [SelectiveClassifier(random_state=self._seed) for _ in range(n)]
            for learner in learners:
                learner.choose(self._rows, ask=False)
            saved = [(learner, learner.snapshot()) for learner in learners]
            known = self._begun = Begun(len(self._items), saved)
        return [learner.restore(copied) for learner, copied in known.learners[:n]]

    def _teach(self, lessons: Sequence[tuple[int, Label]]) -> None:
        rows = [row for row, _ in lessons]
        for k, learner in enumerate(self._learners):
            answers: list[Label] = [label for _, label in lessons]
            if self._several:
                answers = [YES if self._classes[k] in label else NO for label in answers]
            learner.tell_rows(self._rows, rows, answers)
        self._chances = None

    @property
    def _rows(self) -> Table:
        """All rows. The learner presents them once, as long as this is the same table."""
        if len(self._pieces) > 1:
            self._pieces = [_stacked(self._pieces)]
        return self._pieces[0]

    # --- what the desk asks

    def choose(self, n: int, free: Flags) -> list[Pick]:
        """Return up to n different rows among those that are free, the worthiest first."""
        if not free.any():
            return []
        learners = self._learners or self._new_learners(1)
        learner = learners[len(self._lessons) % len(learners)]  # of several labels, each in turn
        choice = learner.choose(self._rows, n, among=self._some(free), ask=False)
        if choice.reasons[0] == "first":
            return [Pick(row, None, "first", None) for row in choice.rows.tolist()]
        found = self._of_rows(self._rows[choice.rows], len(choice.rows))
        return [
            Pick(row, _margin(chances), "doubt", self._classes[int(chances.argmax())])
            for row, chances in zip(choice.rows.tolist(), found, strict=True)
        ]

    def _some(self, free: Flags) -> Indices:
        """Return rows that are free; of very many every k-th, others after the next lesson."""
        rows = np.flatnonzero(free)
        step = -(-len(rows) // LOOKED_AT)
        return rows[len(self._lessons) % step :: step]

    def chances(self) -> Chances:
        """Return the probability of each class (column) for each item (row)."""
        if self._chances is None:
            self._chances = self._of_rows(self._rows, len(self._items))
        return self._chances

    def chances_at(self, rows: Sequence[int]) -> Chances:
        """Return the probability of each class for some items, without a look at all others."""
        if self._chances is not None:
            return self._chances[rows]
        return self._of_rows(self._rows[rows], len(rows))

    def forecast(self, items: list[Item]) -> Chances:
        """Return the probability of each class for items that were not added."""
        features = self._features or Features(items, self._images)
        return self._of_rows(features.rows(items), len(items))

    def _of_rows(self, rows: Table, n: int) -> Chances:
        out = np.full((n, len(self._classes)), 0.5 if self._several else 0.0)
        if not self._lessons:
            return out if self._several else out + 1.0 / max(1, len(self._classes))
        for k, learner in enumerate(self._learners):
            found, names = learner.predict_proba(rows), learner.classes_.tolist()
            for j, name in enumerate(names):
                if self._several:
                    out[:, k] = found[:, names.index(YES)] if YES in names else 0.0
                else:
                    out[:, self._classes.index(name)] = found[:, j]
        return out

    # --- going back, and on

    def snapshot(self) -> Snapshot:
        """Copy what is known, so that `restore` can go back to it."""
        learners = [(learner, learner.snapshot()) for learner in self._learners]
        lessons = self._lessons.copy()
        return Snapshot(len(self._items), self._classes.copy(), lessons, self._studied, learners)

    def restore(self, snapshot: Snapshot) -> None:
        """Forget the items, classes and lessons that came later."""
        if snapshot.n_items < len(self._items):
            self._items = self._items[: snapshot.n_items]
            self._pieces = [self._rows[: snapshot.n_items]] if self._items else []
        self._classes, self._lessons = snapshot.classes.copy(), snapshot.lessons.copy()
        self._studied, self._chances = snapshot.studied, None
        self._learners = [learner.restore(copied) for learner, copied in snapshot.learners]

    def digest(self) -> str:
        """Return a SHA-256 of all that is known."""
        known = repr((len(self._items), self._classes, self._lessons, self._studied))
        parts = [known.encode(), *(learner.packing()() for learner in self._learners)]
        return sha256(b"".join(parts)).hexdigest()

    def packing(self) -> Callable[[], bytes]:
        """Copy all that is known except the items, whose rows are made anew."""
        says = {
            "items": len(self._items),
            "first": self._first,
            "classes": self._classes.copy(),
            "lessons": self._lessons.copy(),
            "studied": self._studied,
        }
        files = [learner.packing() for learner in self._learners]
        return lambda: joined(says, *(file() for file in files))

    def unpack(self, data: bytes, items: list[Item]) -> None:
        """Take what was packed into a new learner, with the items that were there then."""
        says, files = parted(data)
        if says["items"] != len(items):
            raise ValueError(f"the learner was packed with {says['items']} items")
        self.add_rows(items[: says["first"]])  # they decide how all others are read
        self.add_rows(items[says["first"] :])
        self._classes = says["classes"]
        self._lessons = [(row, label) for row, label in says["lessons"]]
        self._studied = says["studied"]
        self._learners = [_learner_of(file) for file in files]

    def file(self) -> bytes:
        """Return the learner as a `.selectron` file."""
        if not self._learners or self._several:
            raise ValueError("there is a model once a label was taught, of one label an item")
        return self._learners[0].packing()()


def _margin(chances: Chances) -> float:
    """Return by how much the likeliest class leads, in probability."""
    ordered = np.sort(chances)
    return float(ordered[-1] - ordered[-2]) if len(ordered) > 1 else 1.0


def _stacked(pieces: list[Table]) -> Table:
    """Return tables as one."""
    if isinstance(pieces[0], np.ndarray):
        return np.vstack(pieces)
    whole: Table = sparse.vstack(pieces).tocsr()
    return whole


def _learner_of(file: bytes) -> SelectiveClassifier:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.selectron"
        path.write_bytes(file)
        learner = load_as([SelectiveClassifier], path)
        assert isinstance(learner, SelectiveClassifier)
        return learner
