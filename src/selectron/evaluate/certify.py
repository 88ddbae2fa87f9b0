"""Which theorem covers a run, if any does."""

from collections.abc import Callable
from math import inf
from typing import Any

from selectron.evaluate import judges_cbgz06, judges_ss05
from selectron.evaluate.certificate import Certificate
from selectron.evaluate.evidence import gather
from selectron.queries import AdaptiveMargin, Always, Margin, SecondOrderMargin
from selectron.scalings import Intercept, Raw
from selectron.updates import Ballseptron, Perceptron, PNorm, SecondOrder, Winnow

JUDGES: dict[tuple[type, type], Callable[..., Certificate]] = {
    (Perceptron, Margin): judges_cbgz06.perceptron_margin,
    (Perceptron, AdaptiveMargin): judges_cbgz06.perceptron_adaptive,
    (Perceptron, Always): judges_ss05.every_label,
    (Ballseptron, Always): judges_ss05.every_label,
    (SecondOrder, Margin): judges_cbgz06.second_order,
    (SecondOrder, SecondOrderMargin): judges_cbgz06.second_order,
    (Winnow, Margin): judges_cbgz06.winnow,
    (PNorm, Margin): judges_cbgz06.p_norm_margin,
}
OF_MANY_CLASSES = {
    (Perceptron, Margin),
    (Perceptron, AdaptiveMargin),
    (Perceptron, Always),
    (Ballseptron, Always),
}


def certify(trace: Any, comparator: Any = None) -> Certificate:
    """Find the theorem for this pair of rules, and its smallest bound in hindsight."""
    scaling, update, query = trace.learner.rules_
    n_classes = len(trace.learner.classes_)
    pair = type(update), type(query)
    if n_classes > 2 and pair not in OF_MANY_CLASSES:
        names = f"{update.label} with {query.label}"
        theorem = f"no theorem here covers {names} on {n_classes} classes"
        return Certificate(trace.n_mistakes, None, theorem)
    if trace.learner.kernel is not None:
        why = "no comparator is searched for in the space of a kernel"
        return Certificate(trace.n_mistakes, None, why)
    judge = JUDGES.get(pair)
    if judge is None or not isinstance(scaling, Raw | Intercept):
        presented = "" if isinstance(scaling, Raw | Intercept) else f" on {scaling.label} rows"
        return Certificate(
            trace.n_mistakes,
            None,
            f"no worst-case theorem covers {update.label} with {query.label}{presented}",
        )
    evidence = gather(trace, with_constant=isinstance(scaling, Intercept))
    certificate = judge(trace.n_mistakes, evidence, update, query, comparator)
    if certificate.bound == inf:
        why = f"{certificate.theorem} has no comparator for these rows"
        return Certificate(trace.n_mistakes, None, why)
    return certificate
