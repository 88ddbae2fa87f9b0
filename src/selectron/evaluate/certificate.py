"""A bound on the mistakes of a run, beside what happened."""

from dataclasses import dataclass

IN_EXPECTATION = "in expectation over the coins"


@dataclass(frozen=True)
class Certificate:
    """A bound on the mistakes of a run, or the reason why none covers it."""

    mistakes: int
    bound: float | None
    theorem: str
    gamma: float = 0.0
    hinge: float = 0.0
    note: str = ""

    @property
    def holds(self) -> bool | None:
        return None if self.bound is None else self.mistakes <= self.bound

    def __str__(self) -> str:
        if self.bound is None:
            return f"mistakes {self.mistakes:,}: {self.theorem}"
        relation = "<=" if self.holds else ">"
        note = f"; {self.note}" if self.note else ""
        return (
            f"mistakes {self.mistakes:,} {relation} {self.bound:,.0f} ({self.theorem}, "
            f"gamma {self.gamma:.3g}, hinge {self.hinge:.1f}{note})"
        )
