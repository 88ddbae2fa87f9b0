"""`selectron run`: a learner over a stream from a file.

A small file is read whole: then it can be shuffled, split and gone over again, and a theorem may
cover the run. A large file passes by in batches.
"""

from argparse import Namespace
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from selectron import SelectiveClassifier
from selectron.cli.at_hand import run_at_hand
from selectron.cli.class_weight import weights_of
from selectron.cli.in_shards import ShardedResult, check_shards, in_shards
from selectron.cli.named import engine_named, learner_of
from selectron.cli.one_pass import PassResult, named_classes, one_pass
from selectron.cli.output import check_outputs, progress, tell, with_plot
from selectron.cli.report import (
    CONTROL,
    AnyResult,
    Result,
    control_of,
    draw,
    explained,
    headline,
    judge,
    results_table,
    spread_legend,
)
from selectron.engines import Engine
from selectron.kernels import KernelChoice
from selectron.queries import Auto, Budget, Capped
from selectron.streams import Stream, Unlabelled, read_stream, two_classes
from selectron.streams.records import size_of
from selectron.streams.rows import FileRows

OF_THE_ESTIMATE = "explore", "window", "stop_when"
OF_STREAMS = "engine", "oracle", "label_store", "one_pass", *OF_THE_ESTIMATE
LARGE = 64 << 20  # bytes: from here on a file passes by
NO_TABLES = {"latex": None, "csv": None}  # of a single run


def run(options: Namespace) -> int:
    options = Namespace(**NO_TABLES, **vars(options))
    if not options.engine and (options.shards is not None or options.checkpoint is not None):
        raise ValueError("--shards and --checkpoint need --engine beside them: local or ray")
    if options.pool:
        return _run_at_hand(options)
    results = (
        [_sharded(options)]
        if options.engine
        else results_of(options, [options.rules], engine_named(options), control=False)
    )
    if options.save:
        results[-1].learner.save(options.save)
    return _tell(options, results)


def _run_at_hand(options: Namespace) -> int:
    for name in OF_STREAMS:
        if getattr(options, name):
            flag = "goal" if name == "stop_when" else name.replace("_", "-")
            raise ValueError(f"--{flag} is for streams, and --pool for rows at hand: leave one out")
    check_outputs(options)
    _check(options)
    learner, stream = _learner(options, options.rules), _read(options)
    learner.set_params(class_weight=weights_of(options.class_weight, np.unique(stream.y)))
    return run_at_hand(options, learner, partial(_arranged, stream, options))


def _sharded(options: Namespace) -> ShardedResult:
    """Return the result of a run in shards."""
    check_outputs(options)
    _check(options)
    check_shards(options, _needs_all(options))
    engine = engine_named(options)
    assert engine is not None
    learner = _learner(options, options.rules)
    _weigh_named(learner, options)

    def begun(rows: FileRows, n: int, n_rows: int) -> SelectiveClassifier:
        return _with(learner, options, n, n_rows, recipe=rows.recipe, random_state=options.seed)

    return in_shards(options, options.rules, begun, engine)


def results_of(
    options: Namespace, rules: list[str], engine: Engine | None, *, control: bool
) -> list[AnyResult]:
    """Return a result for each pair of rules; with `control`, also for labels asked at random.

    The caller opens and closes the engine, which so serves several data sets.
    """
    check_outputs(options)
    _check(options)
    learners = {text: _learner(options, text) for text in rules}
    if _passes_by(options):
        return _pass_all(options, learners, control=control)
    try:
        stream = _read(options)
    except Unlabelled:
        if _needs_all(options):
            raise
        return _pass_all(options, learners, control=control)
    return _judge_all(options, stream, learners, engine, control=control)


def _passes_by(options: Namespace) -> bool:
    """Tell whether rows are held a batch at a time."""
    if options.engine is not None:
        if options.data == "-" or options.one_pass:
            raise ValueError("with --engine workers read the file themselves, each for itself")
        return False
    wanted = options.one_pass or options.oracle is not None or options.label_store is not None
    wanted = wanted or options.data == "-" or options.classes is not None
    needed = _needs_all(options)
    if wanted and needed:
        raise ValueError(f"{needed} needs all rows at once, and here they pass by: leave it out")
    return wanted or (not needed and (size_of(options.data) or 0) > LARGE)


def _needs_all(options: Namespace) -> str:
    """Return the option that needs all rows at once, if there is one."""
    wanted = {
        "--shuffle": options.shuffle,
        "--test": options.test > 0.0,
        "--seeds": options.seeds > 1,
        "--plot": options.plot,
        "--latex": options.latex,
        "--csv": options.csv,
        "--kernel": options.kernel,
    }
    return next((name for name, value in wanted.items() if value), "")


def _pass_all(
    options: Namespace, learners: dict[str, SelectiveClassifier], *, control: bool
) -> list[PassResult]:
    if options.data == "-" and (control or len(learners) > 1):
        raise ValueError("standard input passes by once: compare learners on a file")

    def begun(learner: SelectiveClassifier, rows: FileRows, n: int) -> SelectiveClassifier:
        horizon = options.limit
        return _with(learner, options, n, horizon, recipe=rows.recipe, random_state=options.seed)

    results = []
    for text, learner in learners.items():
        _weigh_named(learner, options)
        results.append(one_pass(options, text, partial(begun, learner)))
        if control:
            random = control_of(learner, results[-1].learner, results[-1].rate)
            results.append(one_pass(options, text + CONTROL, partial(begun, random)))
    return results


def _weigh_named(learner: SelectiveClassifier, options: Namespace) -> None:
    """Hold the weights against the classes that the options name, if they do."""
    learner.set_params(class_weight=weights_of(options.class_weight, named_classes(options)))


def _with(
    learner: SelectiveClassifier,
    options: Namespace,
    n_classes: int,
    horizon: int | None,
    **more: object,
) -> SelectiveClassifier:
    """Return the learner with other parameters, and with the budget of the options."""
    params = learner.get_params(deep=False) | more
    if options.budget is not None and not isinstance(params["query"], Budget):
        query = params["query"] or (Capped() if n_classes > 2 else Auto())
        params["query"] = Budget(query, total=options.budget, horizon=horizon)
    return SelectiveClassifier(**params)


def _learner(options: Namespace, text: str) -> SelectiveClassifier:
    settings = {"fit_intercept": options.intercept, "scaling": options.scaling}
    settings |= _kernel_settings(options)
    settings |= {name: getattr(options, name) for name in OF_THE_ESTIMATE}
    settings["class_weight"] = weights_of(options.class_weight, None)
    return learner_of(text, **settings)


def _judge_all(
    options: Namespace,
    stream: Stream,
    learners: dict[str, SelectiveClassifier],
    engine: Engine | None,
    *,
    control: bool,
) -> list[Result]:
    n, n_classes = _n_learnt(stream, options), len(np.unique(stream.y))
    weights = weights_of(options.class_weight, np.unique(stream.y))
    learners = {
        text: _with(learner, options, n_classes, n, recipe=stream.recipe, class_weight=weights)
        for text, learner in learners.items()
    }
    seeds = range(options.seed, options.seed + options.seeds)
    stream_of = partial(_arranged, stream, options)
    if engine is not None:  # workers read the file themselves: that is quicker than sending rows
        chosen = {name: value for name, value in vars(options).items() if name != "action"}
        stream_of = partial(_read_by_worker, Namespace(**chosen))
    n_runs = len(learners) * len(seeds) * (1 + control)
    total, unit = (n_runs * n, "rows") if engine is None else (n_runs, "runs")
    with progress(total, unit) as bar:
        judged = partial(
            judge,
            stream_of=stream_of,
            seeds=seeds,
            tick=bar.update,
            curves=options.plot is not None or options.json is not None,
            engine=engine,
        )
        results = judged(learners)
        if control:
            controls = judged(
                {
                    text + CONTROL: control_of(learner, result.learner, result.rate)
                    for (text, learner), result in zip(learners.items(), results, strict=True)
                }
            )
            results = [each for pair in zip(results, controls, strict=True) for each in pair]
    return [replace(result, data=stream.name) for result in results]


STREAMS: dict[str, Stream] = {}  # of a worker: it reads a file once for all of its runs


def _read_by_worker(options: Namespace, seed: int) -> Stream:
    key = str(options)
    if key not in STREAMS:
        STREAMS.clear()
        STREAMS[key] = _read(options)
    return _arranged(STREAMS[key], options, seed)


def _tell(options: Namespace, results: list[AnyResult]) -> int:
    if options.plot:
        draw(results, options.plot)
    parts = [headline(results), *explained(options, results), results_table(results)]
    parts += spread_legend(options.seeds)
    parts += [said for result in results for said in result.says()]
    n, d = results[0].rounds, results[0].learner.n_features_in_
    seeds = list(range(options.seed, options.seed + options.seeds))
    facts = {"data": results[0].data, "rows": n, "features": d, "seeds": seeds}
    facts["results"] = [result.as_json() for result in results]
    if options.explain:
        recipe = results[0].learner.recipe
        facts["recipe"] = recipe and recipe.describe()
    return tell(options, with_plot("\n\n".join(parts), options), facts)


def _kernel_settings(options: Namespace) -> dict[str, object]:
    """Return the kernel parameters of a learner, checked before any data are read."""
    if options.kernel is None:
        if options.vectors is not None:
            raise ValueError("--vectors is for learners with a kernel: name one by --kernel")
        return {}
    names = ("kernel", "degree", "gamma", "coef0", "removal")
    settings = {name: getattr(options, name) for name in names} | {"budget": options.vectors}
    with suppress(ValueError):  # scale, auto, or a word that KernelChoice refuses
        settings["gamma"] = float(options.gamma)
    KernelChoice(**settings)
    return settings


def _check(options: Namespace) -> None:
    """Refuse numbers that make no sense before any data are read."""
    if options.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {options.seeds}")
    if options.budget is not None and options.budget < 1:
        raise ValueError(f"--budget must be at least 1, got {options.budget}")
    if options.limit is not None and options.limit < 1:
        raise ValueError(f"--limit must be at least 1, got {options.limit}")
    if not 0.0 <= options.test < 1.0:
        raise ValueError(f"--test must lie in [0, 1), got {options.test}")


def _read(options: Namespace) -> Stream:
    """Read the whole stream and choose its classes."""
    sides = (text.split(",") if text else None for text in (options.positive, options.negative))
    stream = two_classes(read_stream(options.data, options.target, pairs=options.pairs), *sides)
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
    X, y, _, test, _ = stream
    order = np.arange(len(y))
    if options.shuffle:
        order = np.random.default_rng(seed).permutation(len(y))
    order, apart = np.split(order[: options.limit], [_n_learnt(stream, options)])
    if len(apart):
        test = X[apart], y[apart]
    if len(order) < len(y) or (np.diff(order) != 1).any():  # otherwise no copy is needed
        X, y = X[order], y[order]
    return stream._replace(X=X, y=y, test=test)
