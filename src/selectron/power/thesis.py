"""The figures that [Mon06] section 2.5.4 prints, beside ours."""

from dataclasses import asdict, dataclass, fields

from selectron.power.comparison import Comparison

AGREES = 0.05  # relative


@dataclass(frozen=True)
class Printed:
    """The numbers of the thesis for a policy; None where it gives no number."""

    energy_j_per_page: float | None = None
    beacon_j_per_page: float | None = None
    energy_vs_static: float | None = None
    beacons_vs_static: float | None = None
    slowdown_vs_static: float | None = None
    worst_page_vs_static: float | None = None


ONE_TRIAL_OF_100 = {
    "static": Printed(3.62, 0.83),
    "lpsm-1/T": Printed(3.38, 0.59, 3.38 / 3.62, 0.59 / 0.83, 1.02, 1.2),
    "lpsm-1/logT": Printed(2.95, 0.16, 2.95 / 3.62, 0.16 / 0.83, 1.19, 2.0),
}
FOUR_TRIALS_OF_500 = {
    "static": Printed(4.12, 0.94),
    "lpsm-1/logT": Printed(3.36, 0.17, 3.36 / 4.12, 0.17 / 0.94, 1.2),
}


def printed_for(comparison: Comparison) -> dict[str, Printed]:
    """Choose the trial of the thesis whose number of pages is nearer."""
    return FOUR_TRIALS_OF_500 if comparison.pages >= 300 else ONE_TRIAL_OF_100


def report(comparison: Comparison) -> list[dict[str, str | float | None]]:
    """Return a row for each policy, with the figures of the thesis in the columns ``thesis_…``."""
    table = []
    for row in comparison.rows():
        printed = printed_for(comparison).get(row.policy, Printed())
        theirs = {f"thesis_{name}": value for name, value in asdict(printed).items()}
        table.append(asdict(row) | theirs)
    return table


def mismatches(comparison: Comparison) -> list[str]:
    """Return a sentence for each of our figures that is more than 5 % from the thesis's.

    The Joules a page are left out: they depend on how long the user thought, the ratios do not.
    """
    sentences = []
    for policy, printed in printed_for(comparison).items():
        if policy not in comparison.runs:
            continue
        row = comparison.row(policy)
        for field in fields(printed):
            thesis, ours = getattr(printed, field.name), getattr(row, field.name)
            if thesis is None or not field.name.endswith("_vs_static"):
                continue
            if abs(ours / thesis - 1) > AGREES:
                what = field.name.removesuffix("_vs_static").replace("_", " ")
                sentences.append(
                    f"{policy}: {what} over static PSM is {ours:.3g}, the thesis has {thesis:.3g}"
                )
    return sentences
