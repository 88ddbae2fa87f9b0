"""Say of each claim of a paper whether our numbers bear it out."""

from collections.abc import Sequence
from typing import Any

STANDING_IN = ", on a stand-in"
Row = dict[str, Any]  # an object of the JSON report: its values are numbers, words, lists, objects


def verdict(claim: str, ours: str, holds: bool | Sequence[bool], tolerance: str = "none") -> Row:
    """Return a claim of the paper, our numbers, and a verdict that follows from them.

    Parameters
    ----------
    claim, ours : str
        What the paper says, and what we measured.
    holds : bool, or several
        Whether the claim holds, in each case that it speaks of. None: nothing was measured.
    tolerance : str
        How far our numbers may be from the claim.
    """
    cases = [holds] if isinstance(holds, bool | int) else list(holds)
    if not cases:
        said = "not measured"
    elif all(cases):
        said = "holds"
    elif any(cases):
        said = f"holds in part ({sum(map(bool, cases))} of {len(cases)})"
    else:
        said = "does not hold"
    return {"claim": claim, "ours": ours, "tolerance": tolerance, "verdict": said}


def on_data(verdicts: list[Row], result: Row) -> list[Row]:
    """Say of every verdict that it is on a stand-in, where the report calls its data one."""
    if "stand-in" not in result.get("data", ""):
        return verdicts
    return [each | {"verdict": f"{each['verdict']}{STANDING_IN}"} for each in verdicts]


def verdict_lines(verdicts: list[Row]) -> list[str]:
    """Lay out verdicts: the claim, then ours and the verdict below it."""
    return [
        line
        for each in verdicts
        for line in (f"The paper: {each['claim']}", f"  ours: {each['ours']} -> {each['verdict']}")
    ]
