"""What one label does to a Gaussian belief about the separator, and what it tells of the noise."""

from typing import NamedTuple

from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential, normal_density, normal_distribution, sqrt
from selectron.protocol import Forecast

FIRST_BLUR, LEAST_BLUR, MOST_BLUR = 0.3, 1e-12, 4.0
FLIPS_BEFORE, LABELS_BEFORE, MOST_FLIPS = 1.0, 20.0, 0.4  # a prior of 1 wrong label in 20
DEEPEST = -30.0  # standard deviations on the wrong side that a label is believed to be


class Noise(NamedTuple):
    """What is believed of the labels."""

    blur: float  # ν: the variance of a label about the separator
    flips: float  # the labels so far that were flipped, by their probability
    n_labels: int


class Lesson(NamedTuple):
    """What a label does to the belief: along g = Vx, by `step`, narrower by `share`."""

    step: float
    share: float
    noise: Noise


def fresh_noise() -> Noise:
    return Noise(FIRST_BLUR, 0.0, 0)


@helper
def flip_rate(noise: Noise) -> float:
    return min(MOST_FLIPS, (FLIPS_BEFORE + noise.flips) / (LABELS_BEFORE + noise.n_labels))


@helper
def moments(noise: Noise, y: float, forecast: Forecast) -> Lesson:
    """Match the moments of the belief after a label y, and tune the noise by it."""
    flip = flip_rate(noise)
    spread = max(forecast.variance, LEAST_BLUR) + noise.blur
    z = max(y * forecast.margin / sqrt(spread), DEEPEST)
    right = normal_distribution(z)
    evidence = flip + (1.0 - 2.0 * flip) * right
    slope = (1.0 - 2.0 * flip) * normal_density(z) / evidence
    curvature = min(max(slope * (slope + z), 0.0), 1.0)
    blur = noise.blur
    if noise.n_labels > 0:
        # The expected change is 0 when the labels are as blurred as is believed.
        surprise = min(max(-slope * z, -1.0), 1.0)
        blur = min(max(blur * exponential(surprise), LEAST_BLUR), MOST_BLUR)
    flips = noise.flips + flip * (1.0 - right) / evidence
    tuned = Noise(blur, flips, noise.n_labels + 1)
    return Lesson(y * slope / sqrt(spread), curvature / spread, tuned)
