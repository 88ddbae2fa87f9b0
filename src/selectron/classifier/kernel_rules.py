"""Which rules a learner with a kernel has, and the machine they make up."""

from typing import Any

from selectron.classifier.kernel_machine import KernelMachine
from selectron.classifier.rules import Rules, choose_rules
from selectron.classifier.seeds import seed_of
from selectron.kernels.choice import KernelChoice
from selectron.kernels.duals import Memory, check_dual
from selectron.numeric.rows import Rows
from selectron.scalings import Raw
from selectron.updates import Ridge

SETTINGS = ("kernel", "degree", "gamma", "coef0", "budget", "removal")


def kernel_machine(learner: Any, rows: Rows) -> KernelMachine:
    """Begin the learner's machine; rows of the first call settle what they have to."""
    choice = KernelChoice(*(getattr(learner, name) for name in SETTINGS))
    rules = kernel_rules(learner.scaling, learner.update, learner.query, learner.fit_intercept)
    check_dual(rules.update, Memory(choice.budget, choice.removal), 2)
    return KernelMachine(rules, rows, seed_of(learner.random_state), choice)


def kernel_rules(scaling: Any, update: Any, query: Any, fit_intercept: bool) -> Rules:
    """Fill in what was not given: ridge regression, the default query, rows as they are."""
    if scaling is not None and not isinstance(scaling, Raw):
        raise ValueError(
            f"scaling={scaling!r} and a kernel do not go together: scale the rows before, and "
            "leave scaling out"
        )
    if fit_intercept:
        raise ValueError(
            'fit_intercept=True and a kernel do not go together: use kernel="poly" with coef0 > 0'
        )
    update = Ridge() if update is None else update
    return choose_rules(Raw(), update, query, fit_intercept=False, d=1)
