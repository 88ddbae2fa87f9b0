"""Which three rules make up a learner, and the defaults for those not given."""

from dataclasses import replace
from typing import Any, NamedTuple

from selectron.classifier.machine import Machine
from selectron.kernels import KernelChoice
from selectron.kernels.duals import check_dual
from selectron.kernels.machine import KernelMachine
from selectron.numeric.rows import WIDEST_KEPT
from selectron.queries import Auto, Capped
from selectron.queries.coverage import FIRST_SHARE
from selectron.scalings import Automatic, Intercept, Raw, Text, TextDirections
from selectron.spec import QueryRule, Rules, Scaling, UpdateRule, rule_from_text
from selectron.updates import Ballseptron, ClassRidge, DualProbit, Probit, Rehearsal, Ridge
from selectron.updates.weighted import Weighted

AS_THEY_ARE, WITH_CONSTANT = Raw(), Intercept()  # rows of rules that are named
# Of rows too wide for a d x d matrix the default keeps some directions.
MOST_DIRECTIONS, MOST_OF_CLASSES = 64, 100
MOST_NUMBERS = 1 << 26  # in those directions: half a gigabyte
# Sparse rows up to this width are spread out; wider ones never are.
WIDEST_SPREAD = 256
WIDEST_STUDIED = 1 << 21  # columns of sparse rows whose directions are found
STEP_ON_TEXT = 0.7  # of Auto: with 0.5 streams of texts take 1.13 times the labels
SHORT = 500  # rows: in a shorter stream of many classes the first questions come sooner
HELD_BACK = 250  # rows of a stream of texts, before the first question


class Wishes(NamedTuple):
    """The rules that the user named; those left out depend on how many classes there are."""

    update: UpdateRule | None = None
    query: QueryRule | None = None

    @classmethod
    def of(cls, update: UpdateRule | str | None, query: QueryRule | str | None) -> "Wishes":
        """Take rules, or their names."""
        chosen = rule_from_text(update, UpdateRule) if isinstance(update, str) else update
        if isinstance(chosen, Weighted):
            raise ValueError(f"pass update={chosen.update!r}, and its weights as class_weight")
        return cls(chosen, rule_from_text(query, QueryRule) if isinstance(query, str) else query)


def has_many_form(update: UpdateRule | None) -> bool:
    """Tell whether this update rule, or the default one, can learn more than two classes."""
    return update is None or type(update).many is not UpdateRule.many


def choose_rules(  # noqa: PLR0913 - what was given, and what is known of the stream
    scaling: Scaling | None,
    update: UpdateRule | None,
    query: QueryRule | None,
    *,
    fit_intercept: bool,
    d: int,
    sparse: bool = False,
    rows: int | None = None,
    n_classes: int = 2,
    at_hand: bool = False,
) -> Rules:
    """Fill in what was not given; `rows` is the length of the stream where it is known.

    `at_hand`: all rows can be looked at before the first label.
    """
    for name, rule in (("scaling", scaling), ("update", update), ("query", query)):
        if rule is not None and not isinstance(rule, ROLES[name]):
            raise TypeError(
                f"{name} must be a rule such as those of selectron.{_PLACES[name]}, got {rule!r}"
            )
    text = sparse and d > WIDEST_SPREAD
    if scaling is None and update is not None:
        scaling = WITH_CONSTANT if fit_intercept else AS_THEY_ARE
    elif scaling is None:
        scaling = _scaling(d, rows, text=text, at_hand=at_hand)
    if update is None:
        update = _update(scaling, d, n_classes)
    if not (scaling.WRITTEN_OUT or update.by_products):
        raise ValueError(
            f"{scaling.label} never writes a row out, which {update.label} needs: choose an update "
            "rule such as Probit(rank=64), HalfStep() or Perceptron(), or another scaling"
        )
    if query is None:
        two = Auto(step=STEP_ON_TEXT) if text else Auto()
        query = Capped(first_share=_first_share(rows)) if n_classes > 2 else two
    return Rules(scaling, update, query)


def kernel_rules(
    update: UpdateRule | None, query: QueryRule | None, choice: KernelChoice, n_classes: int
) -> Rules:
    """Fill in what was not given beside a kernel: ridge regression, or Ballseptron of many."""
    if update is None:
        update = Ballseptron() if n_classes > 2 else Ridge()
    check_dual(update, choice)
    return choose_rules(AS_THEY_ARE, update, query, fit_intercept=False, d=1, n_classes=n_classes)


def rules_for_classes(machine: Machine, wishes: Wishes, n_classes: int) -> Rules:
    """Return the rules with which a learner of two classes goes on with more, or refuse."""
    if isinstance(machine, KernelMachine):
        return kernel_rules(*wishes, machine.choice, n_classes)
    update = wishes.update
    if update is not None and not has_many_form(update):
        update.many(machine.d, machine.dtype, n_classes)
    scaling, before, _ = machine.rules
    rules = choose_rules(scaling, *wishes, fit_intercept=False, d=machine.d, n_classes=n_classes)
    if isinstance(before, Weighted):
        rules = rules._replace(update=replace(before, update=rules.update))
    return rules


def rule_named(role: str, rule: object) -> Any:
    """Return the rule of a role that is given by name; what names none, or is no name, stays."""
    if not isinstance(rule, str) or role not in ROLES:
        return rule
    try:
        return rule_from_text(rule, ROLES[role])
    except ValueError:
        return rule  # which the next fit refuses


ROLES = {"scaling": Scaling, "update": UpdateRule, "query": QueryRule}
_PLACES = {"scaling": "scalings", "update": "updates", "query": "queries"}


def _scaling(d: int, rows: int | None, *, text: bool, at_hand: bool) -> Scaling:
    if not text:
        return Automatic(warmup=_warmup(rows))
    if d > WIDEST_STUDIED:
        return Text(warmup=_warmup(rows))
    if at_hand:
        return TextDirections()
    short = rows is not None and rows < HELD_BACK
    return TextDirections(held_back=_warmup(rows) if short else HELD_BACK)


def _update(scaling: Scaling, d: int, n_classes: int) -> UpdateRule:
    if isinstance(scaling, TextDirections):
        return DualProbit()
    whole = d <= WIDEST_KEPT and scaling.WRITTEN_OUT
    if n_classes > 2:
        return Rehearsal() if whole else ClassRidge(rank=_rank(d, MOST_OF_CLASSES, n_classes))
    return Probit() if whole else Probit(rank=_rank(d, MOST_DIRECTIONS))


def _warmup(rows: int | None) -> int:
    """Spend a tenth of a short stream on its mean, 50 rows of a long one."""
    return 50 if rows is None else max(1, min(50, max(rows // 10, min(10, rows // 2))))


def _first_share(rows: int | None) -> float:
    """Spread the first 15 questions over 150 rows of a long stream, over a third of a short one."""
    return FIRST_SHARE if rows is None else FIRST_SHARE * min(5.0, max(1.0, SHORT / max(1, rows)))


def _rank(d: int, most: int, prototypes: int = 0) -> int:
    """Return how many directions fit into memory: a vector or two must, whatever the width."""
    return max(1, min(most, MOST_NUMBERS // (d + 1) - prototypes))
