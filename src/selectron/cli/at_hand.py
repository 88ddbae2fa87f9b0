"""`selectron run --pool`: all rows are at hand, and the learner names the row to label next."""

from argparse import Namespace
from collections.abc import Callable, Iterator

import numpy as np

from selectron import SelectiveClassifier
from selectron.cli.output import progress, table, tell, with_plot
from selectron.streams import Stream

LABELS = 100  # unless --budget says otherwise
STEPS = (1, 2, 5)  # labels that the table shows: 1, 2, 5, 10, 20, 50, ...


def run_at_hand(
    options: Namespace, learner: SelectiveClassifier, stream_of: Callable[[int], Stream]
) -> int:
    """Let the learner choose rows until the budget is spent; print the error on the way."""
    seeds = range(options.seed, options.seed + options.seeds)
    curves = []
    for seed in seeds:
        stream = stream_of(seed)
        most = min(options.budget or LABELS, len(stream.y))
        params = learner.get_params(deep=False) | {"recipe": stream.recipe, "random_state": seed}
        now = SelectiveClassifier(**params)
        with progress(most, "labels") as bar:
            curve = []
            for error in errors_of(now, stream, most):
                curve.append(error)
                bar.update(1)
        curves.append(curve)
    if options.save:
        now.save(options.save)
    judged = "test error" if stream.test is not None else "error on the rows left"
    means = [(n, float(np.mean([c[n - 1] for c in curves]))) for n in _round_numbers(most)]
    head = f"{stream.name}: {len(stream.y):,} rows at hand, {options.seeds} seed(s)"
    lines = table(("labels", judged), [(n, f"{error:.4f}") for n, error in means])
    if options.plot:
        _draw(options.plot, curves, judged, stream.name)
    facts = {"data": stream.name, "rows": len(stream.y), "seeds": list(seeds)}
    facts |= {"judged": judged, "errors": curves}
    return tell(options, with_plot(f"{head}\n\n{lines}", options), facts)


def errors_of(clf: SelectiveClassifier, stream: Stream, most: int) -> Iterator[float]:
    """Yield the error after each label: on the test rows, or on those without a label yet."""
    wanted = np.asarray(stream.y)
    left = np.ones(len(wanted), bool)
    for _ in range(most):
        choice = clf.choose(stream.X)
        clf.tell(choice.tickets, wanted[choice.rows])
        left[choice.rows] = False
        if stream.test is not None:
            rows, truth = stream.test[0], np.asarray(stream.test[1])
        elif left.any():
            rows, truth = stream.X[left], wanted[left]
        else:
            yield 0.0
            continue
        yield float(np.mean(clf.predict(rows) != truth))


def _round_numbers(most: int) -> list[int]:
    numbers = [step * 10**power for power in range(7) for step in STEPS]
    return [*(n for n in numbers if n < most), most]


def _draw(path: str, curves: list[list[float]], judged: str, title: str) -> None:
    from matplotlib.figure import Figure

    from selectron.evaluate.plots import written

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for curve in curves:
        axes.plot(np.arange(1, len(curve) + 1), curve, color="C0", alpha=0.4)
    axes.plot(np.arange(1, len(curves[0]) + 1), np.mean(curves, axis=0), color="C0")
    axes.set(xlabel="labels", ylabel=judged, title=title)
    axes.grid(alpha=0.3)
    written(figure, path)
