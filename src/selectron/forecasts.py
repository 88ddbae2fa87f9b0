"""Forecasts of two classes and of many, behind verbs: the loop sees no difference.

With two classes a label is a sign, -1 or +1, and so is what the margin predicts. With more, a label
is the number of its class, and the margin is the lead of the best class over the second.
"""

from typing import Any

from selectron.arrays import Vector
from selectron.compiler.verbs import Verb
from selectron.protocol import Forecast, ManyForecast

TWO, MANY = 4, 6  # how many numbers of a forecast are written down


@Verb
def verdict(forecast: Any, y: float) -> float:
    """Return the label as a query rule is told it: a sign, +1 for a right answer among many."""


@Verb
def class_of(forecast: Any, y: float) -> int:
    """Return the number of the class that a label names."""


@Verb
def class_count(forecast: Any, update: Any) -> int:
    """Return how many classes compete."""


@Verb
def scarcer(forecast: Any, counts: Vector) -> int:
    """Return which of the two classes that the margin lies between has had fewer labels."""


@Verb
def side(forecast: Any) -> float:
    """Return what the prediction hangs on: the margin, or the number of the best class."""


@Verb
def write_down(forecast: Any, told: Vector) -> None:
    """Keep the numbers of a forecast."""


@Verb
def recall(forecast: Any, told: Vector) -> Any:
    """Return the exact forecast that was written down, of the same kind as this one."""


@verdict.of(Forecast)
def sign_itself(forecast: Forecast, y: float) -> float:
    return y


@verdict.of(ManyForecast)
def right_or_wrong(forecast: ManyForecast, y: float) -> float:
    return 1.0 if forecast.best == int(y) else -1.0


@class_of.of(Forecast)
def class_of_sign(forecast: Forecast, y: float) -> int:
    return 1 if y > 0.0 else 0


@class_of.of(ManyForecast)
def class_itself(forecast: ManyForecast, y: float) -> int:
    return int(y)


@class_count.of(Forecast)
def two_classes(forecast: Forecast, update: Any) -> int:
    return 2


@class_count.of(ManyForecast)
def one_class_a_score(forecast: ManyForecast, update: Any) -> int:
    return len(update.scores)


@scarcer.of(Forecast)
def scarcer_sign(forecast: Forecast, counts: Vector) -> int:
    return 1 if counts[1] < counts[0] else 0


@scarcer.of(ManyForecast)
def scarcer_leader(forecast: ManyForecast, counts: Vector) -> int:
    best, second = forecast.best, forecast.second
    return second if counts[second] < counts[best] else best


@side.of(Forecast)
def side_of_margin(forecast: Forecast) -> float:
    return forecast.margin


@side.of(ManyForecast)
def side_of_best(forecast: ManyForecast) -> float:
    return float(forecast.best)


@write_down.of(Forecast)
def write_two(forecast: Forecast, told: Vector) -> None:
    told[0], told[1] = forecast.margin, forecast.unit
    told[2], told[3] = forecast.norm, forecast.variance


@write_down.of(ManyForecast)
def write_many(forecast: ManyForecast, told: Vector) -> None:
    told[0], told[1] = forecast.margin, forecast.unit
    told[2], told[3] = forecast.norm, forecast.variance
    told[4], told[5] = forecast.best, forecast.second


@recall.of(Forecast)
def recall_two(forecast: Forecast, told: Vector) -> Forecast:
    return Forecast(told[0], told[1], told[2], told[3], True)


@recall.of(ManyForecast)
def recall_many(forecast: ManyForecast, told: Vector) -> ManyForecast:
    return ManyForecast(told[0], told[1], told[2], told[3], True, int(told[4]), int(told[5]))
