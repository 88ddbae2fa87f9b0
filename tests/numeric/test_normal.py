"""The normal distribution against scipy's, in both tails."""

import numpy as np
from scipy.special import ndtr

from selectron.numeric.elementary import normal_density, normal_distribution


def test_both_tails():
    for z in np.linspace(-37.0, 10.0, 2001):
        np.testing.assert_allclose(normal_distribution(z), ndtr(z), rtol=1e-12)
        density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
        np.testing.assert_allclose(normal_density(z), density, rtol=1e-12)
    assert normal_distribution(0.0) == 0.5
    assert normal_distribution(40.0) == 1.0
