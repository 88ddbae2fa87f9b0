"""From an update rule to its dual form, and room for it to grow."""

import numpy as np

from selectron.kernels import Kernel, KernelChoice
from selectron.kernels.budgets import Budget, Exit, Projection, Unlimited
from selectron.kernels.first_order import ManyClasses, Numbers, Prototypes, TwoClasses
from selectron.kernels.second_order import Regression
from selectron.kernels.support import MOST_RECENT, Support, widened, with_room
from selectron.spec import State, UpdateRule
from selectron.updates import Ballseptron, Perceptron, Ridge, SecondOrder
from selectron.updates.covariance import Belief, ClassBelief
from selectron.updates.ridge import RidgeRule

FIRST_ORDER = (Perceptron, Ballseptron)
SECOND_ORDER = (Ridge, SecondOrder)
Dual = TwoClasses | ManyClasses | Belief | ClassBelief


def check_dual(rule: UpdateRule, choice: KernelChoice) -> None:
    """Refuse rules that no sum over support vectors can express."""
    if not isinstance(rule, FIRST_ORDER + SECOND_ORDER):
        raise ValueError(
            f"{rule.label} has no form with a kernel: use Perceptron(), Ballseptron(), "
            "SecondOrder() or Ridge(), or leave the kernel out"
        )
    projected = choice.budget is not None and choice.removal == "projection"
    if projected and isinstance(rule, SECOND_ORDER):
        raise ValueError(
            f'removal="projection" is for first-order rules, and {rule.label} is not one: '
            'use removal="random" or "smallest"'
        )


def begin_dual(
    rule: UpdateRule, support: Support, kernel: Kernel, choice: KernelChoice, n_classes: int
) -> Dual:
    """Return the state of the rule with no support vectors yet."""
    check_dual(rule, choice)
    budget, n = _budget(choice), n_classes if n_classes > 2 else 1
    if isinstance(rule, SECOND_ORDER):
        solved, matrix, a = np.zeros((n, 0)), np.zeros((0, 0)), float(rule.a)
        parts = solved, solved.copy(), matrix, np.zeros(0), np.zeros(n)
        regression = Regression(support, kernel, budget, *parts, a)
        numbers = RidgeRule(a) if isinstance(rule, Ridge) else rule.numbers()
        if n > 1:
            return ClassBelief(regression, numbers, np.zeros(n), 0.0, 0)
        return Belief(regression, numbers, 0.0, 0)
    sums, scores, steps, along = np.zeros((n, 0)), np.zeros(n), np.zeros(n), np.zeros(n)
    store = Prototypes(support, kernel, budget, sums, np.zeros((n, n)), scores, steps, along)
    knobs = Numbers(1.0, 0.0, False, False)
    if isinstance(rule, Perceptron):
        knobs = knobs._replace(eta=float(rule.eta), literal_ties=bool(rule.literal_ties))
    if isinstance(rule, Ballseptron):
        knobs = knobs._replace(r=float(rule.r), mistakes_too=bool(rule.mistakes_too))
    if n > 1:
        return ManyClasses(store, scores, knobs, 0, 0)
    return TwoClasses(store, knobs, 0.0, 0, 0)


def _budget(choice: KernelChoice) -> Budget:
    if choice.budget is None:
        return Unlimited(True)
    if choice.removal == "projection":
        return Projection(np.zeros((0, 0)), np.zeros(0), choice.budget)
    entered, clock, coins = np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(MOST_RECENT)
    by_coin = choice.removal == "random"
    return Exit(np.zeros((0, 0)), entered, clock, coins, choice.budget, by_coin)


def dual_with_room(state: State, capacity: int, nonzeros: int) -> State:
    """Return the state with this many slots."""
    store = state.store
    store = store._replace(
        support=with_room(store.support, capacity, nonzeros),
        budget=_budget_with_room(store.budget, capacity),
        coefficients=widened(store.coefficients, len(store.coefficients), capacity),
    )
    if isinstance(store, Regression):
        store = store._replace(
            targets=widened(store.targets, len(store.targets), capacity),
            inverse=widened(store.inverse, capacity, capacity),
            image=np.zeros(capacity),
        )
    return state._replace(store=store)


def _budget_with_room(budget: Budget, capacity: int) -> Budget:
    if isinstance(budget, Projection):
        inverse = widened(budget.inverse, capacity, capacity)
        return budget._replace(inverse=inverse, image=np.zeros(capacity))
    if isinstance(budget, Exit):
        gram = widened(budget.gram, capacity, capacity)
        return budget._replace(gram=gram, entered=widened(budget.entered, capacity))
    return budget
