"""`selectron run` and `selectron compare`: learners over a stream from a file."""

from argparse import ArgumentParser, Namespace
from typing import Any

from selectron.cli.data import add_data_options, load
from selectron.cli.output import progress, table, write_json
from selectron.cli.report import HEAD, Result, control_of, judge
from selectron.cli.rules import EXAMPLES, learner_of
from selectron.streams import Stream


def add_run(parser: ArgumentParser) -> None:
    add_data_options(parser)
    parser.add_argument("--rules", default="default", help=f"update+query: {EXAMPLES}")
    parser.add_argument("--save", metavar="FILE", help="write the learner of the last seed")
    _add_common(parser)


def add_compare(parser: ArgumentParser) -> None:
    add_data_options(parser)
    parser.add_argument("rules", nargs="+", help=f"several of: {EXAMPLES}")
    parser.add_argument("--no-control", action="store_true",
                        help="leave out the same updates with labels asked at random")  # fmt: skip
    _add_common(parser)


def _add_common(parser: ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="run N times [1]")
    parser.add_argument("--seed", type=int, default=0, help="the first seed [0]")
    parser.add_argument("--intercept", action="store_true", help="learn a constant too")
    parser.add_argument("--plot", metavar="FILE", help="draw curves to FILE (.png, .svg, .pdf)")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to FILE, - for stdout")


def run(options: Namespace) -> int:
    stream, results, learners = _judge_all(options, [options.rules], control=False)
    if options.save:
        learners[-1].traces[-1].learner.save(options.save)
    return _tell(options, stream, results)


def compare(options: Namespace) -> int:
    stream, results, _ = _judge_all(options, options.rules, control=not options.no_control)
    return _tell(options, stream, results)


def _judge_all(
    options: Namespace, rules: list[str], *, control: bool
) -> tuple[Stream, list[Result], list[Result]]:
    if options.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {options.seeds}")
    learners = {text: learner_of(text, fit_intercept=options.intercept) for text in rules}
    stream = load(options, options.seed)
    seeds = range(options.seed, options.seed + options.seeds)
    curves = options.plot is not None
    results: list[Result] = []
    with progress(len(learners) * len(seeds) * (1 + control), "runs") as bar:
        for text, learner in learners.items():
            result = judge(text, learner, stream, seeds, lambda: bar.update(1), curves=curves)
            results.append(result)
            if control:
                random = control_of(result, learner)
                name = f"{text}, at random"
                results.append(
                    judge(name, random, stream, seeds, lambda: bar.update(1), curves=curves)
                )
    return stream, results, results


def _tell(options: Namespace, stream: Stream, results: list[Result]) -> int:
    quiet = options.json == "-"
    if not quiet:
        n, d = stream.X.shape
        print(f"{stream.name}: {n:,} rows of {d:,} features, {options.seeds} seed(s)\n")
        print(table(HEAD, [result.row() for result in results]))
        for result in results:
            print(f"\n{result.name}: {result.traces[0].certificate()}", end="")
        print()
    if options.plot:
        from selectron.evaluate import plot_curves

        traces = {result.name: result.traces[0] for result in results}
        plot_curves(traces, options.plot, title=stream.name)
        if not quiet:
            print(f"\nplot: {options.plot}")
    write_json(_as_json(options, stream, results), options.json)
    return 0


def _as_json(options: Namespace, stream: Stream, results: list[Result]) -> dict[str, Any]:
    n, d = stream.X.shape
    return {
        "data": stream.name,
        "rows": n,
        "features": d,
        "seeds": list(range(options.seed, options.seed + options.seeds)),
        "results": [result.as_json() for result in results],
    }
