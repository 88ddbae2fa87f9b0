"""A driver that teaches a table in shards, in a process that is killed."""

from pathlib import Path
from tempfile import TemporaryDirectory

import selectron
from selectron.engines import Here
from selectron.engines.sift_and_teach import Making, Schedule, Teaching
from selectron.queries import Budget, Margin
from selectron.streams.rows import FileRows
from selectron.streams.shards import Shards
from selectron.streams.two_classes import Sides
from tests.engines.files import write_csv

SMALL = Schedule(opening=40, growth=0.1, least=16)
BUDGET = 60


def from_file(row, record, label):
    return label


def taught(table, learner, shards=3, engine=None, answer=from_file, tick=int, **more):
    rows = FileRows(table, supervised=True)
    making = Making(rows.maker, Sides.of(None, None))
    more = {"schedule": SMALL} | more
    teaching = Teaching(Shards(str(table), shards), making, answer, **more)
    return teaching.run(learner.set_params(recipe=rows.recipe), engine or Here(), tick)


def frugal():
    """Return a learner with a budget."""
    query = Budget(Margin(b=0.5), total=BUDGET, horizon=240)
    return selectron.SelectiveClassifier("perceptron", query, scaling="centred", random_state=0)


def prepare():
    """Import all that a life needs: a life is shorter than that."""
    with TemporaryDirectory() as folder:
        taught(write_csv(Path(folder) / "people.csv", 60), frugal())


def teach(table, checkpoint, progress, digest):
    """Teach a table; `progress` says how many rows are done, those of earlier lives too."""
    rows = 0

    def tick(n):
        nonlocal rows
        rows += n
        Path(progress).write_text(str(rows))

    done = taught(table, frugal(), tick=tick, checkpoint=Path(checkpoint))
    Path(digest).write_text(
        f"{done.digest()} {done.learner.n_asked_} {sorted(done.pairs.items(), key=str)}"
    )
