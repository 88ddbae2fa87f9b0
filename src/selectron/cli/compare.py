"""`selectron compare`: learners beside each other, on one data set or several."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import combinations
from pathlib import Path

import numpy as np

from selectron.cli.named import EXAMPLES, engine_named, is_learner, others_aside, why_no_learner
from selectron.cli.output import check_outputs, table, tell, with_plot
from selectron.cli.report import (
    CONTROL,
    HEAD,
    AnyResult,
    Facts,
    draw,
    explained,
    headline,
    in_csv,
    in_latex,
    results_csv,
    spread_legend,
)
from selectron.cli.run import results_of
from selectron.evaluate import Difference, Ranks, average_ranks, macro_f1, micro, paired_differences
from selectron.evaluate.paired import FEWEST as FEWEST_PAIRS
from selectron.evaluate.paired import SURE
from selectron.evaluate.ranks import FEWEST as FEWEST_RANKED
from selectron.files import write_whole
from selectron.streams.files import SHIPPED

NO_ANSWERS = {"oracle": None, "label_store": None, "classes": None, "id": None}
DIFFERENCES_HEAD = ("learner", "against", "error", "p (error)", "labels", "p (labels)", "sure")

Results = Mapping[
    str, list[AnyResult]
]  # for each data set those of all learners, in the same order
Differences = Mapping[str, list[Difference]]  # for each number


def compare(options: Namespace) -> int:
    sources, rules = sources_and_rules([options.data, *options.rules])
    _check(options, len(sources), len(set(rules)))
    results: dict[str, list[AnyResult]] = {}
    engine = engine_named(options)
    with others_aside(), engine or nullcontext():
        for source in sources:
            of_source = Namespace(**NO_ANSWERS | vars(options) | {"data": source})
            found = results_of(of_source, rules, engine, control=not options.no_control)
            results[source if found[0].data in results else found[0].data] = found
    differences, ranks = differences_of(results), ranks_of(results)
    _write(options, results, differences, ranks)
    text = with_plot("\n\n".join(_parts(options, results, differences, ranks)), options)
    facts = _facts(options, results, differences, ranks) if options.json else None
    return tell(options, text, facts)


def sources_and_rules(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Tell data sets from learners: the first word is a data set, and so is all until a learner.

    A file that has the name of a rule is written with its folder: ./default.
    """
    first = next((k for k, word in enumerate(words) if k > 0 and is_learner(word)), len(words))
    sources, rules = list(dict.fromkeys(words[:first])), list(words[first:])
    for word in sources[1:]:
        if not _is_data(word):
            raise ValueError(f"{word}: there is no such file; {why_no_learner(word)}")
    late = next((word for word in rules if not is_learner(word) and _is_data(word)), None)
    if late:
        raise ValueError(f"{late} comes after a learner: name all data sets first")
    if not rules:
        raise ValueError(f"name learners after the data: {EXAMPLES}")
    return sources, rules


def _is_data(word: str) -> bool:
    return Path(word).exists() or word in SHIPPED


def _check(options: Namespace, n_sources: int, n_learners: int) -> None:
    """Refuse outputs that could not be made of these runs."""
    check_outputs(options)
    if options.differences and n_sources * options.seeds < FEWEST_PAIRS:
        raise ValueError(
            f"--differences needs {FEWEST_PAIRS} pairs of runs or more: raise --seeds, or name "
            "more data sets"
        )
    if options.ranks and min(n_sources, n_learners) < FEWEST_RANKED:
        raise ValueError(
            f"--ranks needs {FEWEST_RANKED} data sets and {FEWEST_RANKED} learners or more"
        )


def differences_of(results: Results) -> Differences:
    """Test each learner against each other, and against its control by the error.

    Their labels are not tested: a control asks as many as its learner.
    """
    numbers = _numbers(results)
    names = list(numbers["error"])
    pairs = list(combinations((name for name in names if not name.endswith(CONTROL)), 2))
    controls = [(name, name + CONTROL) for name in names if name + CONTROL in names]
    if not pairs + controls or sum(map(len, numbers["error"][names[0]])) < FEWEST_PAIRS:
        return {}
    return {
        "error": paired_differences(numbers["error"], pairs + controls),
        "labels": paired_differences(numbers["labels"], pairs),
    }


def ranks_of(results: Results) -> dict[str, Ranks]:
    """Rank learners by their mean over the seeds on each data set; controls have no rank."""
    found = {}
    for number, runs in _numbers(results).items():
        means = {
            name: [float(np.mean(values)) for values in of_learner]
            for name, of_learner in runs.items()
            if not name.endswith(CONTROL)
        }
        if min(len(means), len(results)) >= FEWEST_RANKED:
            found[number] = average_ranks(means)
    return found


def averages_of(results: Results) -> list[Facts]:
    """Average the F-measure of each learner over all data sets and seeds.

    The micro average adds up the counts, so that a row weighs the same in every run. The macro
    average is the mean over the runs. Both are None if the labels of a run are not known.
    """
    found = []
    for of_learner in zip(*results.values(), strict=True):
        runs = [run for each in of_learner for run in each.found or [None]]
        known = None not in runs
        found.append({
            "learner": of_learner[0].name,
            "runs": len(runs),
            "micro": micro(class_ for run in runs for class_ in run).f1 if known else None,
            "macro": float(np.mean([macro_f1(run) for run in runs])) if known else None,
        })  # fmt: skip
    return found


def _numbers(results: Results) -> dict[str, dict[str, list[list[float]]]]:
    """Return each number by learner, data set and seed."""
    by_learner = list(zip(*results.values(), strict=True))
    return {
        "error": {found[0].name: [each.errors for each in found] for found in by_learner},
        "labels": {found[0].name: [each.label_shares for each in found] for found in by_learner},
    }


def _parts(
    options: Namespace, results: Results, differences: Differences, ranks: Mapping[str, Ranks]
) -> list[str]:
    """Return the paragraphs that are printed."""
    parts = ["\n".join(headline(found) for found in results.values())]
    parts += [said for found in results.values() for said in explained(options, found)]
    parts.append(table(*_table(results)))
    parts += spread_legend(options.seeds)
    averages = averages_of(results)
    if len(results) > 1 and all(each["macro"] is not None for each in averages):
        rows = [
            [each["learner"], f"{each['micro']:.4f}", f"{each['macro']:.4f}"] for each in averages
        ]
        said = f"F over {averages[0]['runs']} runs: of all their rows together, and the mean"
        parts.append(f"{said}\n\n{table(('learner', 'micro', 'macro'), rows)}")
    if len(results) == 1:  # certificates and confusions of more data sets are in the JSON
        parts += [said for found in results.values() for each in found for said in each.says()]
    if differences:
        parts.append(f"sure differences\n\n{table(DIFFERENCES_HEAD, difference_rows(differences))}")
        parts.append(_legend(options, differences))
    elif 1 < options.seeds * len(results) < FEWEST_PAIRS:
        parts.append(f"differences are tested from {FEWEST_PAIRS} pairs of runs on: raise --seeds")
    if ranks:
        parts.append(f"average ranks\n\n{table(*_ranks_table(ranks))}")
        parts += [f"{number}: {_verdict(each)}" for number, each in ranks.items()]
    return parts


def _table(results: Results) -> tuple[tuple[str, ...], list[list[object]]]:
    """Return head and rows of the results; several data sets have a column."""
    rows = [(data, each.row()) for data, found in results.items() for each in found]
    if len(results) == 1:
        return HEAD, [row for _, row in rows]
    return ("data", *HEAD), [[data, *row] for data, row in rows]


def difference_rows(differences: Differences) -> list[list[object]]:
    """Return a row for each pair of learners: the first less the second, and what is sure."""
    labels = {each[:2]: each for each in differences["labels"]}
    rows: list[list[object]] = []
    for error in differences["error"]:
        asked = labels.get(error[:2])
        sure = [_sure(error, "errors")] + ([_sure(asked, "labels")] if asked else [])
        row: list[object] = [error.first, error.second, f"{error.mean:+.4f}", f"{error.p_holm:.2g}"]
        row += [f"{100 * asked.mean:+.2f} %", f"{asked.p_holm:.2g}"] if asked else [None, None]
        rows.append([*row, ", ".join(filter(None, sure)) or None])
    return rows


def _sure(difference: Difference, what: str) -> str:
    if not difference.sure:
        return ""
    return f"{'fewer' if difference.rank_sum < 0 else 'more'} {what}"


def _legend(options: Namespace, differences: Differences) -> str:
    most = max(each.pairs for each in differences["error"])
    varied = "orders and coins" if options.shuffle else "coins only, for want of --shuffle"
    return (
        f"learner less the one against it, over up to {most} pairs of runs of the same data set "
        f"and seed (labels in % of the rows); p: Wilcoxon's signed-rank test with Holm's "
        f"correction over all pairs, sure below {SURE:g}; seeds change {varied}"
    )


def _ranks_table(ranks: Mapping[str, Ranks]) -> tuple[tuple[str, ...], list[list[object]]]:
    by_name = {number: dict(zip(r.names, r.average, strict=True)) for number, r in ranks.items()}
    rows: list[list[object]] = [
        [name, *(f"{by_name[number][name]:.2f}" for number in ranks)]
        for name in ranks["error"].names
    ]
    return ("learner", *ranks), rows


def _verdict(ranks: Ranks) -> str:
    """Say what Friedman's test and Nemenyi's critical difference come to."""
    alike = "; ".join(" = ".join(group) for group in ranks.groups()) or "none"
    return (
        f"Friedman's chi-square {ranks.chi_square:.2f}, p {ranks.p:.2g} over {ranks.data_sets} "
        f"data sets; Nemenyi's critical difference {ranks.critical:.2f}, not told apart: {alike}"
    )


def _facts(
    options: Namespace, results: Results, differences: Differences, ranks: Mapping[str, Ranks]
) -> Facts:
    """Return everything for JSON."""
    sets = []
    for data, found in results.items():
        first = found[0]
        about = {"data": data, "rows": first.rounds, "features": first.learner.n_features_in_}
        recipe = first.learner.recipe
        sets.append(about | ({"recipe": recipe and recipe.describe()} if options.explain else {}))
    facts: Facts = dict(sets[0]) if len(sets) == 1 else {}
    facts |= {"seeds": _seeds(options), "data_sets": sets}
    facts["results"] = [
        {"data": data} | each.as_json() for data, found in results.items() for each in found
    ]
    facts["f1_averages"] = averages_of(results)
    facts["differences"] = [
        {"number": number} | each._asdict() | {"sure": each.sure}
        for number, found in differences.items()
        for each in found
    ]
    facts["ranks"] = [
        {"number": number} | each._asdict() | {"groups": each.groups()}
        for number, each in ranks.items()
    ]
    return facts


def _write(
    options: Namespace, results: Results, differences: Differences, ranks: Mapping[str, Ranks]
) -> None:
    """Write the files that the options name."""
    if options.plot and len(results) == 1:
        draw(next(iter(results.values())), options.plot)
    elif options.plot:
        from selectron.evaluate import plot_data_sets

        curves = {data: {each.name: each.curves for each in r} for data, r in results.items()}
        plot_data_sets(curves, options.plot)
    if options.ranks:
        from selectron.evaluate import plot_ranks

        plot_ranks(ranks, options.ranks)
    if options.latex:
        text = "\n".join(_latex(options, results, differences, ranks))
        write_whole(Path(options.latex), text.encode())
    if options.csv:
        write_whole(Path(options.csv), results_csv(results, _seeds(options)).encode())
    if options.differences:
        head = ("number", *Difference._fields, "sure")
        lines = [(name, *each, each.sure) for name, found in differences.items() for each in found]
        write_whole(Path(options.differences), in_csv(head, lines).encode())


def _latex(
    options: Namespace, results: Results, differences: Differences, ranks: Mapping[str, Ranks]
) -> list[str]:
    """Return the tables for LaTeX; what they mean stands above each as a comment."""
    texts = [f"% {legend}\n" for legend in spread_legend(options.seeds)]
    texts.append(in_latex(*_table(results), n_texts=1 + (len(results) > 1)))
    if differences:
        texts.append(f"% {_legend(options, differences)}\n")
        texts.append(in_latex(DIFFERENCES_HEAD, difference_rows(differences), n_texts=2))
    if ranks:
        texts += [f"% {number}: {_verdict(each)}\n" for number, each in ranks.items()]
        texts.append(in_latex(*_ranks_table(ranks)))
    return texts


def _seeds(options: Namespace) -> list[int]:
    return list(range(options.seed, options.seed + options.seeds))
