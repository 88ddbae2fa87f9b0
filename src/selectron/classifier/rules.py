"""Which three rules make up a learner, and the defaults for those not given."""

from typing import Any, NamedTuple

from selectron.queries import Auto, Balanced
from selectron.scalings import Automatic, Centred, Intercept, Raw
from selectron.spec import QueryRule, Scaling, UpdateRule
from selectron.updates import HalfStep, Probit

# Beyond this width the default keeps a vector instead of a matrix (128 MB at this one).
WIDEST_MATRIX = 4096


class Rules(NamedTuple):
    """The descriptions of scaling, update and query."""

    scaling: Any
    update: Any
    query: Any


def choose_rules(
    scaling: Any, update: Any, query: Any, *, fit_intercept: bool, d: int, rows: int | None
) -> Rules:
    """Fill in what was not given; `rows` is the length of the stream where it is known."""
    for name, rule in (("scaling", scaling), ("update", update), ("query", query)):
        if rule is not None and not isinstance(rule, ROLES[name]):
            raise TypeError(
                f"{name} must be a rule such as those of selectron.{_PLACES[name]}, got {rule!r}"
            )
    wide = d > WIDEST_MATRIX
    if scaling is None:
        if update is None:
            scaling = (Centred if wide else Automatic)(warmup=_warmup(rows))
        else:
            scaling = Intercept() if fit_intercept else Raw()
    if query is None:
        query = Balanced(rho=0.4, step=0.3) if wide and update is None else Auto()
    if update is None:
        update = HalfStep() if wide else Probit()
    return Rules(scaling, update, query)


ROLES = {"scaling": Scaling, "update": UpdateRule, "query": QueryRule}
_PLACES = {"scaling": "scalings", "update": "updates", "query": "queries"}


def _warmup(rows: int | None) -> int:
    """Spend a tenth of a short stream on its mean, 50 rows of a long one."""
    return 50 if rows is None else max(1, min(50, max(rows // 10, min(10, rows // 2))))
