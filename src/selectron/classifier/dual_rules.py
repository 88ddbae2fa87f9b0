"""Which rules make up a learner with a kernel."""

from typing import Any

from selectron.classifier.rules import Rules, choose_rules
from selectron.kernels.choice import KernelChoice
from selectron.kernels.duals import Memory, check_dual
from selectron.scalings import Raw
from selectron.updates import Ballseptron, Ridge


def dual_rules(update: Any, query: Any, choice: KernelChoice, n_classes: int) -> Rules:
    """Fill in what was not given: ridge regression, or Ballseptron of many classes."""
    if update is None:
        update = Ballseptron() if n_classes > 2 else Ridge()
    check_dual(update, Memory(choice.budget, choice.removal))
    return choose_rules(Raw(), update, query, fit_intercept=False, d=1, n_classes=n_classes)


def check_plain(scaling: Any, *, fit_intercept: bool) -> None:
    """Refuse what a kernel does itself."""
    if scaling is not None and not isinstance(scaling, Raw):
        raise ValueError(
            f"scaling={scaling!r} and a kernel do not go together: scale the rows before, and "
            "leave scaling out"
        )
    if fit_intercept:
        raise ValueError(
            'fit_intercept=True and a kernel do not go together: use kernel="poly" with coef0 > 0'
        )
