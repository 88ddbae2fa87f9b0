"""The bounds from online to batch fail no more often than they say, by exact probabilities."""

from itertools import product
from math import comb

import numpy as np
import pytest

from selectron.bounds import ccg04
from tests.oracles.learners import Perceptron

DELTAS = (0.01, 0.1, 0.4)
RATES = np.linspace(0.005, 0.995, 199)


def binomial(n, rate):
    return [comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]


def failures(bound_of, rounds, rate):
    """How probable it is that a learner of this error in each round has a bound below it."""
    chances = binomial(rounds, rate)
    return sum(chances[k] for k in range(rounds + 1) if bound_of(k) < rate)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rounds", [1, 5, 40])
def test_the_mean_error_fails_at_most_so_often(rounds, delta):
    known = {"rounds": rounds, "delta": delta}
    worst = max(
        failures(lambda k: ccg04.mean_error(mistakes=k, **known), rounds, rate) for rate in RATES
    )
    assert worst <= delta


def test_the_mean_error_has_little_to_spare():
    # With 0.6 of the deviation it would fail more often than it says.
    def too_small(k):
        return 0.4 * k / 40 + 0.6 * ccg04.mean_error(mistakes=k, rounds=40, delta=0.1)

    assert max(failures(too_small, 40, rate) for rate in RATES) > 0.1


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_vote_errs_at_most_twice_as_often_as_its_hypotheses(n):
    patterns = np.array(list(product([0, 1], repeat=n)))  # which of n hypotheses err on a row
    ratio = max((2 * p.sum() >= n) / p.mean() for p in patterns if p.any())
    known = {"mistakes": 30, "rounds": 100, "delta": 0.1}
    assert ratio <= 2 == ccg04.vote_error(**known) / ccg04.mean_error(**known)
    assert n % 2 or ratio == 2  # a tie among an even number may be wrong


def survival_fails(rounds, error, bound_of):
    """How probable it is that some hypothesis outlives its bound, a new one after each mistake.

    All hypotheses err with this probability. `state` is how long the present one has survived.
    """
    state, failed = {0: 1.0}, 0.0
    for _ in range(rounds):
        grown = {}
        for survived, chance in state.items():
            longer = survived + 1
            if bound_of(longer) < error:
                failed += chance * (1 - error)
            else:
                grown[longer] = grown.get(longer, 0.0) + chance * (1 - error)
            grown[0] = grown.get(0, 0.0) + chance * error
        state = grown
    return failed


@pytest.mark.parametrize("delta", DELTAS)
def test_survivors_fail_at_most_so_often(delta):
    known = {"n_hypotheses": 60, "delta": delta}
    worst = max(
        survival_fails(60, e, lambda s: ccg04.survivor_error(survived=s, **known)) for e in RATES
    )
    assert worst <= delta


def test_survivors_need_the_number_of_hypotheses():
    known = {"n_hypotheses": 1, "delta": 0.1}
    worst = max(
        survival_fails(60, e, lambda s: ccg04.survivor_error(survived=s, **known)) for e in RATES
    )
    assert worst > 0.5


def test_one_hypothesis_can_fail_as_often_as_the_bound_says():
    # Its critical life is met exactly: (1 - e)^s is just below δ.
    error, delta = 1 - 0.1 ** (1 / 20) + 1e-12, 0.1
    bound = {"n_hypotheses": 1, "delta": delta}
    assert ccg04.survivor_error(survived=20, **bound) < error
    assert (1 - error) ** 20 == pytest.approx(delta)


def test_a_random_stop_errs_as_the_mistakes_say():
    # All sequences of four labelled points, one label wrong a quarter of the time: an identity.
    points = [((1.0, 0.2), 1), ((-0.5, 1.0), 1), ((0.3, -1.0), -1), ((1.0, 0.2), -1)]
    chances, rounds = [0.3, 0.3, 0.3, 0.1], 4

    def wrong(learner, point):
        return (1 if learner.margin(np.array(point[0])) > 0 else -1) != point[1]

    mistakes = error = 0.0
    for drawn in product(range(4), repeat=rounds):
        chance = np.prod([chances[i] for i in drawn])
        learner = Perceptron(2)
        for i in drawn:
            errs = sum(c * wrong(learner, p) for c, p in zip(chances, points, strict=True))
            error += chance * errs / rounds
            mistakes += chance * wrong(learner, points[i])
            learner.learn(np.array(points[i][0]), points[i][1])
    assert ccg04.expected_error(mistakes=mistakes, rounds=rounds) == pytest.approx(error)
