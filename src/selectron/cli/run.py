"""`selectron run` and `selectron compare`: learners over a stream from a file."""

from argparse import Namespace
from contextlib import suppress
from functools import partial

import numpy as np

from selectron.cli.output import check_outputs, progress, tell, with_plot
from selectron.cli.report import Result, control_of, judge, results_table
from selectron.cli.rules import learner_of
from selectron.kernels.choice import KernelChoice
from selectron.streams import Stream, read_stream, two_classes

OF_THE_ESTIMATE = "explore", "window", "stop_when"


def run(options: Namespace) -> int:
    name, results = _judge_all(options, [options.rules], control=False)
    if options.save:
        results[-1].learner.save(options.save)
    return _tell(options, name, results)


def compare(options: Namespace) -> int:
    return _tell(options, *_judge_all(options, options.rules, control=not options.no_control))


def _judge_all(options: Namespace, rules: list[str], *, control: bool) -> tuple[str, list[Result]]:
    if options.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {options.seeds}")
    check_outputs(options)
    settings = {"fit_intercept": options.intercept, "scaling": options.scaling}
    settings |= _kernel_settings(options)
    settings |= {name: getattr(options, name) for name in OF_THE_ESTIMATE}
    learners = {text: learner_of(text, **settings) for text in rules}
    stream = _read(options)
    seeds = range(options.seed, options.seed + options.seeds)
    results: list[Result] = []
    n_runs = len(learners) * len(seeds) * (1 + control)
    with progress(n_runs * _n_learnt(stream, options), "rows") as bar:
        judged = partial(
            judge,
            stream_of=partial(_arranged, stream, options),
            seeds=seeds,
            tick=bar.update,
            curves=options.plot is not None,
        )
        for text, learner in learners.items():
            results.append(judged(text, learner))
            if control:
                random = control_of(results[-1], learner)
                results.append(judged(f"{text}, at random", random))
    return stream.name, results


def _tell(options: Namespace, name: str, results: list[Result]) -> int:
    if options.plot:
        from selectron.evaluate import plot_curves

        plot_curves({result.name: result.trace for result in results}, options.plot, title=name)
    n, d = results[0].rounds, results[0].learner.n_features_in_
    head = f"{name}: {n:,} rows of {d:,} features, {options.seeds} seed(s)"
    certified = [
        f"{result.name}: {result.certificate}" + (f"\n\n{result.readout}" if result.readout else "")
        for result in results
    ]
    text = "\n\n".join([head, "\n".join([results_table(results), "", *certified])])
    for result in results:
        if result.many:
            text += f"\n\n{result.name}, first seed:\n{result.confusion_table()}"
    seeds = list(range(options.seed, options.seed + options.seeds))
    facts = {"data": name, "rows": n, "features": d, "seeds": seeds}
    facts["results"] = [result.as_json() for result in results]
    return tell(options, with_plot(text, options), facts)


def _kernel_settings(options: Namespace) -> dict[str, object]:
    """Return the kernel parameters of a learner, checked before any data are read."""
    if options.kernel is None:
        if options.budget is not None:
            raise ValueError("--budget is for learners with a kernel: name one by --kernel")
        return {}
    names = ("kernel", "degree", "gamma", "coef0", "budget", "removal")
    settings = {name: getattr(options, name) for name in names}
    with suppress(ValueError):  # scale, auto, or a word that KernelChoice refuses
        settings["gamma"] = float(options.gamma)
    KernelChoice(**settings)
    return settings


def _read(options: Namespace) -> Stream:
    """Read the whole stream and choose its classes."""
    if options.limit is not None and options.limit < 1:
        raise ValueError(f"--limit must be at least 1, got {options.limit}")
    if not 0.0 <= options.test < 1.0:
        raise ValueError(f"--test must lie in [0, 1), got {options.test}")
    sides = (text.split(",") if text else None for text in (options.positive, options.negative))
    stream = two_classes(read_stream(options.data, options.target), *sides)
    if stream.X.shape[0] != len(stream.y):
        raise ValueError(f"{options.data}: {stream.X.shape[0]} rows but {len(stream.y)} labels")
    if not options.unit_norm:
        return stream
    from sklearn.preprocessing import normalize

    test = None if stream.test is None else (normalize(stream.test[0]), stream.test[1])
    return stream._replace(X=normalize(stream.X), test=test)


def _n_learnt(stream: Stream, options: Namespace) -> int:
    """Return how many rows are left to learn from."""
    n: int = min(len(stream.y), options.limit or len(stream.y))
    apart: int = round(n * options.test)
    return n - apart


def _arranged(stream: Stream, options: Namespace, seed: int) -> Stream:
    """Return the rows in the order of this seed, cut and split as the options say."""
    X, y, name, test = stream
    order = np.arange(len(y))
    if options.shuffle:
        order = np.random.default_rng(seed).permutation(len(y))
    order, apart = np.split(order[: options.limit], [_n_learnt(stream, options)])
    if len(apart):
        test = X[apart], y[apart]
    if len(order) < len(y) or (np.diff(order) != 1).any():  # otherwise no copy is needed
        X, y = X[order], y[order]
    return Stream(X, y, name, test)
