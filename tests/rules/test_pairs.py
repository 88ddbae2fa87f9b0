"""Every update with every query: equal to its slow twin, blind to labels it did not ask for."""

import pytest

from selectron.updates import Ballseptron, Perceptron, PNorm
from tests.other_process import digests_of
from tests.rules.catalogue import PAIRS, QUERIES, UPDATES
from tests.rules.digests import digests, scaled
from tests.rules.pairs import COINS, D, X, Y, check_pair, check_single_precision
from tests.rules.spread import SPREAD
from tests.rules.streams import as_dense
from tests.rules.subject import play


def test_every_pair_agrees_with_its_twin_and_plain_python_gives_the_same_bits():
    plain = digests_of("tests.rules.pairs", NUMBA_DISABLE_JIT="1")
    assert plain == digests(SPREAD) | scaled()


@pytest.mark.parametrize(("update", "query"), SPREAD)
def test_a_pair_compiled(update, query):
    check_pair(update, query)


@pytest.mark.slow
@pytest.mark.parametrize(("update", "query"), [pair for pair in PAIRS if pair not in SPREAD])
def test_every_other_pair_compiled(update, query):
    check_pair(update, query)


@pytest.mark.slow
@pytest.mark.parametrize("update", UPDATES)
def test_single_precision_compiled(update):
    check_single_precision(update)


def test_p_norm_two_is_the_perceptron_to_the_bit():
    perceptron = play(Perceptron(), QUERIES["margin"], as_dense(X), Y, COINS, d=D)
    pnorm = play(PNorm(p=2.0), QUERIES["margin"], as_dense(X), Y, COINS, d=D)
    assert perceptron.weights.tobytes() == pnorm.weights.tobytes()
    assert perceptron.margins.tobytes() == pnorm.margins.tobytes()


def test_ballseptron_of_radius_zero_is_the_perceptron():
    perceptron = play(Perceptron(), QUERIES["margin"], as_dense(X), Y, COINS, d=D)
    ball = play(Ballseptron(r=0.0), QUERIES["margin"], as_dense(X), Y, COINS, d=D)
    assert perceptron.weights.tobytes() == ball.weights.tobytes()
