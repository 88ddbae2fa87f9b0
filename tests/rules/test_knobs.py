"""Knobs outside their range are refused, with the value and the range."""

import numpy as np
import pytest

from selectron import queries, scalings, updates

BAD = [
    (queries.Margin, {"b": 0.0}),
    (queries.Margin, {"b": -1.0}),
    (queries.Margin, {"b": float("nan")}),
    (queries.Margin, {"b": float("inf")}),
    (queries.SecondOrderMargin, {"b": 0}),
    (queries.AdaptiveMargin, {"beta": 0.0}),
    (queries.Uniform, {"rate": 0.0}),
    (queries.Uniform, {"rate": 1.5}),
    (queries.Halving, {"patience": 0}),
    (queries.Halving, {"start": 0.0}),
    (queries.Halving, {"start": "one"}),
    (queries.Halving, {"start": float("inf")}),
    (queries.Halving, {"start": True}),
    (queries.Halving, {"patience": 2.5}),
    (queries.Balanced, {"rho": 1.0}),
    (queries.Balanced, {"step": 0.0}),
    (queries.Balanced, {"leak": -1.0}),
    (queries.RateTracking, {"rate": 0.0}),
    (updates.Perceptron, {"eta": 0.0}),
    (updates.Reflection, {"alpha": 2.5}),
    (updates.Reflection, {"alpha": 0.0}),
    (updates.Ballseptron, {"r": -0.1}),
    (updates.SecondOrder, {"a": 0.0}),
    (updates.Winnow, {"eta": -1.0}),
    (updates.PNorm, {"p": 1.5}),
    (updates.PassiveAggressive, {"C": 0.0}),
    (updates.Arow, {"r": 0.0}),
    (updates.Ridge, {"a": -1}),
    (updates.HalfStep, {"rate": 1.1}),
    (scalings.Centred, {"bias": -1.0}),
    (scalings.Centred, {"warmup": -1}),
]


@pytest.mark.parametrize(("kind", "knobs"), BAD)
def test_a_bad_knob_is_refused(kind, knobs):
    (name, value), *_ = knobs.items()
    with pytest.raises(
        ValueError, match=rf"{kind.__name__}: {name} must .*{value}".replace("-", ".")
    ):
        kind(**knobs)


@pytest.mark.parametrize("value", ["0.5", None, True, [1.0]])
def test_a_knob_must_be_a_number(value):
    with pytest.raises(TypeError, match="b must be a number"):
        queries.Margin(b=value)


@pytest.mark.parametrize(
    ("kind", "knob"), [(updates.Winnow, "balanced"), (updates.PassiveAggressive, "squared")]
)
@pytest.mark.parametrize("value", ["no", 0, None])
def test_a_choice_of_two_is_true_or_false(kind, knob, value):
    with pytest.raises(TypeError, match=f"{knob} is True or False"):
        kind(**{knob: value})
    assert kind(**{knob: np.True_}).knobs()[knob] is True


def test_numbers_of_any_kind():
    assert queries.Halving(patience=np.int64(3), start=np.float32(0.5)).begin(4).threshold == 0.5


def test_a_wide_second_order_rule_says_what_it_would_cost():
    with pytest.raises(ValueError, match=r"GiB.*HalfStep"):
        updates.Ridge().begin(100_000, None)
