"""The capped threshold: its rate, its floor, a late class, late answers, one class only."""

from math import exp

import numpy as np
import pytest

from selectron.numeric.coins import coins
from selectron.numeric.rows import DenseRow
from selectron.protocol import (
    ManyForecast,
    advance,
    ask_probability,
    count_class,
    expire,
    mark_overdue,
    observe,
)
from selectron.queries import Budget, Capped, Floor
from selectron.queries.capped import Thresholds
from tests.oracles import queries as twins

ROW = DenseRow(np.array([1.0]))
RIGHT, WRONG = 1.0, -1.0


def at(certainty, best=0, second=1):
    return ManyForecast(certainty, 1.0, 1.0, 1.0, True, best, second)


def told(query, forecast, k, verdict):
    return observe(count_class(advance(query, forecast, True), k, 4), ROW, forecast, verdict)


def begun(explore=0.005, certainty=2.0):
    """Two classes known, and the thresholds set by a row of this certainty."""
    query = Capped(explore=explore).many(1, 4)
    for k in (0, 1):
        assert ask_probability(query, ROW, at(1.0)) == 1.0
        query = told(query, at(1.0), k, WRONG)
    assert query.thresholds == (0.0, 0.0)
    return advance(query, at(certainty), False)


def test_the_first_certainty_sets_both_thresholds():
    query = begun()
    balanced, tracked = query.thresholds  # the third round leaks, and the cap opens a little
    assert tracked == pytest.approx(1.0 * exp(0.2 * 0.1))
    assert balanced == pytest.approx(1.0 * (1 + 4 / 3))
    e = min(balanced, tracked)
    assert ask_probability(query, ROW, at(e)) == 1.0
    assert ask_probability(query, ROW, at(2 * e)) == pytest.approx(1 / 16)
    assert ask_probability(query, ROW, at(1e6)) == 0.005


def test_where_every_answer_is_wrong_one_row_in_ten_is_asked():
    query, rng = begun(), np.random.default_rng(0)
    n_asked = 0
    for coin in coins(1, 0, 5000):
        forecast = at(rng.random())
        if coin < ask_probability(query, ROW, forecast):
            query = told(query, forecast, n_asked % 4, WRONG)
            n_asked += 1
        else:
            query = advance(query, forecast, False)
    assert n_asked / 5000 == pytest.approx(0.1, abs=0.01)


def test_a_label_that_only_the_floor_asked_for_hardly_moves_the_threshold():
    query = begun(explore=0.05)
    rule = ask_probability(begun(explore=0.0), ROW, at(200.0))
    then = observe(count_class(query, 0, 4), ROW, at(200.0), RIGHT).thresholds
    assert then.balanced == pytest.approx(query.thresholds.balanced * exp(-0.45 * rule / 0.05))
    near = observe(count_class(query, 0, 4), ROW, at(0.1), RIGHT).thresholds
    assert near.balanced == pytest.approx(query.thresholds.balanced * exp(-0.45))


@pytest.mark.parametrize(
    ("columns", "variance", "least"), [(39, 1.0, 0.3), (40, 1.0, 0.0), (39, 0.0, 0.0)]
)
def test_right_answers_leave_three_tenths_of_a_deviation_after_as_many_labels_as_columns(
    columns, variance, least
):
    query = Capped().many(columns, 4)._replace(thresholds=Thresholds(1.0, 1.0))
    forecast = at(1e-9)._replace(variance=variance)
    for n in range(40):
        query = observe(count_class(query, n % 4, 4), ROW, forecast, RIGHT)
    assert query.thresholds.balanced == pytest.approx(max(exp(-0.45 * 40), least))


def test_a_mistake_on_a_class_with_few_labels_opens_both_thresholds():
    query = begun()
    for _ in range(30):
        query = told(query, at(0.5), 0, RIGHT)
        query = told(query, at(0.5), 1, RIGHT)
    query = query._replace(thresholds=Thresholds(0.3, 0.4))
    opened = observe(count_class(query, 2, 4), ROW, at(5.0), WRONG)
    assert opened.late
    balanced, tracked = query.thresholds
    assert opened.thresholds == pytest.approx((exp(0.55) * balanced, exp(0.55) * tracked))
    capped = query._replace(thresholds=query.thresholds._replace(balanced=3 * tracked))
    lifted = observe(count_class(capped, 3, 4), ROW, at(5.0), WRONG).thresholds
    assert lifted.tracked == lifted.balanced == pytest.approx(3 * exp(0.55) * tracked)
    usual = observe(count_class(query, 0, 4), ROW, at(5.0), WRONG)
    assert not usual.late
    assert usual.thresholds.tracked == query.thresholds.tracked
    assert observe(count_class(query, 3, 4), ROW, at(5.0), RIGHT).thresholds.tracked == (
        query.thresholds.tracked
    )


def with_a_late_class(n_labels=60):
    """Class 2 has had one label, classes 0 and 1 all the others."""
    query = begun()
    for n in range(n_labels):
        query = told(query, at(0.5), n % 2, RIGHT)
    return told(query, at(5.0), 2, WRONG)


@pytest.mark.parametrize("pair", [(0, 2), (2, 1)])
def test_rows_that_may_be_of_a_class_with_few_labels_are_asked(pair):
    query = with_a_late_class()._replace(thresholds=Thresholds(1.0, 1.0), n_sought=7)
    assert ask_probability(query, ROW, at(1e6, *pair)) == 1.0
    assert ask_probability(query, ROW, at(1e6)) == 0.005
    forecast = at(2.0, *pair)  # the thresholds alone would have asked at 1/16
    asked = advance(query, forecast, True)
    assert asked.n_sought == 8
    assert asked.thresholds == pytest.approx((1.0, exp(0.2 * (0.1 - 1 / 16))))
    then = observe(count_class(asked, 0, 4), ROW, forecast, RIGHT)
    assert then.thresholds.balanced == pytest.approx(exp(-0.45 / 16))
    assert ask_probability(then, ROW, forecast) < 1.0  # 8 of 64 labels are enough


def test_a_class_is_sought_until_it_has_ten_labels_or_a_fifth_of_the_usual_number():
    query, far = with_a_late_class(600), at(1e6, 0, 2)
    while ask_probability(query, ROW, far) == 1.0:
        query = told(query, far, 2, RIGHT)
    assert query.counts[2] == 10
    query = with_a_late_class(60)  # the usual number is 22 at the end, a fifth of it is 4.4
    while ask_probability(query, ROW, far) == 1.0:
        query = told(query, far, 2, RIGHT)
    assert query.counts[2] == 5


def test_no_class_is_sought_before_there_are_20_labels_a_class():
    far = at(1e6, 0, 2)
    assert ask_probability(with_a_late_class(56), ROW, far) == 0.005  # 59 labels, 3 classes
    assert ask_probability(with_a_late_class(57), ROW, far) == 1.0


def test_a_class_that_is_sought_in_vain_costs_an_eighth_of_all_labels():
    query, far = with_a_late_class(), at(1e6, 0, 2)
    for _ in range(2000):
        if ask_probability(query, ROW, far) == 1.0:
            query = told(query, far, 0, RIGHT)
        else:
            query = advance(query, far, False)
    assert query.n_sought == pytest.approx(query.n_labels / 8, abs=1)
    assert query.n_labels < 80


def test_a_late_class_is_sought_as_the_slow_twin_does():
    """Class 2 comes after 1,500 rounds, class 3 hardly ever."""
    rng, twin, query = np.random.default_rng(4), twins.Capped(), Capped().many(1, 4)
    for t, coin in enumerate(coins(3, 0, 3000)):
        best, second = rng.permutation(4 if t > 1500 else 2)[:2]
        forecast = at(5 * rng.random(), int(best), int(second))
        odds = ask_probability(query, ROW, forecast)
        assert odds == pytest.approx(twin.probability(None, forecast), rel=1e-9)
        asked = coin < odds
        query = advance(query, forecast, asked)
        twin.advance(forecast, asked)
        if asked:
            label = 3 if rng.random() < 0.01 and t > 1500 else min(int(best), 2)
            verdict = RIGHT if label == best and rng.random() < 0.7 else WRONG
            query = observe(count_class(query, label, 4), ROW, forecast, verdict)
            twin.count_class(label)
            twin.observe(ROW.values, forecast, verdict)
    assert query.n_sought == twin.sought > 10


def test_late_answers_leave_only_the_floor():
    query = begun(explore=0.01)
    for _ in range(20):
        assert ask_probability(query, ROW, at(0.0)) == 1.0
        query = advance(query, at(0.0), True)
    assert ask_probability(query, ROW, at(0.0)) == 0.01
    assert ask_probability(mark_overdue(query, 1), ROW, at(0.0)) == 1.0
    assert ask_probability(expire(query, 1), ROW, at(0.0)) == 1.0


def test_one_class_is_not_asked_about_for_ever():
    query = Capped().many(1, 4)
    for _ in range(20):
        assert ask_probability(query, ROW, at(1.0)) == 1.0
        query = told(query, at(1.0), 2, RIGHT)
    assert ask_probability(query, ROW, at(1.0)) == 0.1
    query = told(query, at(1.0), 1, WRONG)
    forecast = at(1.0, 2, 1)
    assert ask_probability(query, ROW, forecast) == pytest.approx(1 / 16)  # s/2 against s


@pytest.mark.parametrize("outer", [Floor(Capped(), 0.1), Budget(Capped(), total=50)])
def test_what_is_around_it_lets_it_know_the_classes(outer):
    query = outer.many(1, 7)
    for k in (6, 6, 2):
        query = told(query, at(1.0), k, WRONG)
    assert query.rule.counts.tolist() == [0, 0, 1, 0, 0, 0, 2]
