"""Which rules a learner with a kernel has, and the machine they make up."""

from typing import Any

from selectron.classifier.dual_rules import check_plain, dual_rules
from selectron.classifier.kernel_machine import KernelMachine
from selectron.classifier.ledger import with_ledger
from selectron.classifier.seeds import seed_of
from selectron.kernels.choice import KernelChoice
from selectron.numeric.rows import Rows

SETTINGS = ("kernel", "degree", "gamma", "coef0", "budget", "removal")


def kernel_machine(learner: Any, rows: Rows, n_classes: int) -> KernelMachine:
    """Begin the learner's machine; rows of the first call settle what they have to."""
    choice = KernelChoice(*(getattr(learner, name) for name in SETTINGS))
    check_plain(learner.scaling, fit_intercept=learner.fit_intercept)
    rules = dual_rules(learner.update, learner.query, choice, n_classes)
    said = learner.explore, learner.window, learner.stop_when
    rules, ledger = with_ledger(rules, *said, many=n_classes > 2)
    seed = seed_of(learner.random_state)
    machine = KernelMachine(rules, rows, seed, choice, n_classes=n_classes)
    machine.ledger = ledger
    return machine
