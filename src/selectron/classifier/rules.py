"""Which three rules make up a learner, and the defaults for those not given."""

from typing import Any, NamedTuple

from selectron.numeric.rows import WIDEST_KEPT
from selectron.queries import Auto, Capped
from selectron.scalings import Automatic, Intercept, Raw, Text
from selectron.spec import QueryRule, Scaling, UpdateRule
from selectron.updates import ClassRidge, Probit, Rehearsal

# Of rows too wide for a d x d matrix the default keeps some directions.
MOST_DIRECTIONS, MOST_OF_CLASSES = 64, 100
MOST_NUMBERS = 1 << 26  # in those directions: half a gigabyte
# Sparse rows up to this width are spread out; wider ones never are.
WIDEST_SPREAD = 256


class Rules(NamedTuple):
    """The descriptions of scaling, update and query."""

    scaling: Any
    update: Any
    query: Any


class Wishes(NamedTuple):
    """The rules that the user named; those left out depend on how many classes there are."""

    update: Any = None
    query: Any = None


def has_many_form(update: Any) -> bool:
    """Tell whether this update rule, or the default one, can learn more than two classes."""
    return update is None or type(update).many is not UpdateRule.many


def choose_rules(  # noqa: PLR0913 - what was given, and what is known of the stream
    scaling: Any,
    update: Any,
    query: Any,
    *,
    fit_intercept: bool,
    d: int,
    sparse: bool = False,
    rows: int | None = None,
    n_classes: int = 2,
) -> Rules:
    """Fill in what was not given; `rows` is the length of the stream where it is known."""
    for name, rule in (("scaling", scaling), ("update", update), ("query", query)):
        if rule is not None and not isinstance(rule, ROLES[name]):
            raise TypeError(
                f"{name} must be a rule such as those of selectron.{_PLACES[name]}, got {rule!r}"
            )
    text = sparse and d > WIDEST_SPREAD
    if scaling is None:
        if update is None:
            scaling = (Text if text else Automatic)(warmup=_warmup(rows))
        else:
            scaling = Intercept() if fit_intercept else Raw()
    if update is None:
        whole = d <= WIDEST_KEPT and scaling.WRITTEN_OUT
        update = _many_update(whole, d, n_classes) if n_classes > 2 else _two_update(whole, d)
    if not (scaling.WRITTEN_OUT or update.by_products):
        raise ValueError(
            f"{scaling.label} never writes a row out, which {update.label} needs: choose an update "
            "rule such as Probit(rank=64), HalfStep() or Perceptron(), or another scaling"
        )
    if query is None:
        query = Capped() if n_classes > 2 else Auto()
    return Rules(scaling, update, query)


ROLES = {"scaling": Scaling, "update": UpdateRule, "query": QueryRule}
_PLACES = {"scaling": "scalings", "update": "updates", "query": "queries"}


def _two_update(whole: bool, d: int) -> UpdateRule:
    return Probit() if whole else Probit(rank=_rank(d, MOST_DIRECTIONS))


def _many_update(whole: bool, d: int, n_classes: int) -> UpdateRule:
    return Rehearsal() if whole else ClassRidge(rank=_rank(d, MOST_OF_CLASSES, n_classes))


def _warmup(rows: int | None) -> int:
    """Spend a tenth of a short stream on its mean, 50 rows of a long one."""
    return 50 if rows is None else max(1, min(50, max(rows // 10, min(10, rows // 2))))


def _rank(d: int, most: int, prototypes: int = 0) -> int:
    """Return how many directions fit into memory: a vector or two must, whatever the width."""
    return max(1, min(most, MOST_NUMBERS // (d + 1) - prototypes))
