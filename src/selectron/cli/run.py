"""`selectron run` and `selectron compare`: learners over a stream from a file."""

from argparse import ArgumentParser, Namespace
from typing import Any

from selectron.cli.data import add_data_options, arranged, n_learnt, read
from selectron.cli.kernel import add_kernel_options, kernel_of
from selectron.cli.output import check_outputs, progress, table, write_json
from selectron.cli.report import HEAD, Result, control_of, judge
from selectron.cli.rules import EXAMPLES, learner_of

HONEST = "explore", "window", "stop_when"


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
    add_kernel_options(parser)
    parser.add_argument("--explore", type=float, metavar="P",
                        help="least odds of a question: the error is then estimated")  # fmt: skip
    parser.add_argument("--window", type=int, metavar="N",
                        help="rounds that the estimate of late looks back on")  # fmt: skip
    parser.add_argument("--stop-when", metavar="GOAL",
                        help="stop asking once sure of it: error<=0.03, recall>=0.9")  # fmt: skip
    parser.add_argument("--plot", metavar="FILE", help="draw curves to FILE (.png, .svg, .pdf)")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to FILE, - for stdout")


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
    settings = kernel_of(options) | {"fit_intercept": options.intercept}
    settings |= {name: getattr(options, name, None) for name in HONEST}
    learners = {text: learner_of(text, **settings) for text in rules}
    stream = read(options)
    seeds = range(options.seed, options.seed + options.seeds)
    results: list[Result] = []
    n_runs = len(learners) * len(seeds) * (1 + control)
    with progress(n_runs * n_learnt(stream, options), "rows") as bar:

        def judged(name: str, learner: Any) -> Result:
            return judge(
                name,
                learner,
                lambda seed: arranged(stream, options, seed),
                seeds,
                bar.update,
                curves=options.plot is not None,
            )

        for text, learner in learners.items():
            results.append(judged(text, learner))
            if control:
                random = control_of(results[-1], learner)
                results.append(judged(f"{text}, at random", random))
    return stream.name, results


def _tell(options: Namespace, name: str, results: list[Result]) -> int:
    quiet = options.json == "-"
    n, d = results[0].rounds, results[0].learner.n_features_in_
    if not quiet:
        print(f"{name}: {n:,} rows of {d:,} features, {options.seeds} seed(s)\n")
        _print(results)
    if options.plot:
        from selectron.evaluate import plot_curves

        traces = {result.name: result.trace for result in results}
        plot_curves(traces, options.plot, title=name)
        if not quiet:
            print(f"\nplot: {options.plot}")
    if options.json:
        seeds = list(range(options.seed, options.seed + options.seeds))
        facts = {"data": name, "rows": n, "features": d, "seeds": seeds}
        write_json(facts | {"results": [result.as_json() for result in results]}, options.json)
    return 0


def _print(results: list[Result]) -> None:
    print(table(HEAD, [result.row() for result in results]))
    for result in results:
        print(f"\n{result.name}: {result.certificate}", end="")
        if result.readout:
            print(f"\n\n{result.readout}", end="")
    print()
    for result in results:
        if result.many:
            print(f"\n{result.name}, first seed:\n{result.confusion_table()}")
