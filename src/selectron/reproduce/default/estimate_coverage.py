"""Measure whether the estimated error is unbiased, and whether its intervals hold at all times.

Learners play thousands of runs whose labels are all known. The estimate sees the asked labels only,
and is held against the truth.
"""

from math import log, sqrt
from typing import NamedTuple

import numpy as np

from selectron.arrays import Codes, Indices, Vector
from selectron.classifier import SelectiveClassifier
from selectron.estimate import Bernstein, Evidence, Thinning
from selectron.estimate.constructions import Construction
from selectron.estimate.sums import (
    FALSE_NEGATIVE,
    FALSE_POSITIVE,
    MISTAKES,
    TRUE_POSITIVE,
    Sums,
    terms_of,
)
from selectron.evaluate import progressive
from selectron.queries import AdaptiveMargin, Auto, Balanced, Margin, Uniform
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import Flags
from selectron.reproduce.harness.report import Picture, finish, new_figure, table
from selectron.spec import QueryRule, UpdateRule
from selectron.streams import drifting
from selectron.updates import Perceptron, Ridge

FIRST_SEED = 10_000  # knobs and floors were settled on seeds below 400
RUNS, FLOOR_RUNS = 2000, 200
ROUNDS = 10_000
D, NOISE = 5, 0.02
WINDOW = 3000
LOOKS = 250  # rounds between two looks of who trusts a normal approximation
LEVEL = 0.95
CONSTRUCTIONS: dict[str, Construction] = {"thinning": Thinning(), "bernstein": Bernstein()}


class Case(NamedTuple):
    """A learner on a kind of stream; the odds of its questions do not fall below `explore`."""

    name: str
    update: UpdateRule | None
    query: QueryRule
    explore: float
    stream: str = "stationary"
    guess: float = 0.05  # the control variate


CASES = (
    Case("Perceptron + Margin(0.5)", Perceptron(), Margin(b=0.5), 0.02),
    Case("Perceptron + AdaptiveMargin(0.1)", Perceptron(), AdaptiveMargin(beta=0.1), 0.09),
    Case("Ridge + Margin(0.05)", Ridge(), Margin(b=0.05), 0.03),
    Case("Ridge + Uniform(0.05)", Ridge(), Uniform(rate=0.05), 0.05),
    Case("default, explore 0.02", None, Auto(explore=0.02), 0.02),
    Case("Perceptron + Margin(0.5), drift", Perceptron(), Margin(b=0.5), 0.02, "new concepts"),
    Case("Ridge + Uniform(0.05), drift", Ridge(), Uniform(rate=0.05), 0.05, "new concepts", 0.3),
    Case("default, explore 0.02, drift", None, Auto(explore=0.02), 0.02, "new concepts", 0.3),
)
FLOORS = tuple(
    Case(f"default, explore {f:g}", None, Auto(explore=f), f) for f in (0.005, 0.01, 0.05, 0.1)
)
HARD = Case("Ridge + Balanced()", Ridge(), Balanced(), 0.0)


class Played(NamedTuple):
    """A run, round by round, without the rounds whose odds were below the floor."""

    rounds: Indices
    odds: Vector
    asked: Flags
    predicted: Codes
    labels: Codes
    n_rounds: int

    @property
    def outcomes(self) -> Indices:
        return 2 * (self.predicted > 0) + (self.labels > 0)

    @property
    def wrong(self) -> Flags:
        mistaken: Flags = self.predicted != self.labels
        return mistaken

    def tell(self, evidence: Evidence, first: int, last: int) -> None:
        """Add the answers from round number `first` up to `last` of those that are kept."""
        told = first + np.flatnonzero(self.asked[first:last])
        given = (self.rounds, self.odds, self.predicted, self.labels)
        evidence.add(*(column[told] for column in given))


def play(case: Case, seed: int, n: int) -> Played:
    """Run the learner over a stream of this seed."""
    stream = drifting(case.stream, seed, n=n, d=D, noise=NOISE)
    learner = SelectiveClassifier(case.update, case.query)
    trace = progressive(learner, stream.X, stream.y, seed=seed)
    kept = np.flatnonzero(trace.probabilities >= case.explore)
    odds, asked = trace.probabilities[kept], trace.asked[kept]
    return Played(kept, odds, asked, trace.predicted[kept], trace.signs[kept], n)


def judge(case: Case, seed: int, n: int) -> Row:
    """Return the estimates at the end of a run, and which claims broke on the way."""
    played = play(case, seed, n)
    evidence = gather(case, played)
    events = ((TRUE_POSITIVE,), (FALSE_POSITIVE,), (FALSE_NEGATIVE,), MISTAKES)
    hits, *others = (path_of(played, case.explore, event) for event in events)
    found: Row = {
        "labels": evidence.tally().labels,
        "outside": evidence.tally().outside,
        "truth": float(played.wrong.mean()),
        "error": evidence.estimate().error,
        "guessed": evidence.estimate(guess=case.guess).error,
        "normal off": trusts_too_soon(played),
        "ratios off": [breaks_pair(hits, event, case.explore) for event in others],
    }
    for name, construction in CONSTRUCTIONS.items():
        shown = evidence.estimate(LEVEL, construction=construction)
        found[name] = [shown.low, shown.high]
        found[f"{name} off"] = breaks(others[-1], construction, case.explore)
        found[f"{name} windows off"] = breaks_a_window(others[-1], construction, case.explore, n)
    return found


def gather(case: Case, played: Played) -> Evidence:
    """Return the evidence at the end of a run."""
    evidence = Evidence(case.explore)
    evidence.reach(played.n_rounds, outside=played.n_rounds - len(played.rounds))
    played.tell(evidence, 0, len(played.rounds))
    return evidence


class Path(NamedTuple):
    """The sums after each event, and the rounds at which they changed."""

    rounds: Indices
    sums: Sums

    def between(self, first: int, last: int) -> "Path":
        """Return the events from number `first` up to `last`, as if nothing had been before."""
        before = (field[first - 1] if first else 0.0 * field[0] for field in self.sums)
        since = (field[first:last] - b for field, b in zip(self.sums, before, strict=True))
        return Path(self.rounds[first:last], Sums(*since))


def path_of(played: Played, explore: float, outcomes: tuple[int, ...]) -> Path:
    """Return the sums of an event after each time it happened, asked or not."""
    events = np.flatnonzero(np.isin(played.outcomes, outcomes))
    counted = played.asked[events].astype(float)
    sums = (
        np.cumsum(field * (counted if field.ndim == 1 else counted[:, np.newaxis]), axis=0)
        for field in terms_of(played.odds[events], explore)
    )
    return Path(played.rounds[events], Sums(*sums))


def breaks(
    path: Path, construction: Construction, explore: float, share: float = 1.0 - LEVEL
) -> tuple[bool, bool]:
    """Tell whether the true total was ever ruled out, as too many and as too few.

    Both bets change at events only, so these are all the moments there are.
    """
    total = np.arange(1.0, len(path.rounds) + 1.0)
    bound = log(2.0 / share)
    many = construction.too_many(path.sums, explore).at(total)
    few = construction.too_few(path.sums, explore).at(total)
    return bool((many >= bound).any()), bool((few >= bound).any())


def breaks_a_window(path: Path, construction: Construction, explore: float, n: int) -> bool:
    """Tell whether the interval of any window was ever wrong.

    Windows that start later get a smaller share of what the level allows.
    """
    quarter = WINDOW // 4
    for number, start in enumerate(range(0, n, quarter), start=1):
        first, last = np.searchsorted(path.rounds, (start, start + WINDOW + quarter))
        share = (1.0 - LEVEL) / (number * (number + 1))
        if any(breaks(path.between(int(first), int(last)), construction, explore, share)):
            return True
    return False


def breaks_pair(hits: Path, missed: Path, explore: float) -> bool:
    """Tell whether the true pair of totals behind a quotient was ever ruled out."""
    moments = np.union1d(hits.rounds[::20], missed.rounds)
    few, many = [], []
    for path in (hits, missed):
        done = np.searchsorted(path.rounds, moments, side="right")
        sums = Sums(*(np.concatenate([0.0 * f[:1], f])[done] for f in path.sums))
        few.append(Thinning().too_few(sums, explore).at(done))
        many.append(Thinning().too_many(sums, explore).at(done))
    bound = log(2.0 / (1.0 - LEVEL))
    return bool((few[0] + many[1] >= bound).any() or (few[1] + many[0] >= bound).any())


def trusts_too_soon(played: Played) -> bool:
    """Tell whether estimate ± 1.96 standard errors was wrong at any look, every 250 rounds."""
    seen, odds = played.wrong & played.asked, played.odds
    looks = np.arange(LOOKS, len(seen) + 1, LOOKS) - 1
    weighed = np.cumsum(np.where(seen, 1.0 / odds, 0.0))
    spread = np.cumsum(np.where(seen, (1.0 - odds) / odds**2, 0.0))
    off = np.abs(weighed - np.cumsum(played.wrong))[looks]
    return bool((off > 1.96 * np.sqrt(spread)[looks] + 1e-9).any())


def jobs(seeds: int) -> list[tuple[Case, int]]:
    """List the runs of each case, fewer of those that only differ in the floor."""
    numbers = [*((case, seeds or RUNS) for case in CASES),
               *((case, seeds or FLOOR_RUNS) for case in FLOORS)]  # fmt: skip
    return [(case, FIRST_SEED + k) for case, runs in numbers for k in range(runs)]


def measure(job: tuple[Case, int]) -> Row:
    return judge(*job, ROUNDS)


def report(found: list[tuple[tuple[Case, int], Row]], seeds: int) -> Row:
    """Return a line for each case, the estimate of a learner without a floor, and one full run."""
    hard = gather(HARD, play(HARD, FIRST_SEED, ROUNDS)).estimate()
    runs = grouped((case, run) for (case, _), run in found)
    return {
        "rounds": ROUNDS,
        "level": LEVEL,
        "cases": [summary(case, some) for case, some in runs.items()],
        "hard": f"{HARD.name}: {hard}",
        "curve": _curve(CASES[4]),
    }


def summary(case: Case, found: list[Row]) -> Row:
    """Average the runs of a case."""
    names = [name for name in found[0] if name not in ("error", "guessed")]
    means = {name.replace(" ", "_"): np.mean([run[name] for run in found], axis=0).tolist()
             for name in names}  # fmt: skip
    off, guessed = (
        np.array([run[name] - run["truth"] for run in found]) for name in ("error", "guessed")
    )
    spread, spread_guessed = (
        float(values.std(ddof=1)) if len(found) > 1 else float("nan") for values in (off, guessed)
    )
    labels, truth = means["labels"], means["truth"]
    return means | {
        "case": case.name,
        "floor": case.explore,
        "runs": len(found),
        "bias": float(off.mean()),
        "z": float(off.mean()) / (spread / sqrt(len(found))),
        "sd": spread,
        "sd_guessed": spread_guessed,
        "hoeffding": hoeffding(case.explore, ROUNDS - means["outside"]),
        "clopper_pearson": clopper_pearson(round(truth * labels), round(labels)),
    }


def hoeffding(explore: float, rounds: float) -> float:
    """Return the half-width of Hoeffding's interval at one moment: a weight is up to 1/floor."""
    return sqrt(log(2.0 / (1.0 - LEVEL)) / (2.0 * rounds)) / explore


def clopper_pearson(wrong: int, labels: int) -> list[float]:
    """Return the exact interval from a random sample of as many labels, looked at once."""
    from scipy.stats import beta  # noqa: PLC0415 - half a second

    half = (1.0 - LEVEL) / 2.0
    low = float(beta.ppf(half, wrong, labels - wrong + 1)) if wrong else 0.0
    return [low, float(beta.ppf(1.0 - half, wrong + 1, labels - wrong))]


def _curve(case: Case) -> dict[str, list[float | None]]:
    """Return estimate, ends and truth over one run, every hundred rounds."""
    played, evidence, done = play(case, FIRST_SEED, ROUNDS), Evidence(case.explore), 0
    rows: list[dict[str, float | None]] = []
    for k in range(100, ROUNDS + 1, 100):
        inside = int(np.searchsorted(played.rounds, k))
        evidence.reach(k, outside=k - inside)
        played.tell(evidence, done, inside)
        done = inside
        truth = float(played.wrong[:inside].mean()) if inside else 0.0
        rows.append({"rounds": k, "truth": truth, "estimate": evidence.estimate(LEVEL).error})
        for name, construction in CONSTRUCTIONS.items():
            shown = evidence.estimate(LEVEL, construction=construction)
            rows[-1] |= {f"{name} low": shown.low, f"{name} high": shown.high}
    return {name: [row[name] for row in rows] for name in rows[0]}


CLAIMS = {
    "learner": "{case:<34}", "runs": "{runs:>6,}", "z": "{z:>7.2f}", "T": "{thinning_off:>7.2f}",
    "EB": "{bernstein_off:>7.2f}", "T win": "{thinning_windows_off:>7.2f}",
    "EB win": "{bernstein_windows_off:>7.2f}", "P / R / F1": "{ratios_off:>20}",
    "normal": "{normal_off:>8.1f}",
}  # fmt: skip
WIDTHS = {
    "learner": "{case:<34}", "labels": "{labels:>7.0f}", "error": "{truth:>7.1f}",
    "T": "{thinning:>13}", "EB": "{bernstein:>13}", "Hoeffding": "{hoeffding:>11.0f}",
    "C-P": "{clopper_pearson:>13}", "sd": "{sd:>6.2f}", "with guess": "{sd_guessed:>12.2f}",
}  # fmt: skip


def text(result: Row) -> str:
    """Write the table of claims, and the table of widths."""
    lines = [_in_percent(line) for line in result["cases"]]
    return "\n".join([
        f"{result['rounds']:,} rounds, d = {D}, {100 * NOISE:g} % of the labels turned over; means "
        "over the runs, in %.",
        "",
        "Share of runs that ever left the 95 % claim (5 allowed): T, EB; T and EB in any window of "
        f"{WINDOW:,};",
        "precision / recall / F1; +- 1.96 standard errors, looked at every 250 rounds. Bias in "
        "standard errors (z).",
        "",
        *table(CLAIMS, lines),
        "",
        "The interval at the end. Hoeffding: half-width, one moment. C-P: Clopper-Pearson from as "
        "many random labels, one look.",
        "sd: of the estimate; with guess: with a control variate of 5 %, or of 30 % where the "
        "error is of that order.",
        "",
        *table(WIDTHS, lines),
        "",
        result["hard"],
    ])  # fmt: skip


def _in_percent(line: Row) -> Row:
    """Return the line with shares in per cent, and with intervals and quotients as text."""
    shares = ("truth", "hoeffding", "sd", "sd_guessed", "normal_off", "thinning_windows_off",
              "bernstein_windows_off")  # fmt: skip
    sides = ("thinning_off", "bernstein_off")
    ends = ("thinning", "bernstein", "clopper_pearson")
    return (
        line
        | {name: 100 * line[name] for name in shares}
        | {name: 100 * sum(line[name]) for name in sides}
        | {name: "-".join(f"{100 * end:.1f}" for end in line[name]) for name in ends}
        | {"ratios_off": " / ".join(f"{100 * off:.1f}" for off in line["ratios_off"])}
    )


def draw(result: Row) -> Picture:
    """Draw one run with its bands, and the ends against the floor."""
    figure, (left, right) = new_figure(11, 4.2, 1, 2)
    curve: dict[str, Vector] = {k: np.array(v, float) for k, v in result["curve"].items()}
    rounds = curve["rounds"]
    band = [100 * curve[f"thinning {end}"] for end in ("low", "high")]
    left.fill_between(rounds, *band, alpha=0.25, label="thinning")
    for end, name in (("low", "bernstein"), ("high", None)):
        left.plot(rounds, 100 * curve[f"bernstein {end}"], "C1:", label=name)
    left.plot(rounds, 100 * curve["estimate"], "C0", label="estimate")
    left.plot(rounds, 100 * curve["truth"], "k--", label="true error so far")
    finish(left, legend=8, xlabel="rounds", ylabel="error, %", ylim=(0, 30),
           title="one run, explore 0.02")  # fmt: skip
    shown = {case.name for case in (CASES[4], *FLOORS)}
    floors = [line for line in result["cases"] if line["case"] in shown]
    floors.sort(key=lambda line: float(line["floor"]))
    x = [line["floor"] for line in floors]
    for name in CONSTRUCTIONS:
        ends = 100 * np.array([line[name] for line in floors])
        right.plot(x, ends[:, 1], "^-", label=f"{name}: upper end")
        right.plot(x, ends[:, 0], "v-", label=f"{name}: lower end")
    right.plot(x, [100 * line["truth"] for line in floors], "k--", label="true error")
    finish(right, legend=8, xscale="log", xlabel="explore", ylabel="error, %",
           title="what the floor buys, 10,000 rounds")  # fmt: skip
    return figure
