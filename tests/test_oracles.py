"""The twins against numbers worked out by hand, for what no theorem covers."""

from math import exp, log, sqrt

import numpy as np
import pytest

from tests.oracles import learners, queries
from tests.oracles.learners import Forecast
from tests.oracles.run import expectations, outcomes, run


def teach(learner, *examples):
    """Teach (x, y) pairs in one dimension; return the weight after each."""
    after = []
    for x, y in examples:
        learner.learn(np.array([float(x)]), y)
        after.append(float(learner.weights[0]))
    return after


@pytest.mark.parametrize(
    ("learner", "examples", "weights"),
    [
        (learners.Perceptron(1, eta=0.5), [(2, 1), (1, 1), (1, -1)], [1, 1, 0.5]),
        (learners.Reflection(1, alpha=1.5), [(4, -1), (2, -1), (3, 1)], [-1, -1, 0.5]),
        (learners.Ballseptron(1, r=0.5), [(1, 1), (0.25, 1), (1, 1)], [1, 0.75, 0.75]),
        (learners.SecondOrder(1), [(1, 1), (1, 1), (1, -1)], [1 / 2, 1 / 2, 0]),
        (learners.SecondOrder(1, a=3.0), [(1, 1)], [1 / 4]),
        (learners.Winnow(1, eta=log(2), balanced=True), [(1, 1), (1, -1)], [0.6, 0]),
        (learners.PNorm(1, p=3), [(2, 1), (1, -1)], [2, 1]),
        (learners.PassiveAggressive(1), [(2, 1), (0.5, -1), (0, 1)], [0.5, 0, 0]),
        (learners.PassiveAggressive(1, C=1, squared=True), [(2, 1)], [2 / 4.5]),
        (learners.Arow(1, r=1.0), [(1, 1), (1, 1)], [1 / 2, 2 / 3]),
        (learners.Ridge(1), [(1, 1), (1, 1), (1, -1)], [1 / 2, 2 / 3, 1 / 4]),
        (learners.HalfStep(1), [(1, 1), (1, 1), (2, -1)], [0.5, 0.75, -0.5]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, learners.Learner) else "",
)
def test_updates_by_hand(learner, examples, weights):
    assert teach(learner, *examples) == pytest.approx(weights)
    moved = np.diff([0.0, *weights]) != 0
    assert learner.n_updates == (len(weights) if type(learner) is learners.Ridge else moved.sum())


def test_what_the_forecasts_report():
    x = np.array([1.0])
    first = learners.SecondOrder(1)
    assert first.forecast(x) == Forecast(0.0, 1.0, 0.0, 1.0)
    teach(first, (1, 1))
    assert first.forecast(x) == pytest.approx((1 / 3, sqrt(1 / 2), 1 / 2, 1 / 2))
    arow = learners.Arow(1, r=1.0)
    teach(arow, (1, 1), (1, 1))
    assert arow.forecast(x) == pytest.approx((2 / 3, sqrt(1 / 3), 2 / 3, 1 / 3))
    assert learners.Perceptron(1).forecast(x) == Forecast(0.0, 1.0, 0.0, 0.0)  # a unit is never 0
    ball = learners.Ballseptron(1, r=0.5)
    teach(ball, (1, 1), (0.25, 1))
    assert (ball.n_updates, ball.n_margin_errors) == (2, 1)


def test_plain_winnow_and_two_dimensional_p_norm():
    winnow = learners.Winnow(2, eta=log(2))
    winnow.learn(np.array([1.0, 0.0]), -1)
    assert winnow.weights == pytest.approx([1 / 3, 2 / 3])
    p_norm = learners.PNorm(2, p=3)
    for x in np.array([[2.0, 0.0], [0.0, 1.0]]):
        p_norm.learn(x, 1)
    assert p_norm.weights == pytest.approx(np.array([4, 1]) / 9 ** (1 / 3))


def decide(query, margin, y=None, unit=1.0, norm=1.0, x=1.0):
    """Play one round of a query rule; return its probability."""
    forecast, row = Forecast(margin, unit, norm, 0.0), np.array([x])
    probability = query.probability(row, forecast)
    query.advance(forecast, y is not None)
    if y is not None:
        query.observe(row, forecast, y)
    return probability


def test_halving_by_hand():
    query = queries.Halving(patience=2, start="1/sqrt(d)", d=4)
    assert decide(query, 0.0, y=1, norm=0.0) == 1  # starts the hypothesis: no answer, no run
    assert (query.threshold, query.run) == (0.5, 0)
    assert (decide(query, 1.0, norm=2.0), decide(query, 1.01, norm=2.0)) == (1, 0)
    thresholds = []
    for y in (1, 1, 1, -1, 1, 1):
        decide(query, 0.1, y=y)
        thresholds.append(query.threshold)
    assert thresholds == [0.5, 0.25, 0.25, 0.25, 0.25, 0.125]
    decide(query, 0.0, y=-1)  # a tie is a right answer: (x·v)y ≥ 0
    assert query.run == 1


def test_adaptive_margin_by_hand():
    query = queries.AdaptiveMargin(beta=0.5)
    assert decide(query, 0.0, x=0.0) == 1
    assert decide(query, 2.0, y=-1, x=2.0) == pytest.approx(2 / 4)  # b = ½ · 2² · √1
    assert decide(query, 2.0, x=4.0) == pytest.approx(8 * sqrt(2) / (8 * sqrt(2) + 2))
    assert decide(query, 2.0, y=1, x=1.0) == pytest.approx(2 * sqrt(2) / (2 * sqrt(2) + 2))
    assert (query.X, query.K) == (2.0, 1)


def test_balanced_threshold_by_hand():
    query = queries.Balanced(rho=0.45, step=1.0, leak=4.0)
    assert [decide(query, 0.3), decide(query, 0.0, y=1)] == [1, 1]  # until a label is seen
    assert query.q is None
    assert decide(query, 0.8, unit=2.0) == 0  # sets q = 0.2, and t = 3 leaks
    assert query.q == pytest.approx(0.2 * (1 + 4 / 3))
    q = query.q
    assert decide(query, 0.1, y=-1) == 1
    assert query.q == pytest.approx(q * exp(0.55))
    assert decide(query, 0.1, y=1) == 1
    assert query.q == pytest.approx(q * exp(0.1))
    started = queries.Balanced(start=0.5)
    assert decide(started, 0.9, y=1) == 1
    assert started.q == pytest.approx(0.5 * exp(-0.45))


def test_a_threshold_of_zero_is_not_yet_set():
    query = queries.Balanced()
    decide(query, 0.0, y=1)
    assert decide(query, 0.0, y=1) == 1
    assert decide(query, 0.6) == 0
    assert query.q == pytest.approx(0.3 * (1 + 4 / 3))


def test_rate_tracking_by_hand():
    query = queries.RateTracking(rate=0.1, step=0.5)
    assert decide(query, 0.0, y=1) == 1
    assert decide(query, 0.8, unit=2.0) == 0  # sets q = 0.2 and moves it in the same round
    assert query.q == pytest.approx(0.2 * exp(0.05))
    assert decide(query, 0.1, y=1) == 1
    assert query.q == pytest.approx(0.2 * exp(0.05 - 0.45))


def test_expectations_weigh_every_outcome_once():
    X, y = np.ones((4, 1)), np.ones(4)
    asked, product = expectations(
        lambda: learners.Ridge(1),
        lambda: queries.Uniform(0.3),
        X,
        y,
        [lambda record: record.asked, lambda record: record.asked[0] * record.learner.n_updates],
    )
    assert asked == pytest.approx([0.3] * 4)
    assert product == pytest.approx(0.3 * (1 + 3 * 0.3))

    def play(query):
        return lambda coins: run(learners.Ridge(1), query(), X, y, coins)

    weights = [weight for weight, _ in outcomes(play(lambda: queries.Uniform(0.3)), 4)]
    assert (len(weights), sum(weights)) == (16, pytest.approx(1))
    assert len(list(outcomes(play(queries.Always), 4))) == 1  # nothing else can happen
    assert len(list(outcomes(play(lambda: queries.Uniform(0.0)), 4))) == 1


def test_the_loop_learns_only_what_was_asked_and_judges_every_round():
    X, y = np.ones((3, 1)), np.array([1.0, -1.0, -1.0])
    coins = np.array([0.0, 0.9, 0.4])
    record = run(learners.Perceptron(1), queries.Margin(b=1.0), X, y, coins)
    assert record.probabilities.tolist() == [1.0, 0.5, 0.5]
    assert record.asked.tolist() == [True, False, True]
    assert record.mistakes.tolist() == [True, True, True]
    assert record.margins.tolist() == [0.0, 1.0, 1.0]
    assert record.learner.weights.tolist() == [0.0]


def test_the_loop_advances_the_query_on_every_round():
    # After one label s = ½ and q = ¼; the round not asked opens q to ¼ (1 + 4/2) = ¾.
    record = run(learners.HalfStep(1), queries.Balanced(), np.ones((3, 1)), np.ones(3), np.zeros(3))
    assert record.margins.tolist() == [0.0, 0.5, 0.5]
    assert record.probabilities.tolist() == [1.0, 0.0, 1.0]
