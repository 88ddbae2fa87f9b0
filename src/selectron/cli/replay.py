"""`selectron replay`: the same labels in another order, and what they would have cost.

A fifth of the labelled items is kept apart. Each order teaches a new learner the others one by one,
and the error on the fifth is measured on the way.
"""

from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from selectron.cli.desks import books_of, images_beside, is_address, reading
from selectron.cli.output import check_outputs, progress, table, tell, with_plot
from selectron.labelling import asking
from selectron.labelling.books import Books, coin
from selectron.labelling.learner import PoolLearner

LEAST = 20  # labels
MEASURED = 60  # points of a curve
AS_ASKED = "as asked"


class Curve(NamedTuple):
    order: str
    labels: list[int]
    errors: list[float]

    def labels_to(self, error: float) -> int | None:
        """Return after how many labels the error was as small as this."""
        reached = (n for n, e in zip(self.labels, self.errors, strict=True) if e <= error)
        return next(reached, None)


def replay(options: Namespace) -> int:
    if options.plot == "":  # --plot without a name
        options.plot = str(plot_beside(options.store))
    check_outputs(options)
    with reading(options.store) as store:
        books = books_of(store)
    rows = [value[0] for _, what, value in books.steps if what == "teach"]
    if len(rows) < LEAST or not books.knows_two_classes:
        raise ValueError(f"a replay needs {LEAST} labels of two classes or more, got {len(rows)}")
    apart = sorted(rows, key=lambda row: coin(options.seed, "replay", row))[: len(rows) // 5]
    taught = [row for row in rows if row not in set(apart)]
    images = options.images or images_beside(options.store)
    orders = [AS_ASKED, *dict.fromkeys(options.query)]
    with progress(len(orders) * len(taught), "labels") as bar:
        curves = [
            _curve(order, books, (taught, apart, images, options.seed), bar.update)
            for order in orders
        ]
    goal = curves[0].errors[-1]
    head = ["order", "labels", "error at the end", f"labels to {goal:.1%}"]
    lines = [[c.order, c.labels[-1], f"{c.errors[-1]:.1%}", c.labels_to(goal)] for c in curves]
    said = f"{len(apart):,} of {len(rows):,} labelled items are kept apart to measure the error"
    if options.plot:
        _draw(curves, Path(options.plot))
    facts = [c._asdict() | {"labels_to_goal": c.labels_to(goal)} for c in curves]
    text = with_plot(f"{said}\n\n{table(head, lines)}", options)
    return tell(options, text, {"apart": len(apart), "goal": goal, "curves": facts})


def plot_beside(store: str) -> Path:
    """Return where orders are drawn if nobody says where: beside the store."""
    if is_address(store):
        return Path("selectron.orders.png")
    path = Path(store)
    return path.with_name(path.name.removesuffix(".db").removesuffix(".selectron") + ".orders.png")


Given = tuple[list[int], list[int], Path | None, int]


def _curve(order: str, books: Books, given: Given, tick: Callable[[int], object]) -> Curve:
    """Teach a new learner in this order, and measure its error on the items kept apart."""
    taught, apart, images, seed = given
    learner = PoolLearner(books.settings | {"seed": seed}, images)
    place = {row: k for k, row in enumerate([*taught, *apart])}
    learner.add_rows([books.items[row] for row in place])
    learner.add_classes(books.classes)
    points = {round(n) for n in np.geomspace(1, len(taught), MEASURED)}
    curve = Curve(order, [], [])
    for n, row in enumerate(_order(order, learner, given), 1):
        learner.teach([(place[row], books.labels[row])])
        if n in points:
            chances = learner.chances()
            wrong = [asking.guess(books, chances[place[r]]) != books.labels[r] for r in apart]
            curve.labels.append(n)
            curve.errors.append(sum(wrong) / len(wrong))
        tick(1)
    return curve


def _order(order: str, learner: PoolLearner, given: Given) -> Iterator[int]:
    """Yield the rows to teach; the learner chooses among those that it has not been taught."""
    rows, apart, _, seed = given
    if order == AS_ASKED:
        yield from rows
    elif order == "random":
        yield from np.random.default_rng(seed).permutation(rows).tolist()
    else:
        free = np.arange(len(rows) + len(apart)) < len(rows)
        while free.any():
            (pick,) = learner.choose(1, free)
            free[pick.row] = False
            yield rows[pick.row]


def _draw(curves: list[Curve], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for curve in curves:
        axes.plot(curve.labels, [100 * error for error in curve.errors], label=curve.order)
    axes.set(xlabel="labels", ylabel="error on items kept apart, %", ylim=(0, None))
    axes.legend()
    figure.savefig(path, dpi=150)
