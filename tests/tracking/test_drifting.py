"""Drifting streams: from a seed, of unit length, as noisy as they say, and drifting as named."""

import numpy as np
import pytest

from selectron.streams import drifting
from selectron.streams.drifting import KINDS


def fitted(X, y):
    """Return the direction that explains these labels best, by least squares."""
    w = np.linalg.lstsq(X, y, rcond=None)[0]
    return w / np.linalg.norm(w)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_is_a_stream(kind):
    one, same, other = (drifting(kind, seed, n=700, d=6) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.y, same.y)
    assert not np.array_equal(one.y, other.y)
    np.testing.assert_allclose(np.linalg.norm(one.X, axis=1), 1.0)
    assert set(one.y.tolist()) == {-1, 1}
    assert one.name == kind


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.3])
def test_as_noisy_as_it_says(noise):
    X, y, *_ = drifting("stationary", 1, noise=noise)
    wrong = (X @ fitted(X, y) > 0) != (y > 0)
    assert abs(wrong.mean() - noise) < 0.015


def directions(kind, width=1000):
    X, y, *_ = drifting(kind, 2, n=20_000, d=5, noise=0.0)
    return np.array([fitted(X[t : t + width], y[t : t + width]) for t in range(0, 20_000, width)])


def test_how_they_drift():
    assert (directions("stationary") @ directions("stationary")[0]).min() > 0.99
    slow = directions("slow rotation") @ directions("slow rotation")[0]
    np.testing.assert_allclose(slow, np.cos(2 * np.pi * np.arange(20) / 20), atol=0.05)
    fast = directions("fast rotation", 100)
    np.testing.assert_allclose(fast[10:] @ fast[0], (fast @ fast[0])[:-10] * -1.0, atol=0.3)
    half = directions("half rotating", 500) @ directions("half rotating", 500)[0]
    assert half[:20].min() > 0.98
    np.testing.assert_allclose(half[20:], np.cos(2 * np.pi * (np.arange(20) + 0.5) / 8), atol=0.1)


def test_pieces_are_500_to_5000_rounds():
    for seed in range(5):
        X, y, *_ = drifting("flips", seed, noise=0.0, d=3)
        ahead = fitted(X[:400], y[:400])
        sides = np.sign((X @ ahead) * y)
        signs = np.sign(np.convolve(sides, np.ones(201), "same"))  # ties cannot be: odd
        turns = np.flatnonzero(np.diff(signs))
        assert len(turns) >= 3
        assert np.diff(turns).min() > 400
        assert np.diff([0, *turns]).max() < 5100
    concepts = directions("new concepts", 250)
    turned = np.abs((concepts[1:] * concepts[:-1]).sum(axis=1)) < 0.9
    assert 3 <= turned.sum() <= 45


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "sideways"}, "unknown kind of drift 'sideways'; known are stationary"),
        ({"n": 0}, "n >= 1 rows"),
        ({"d": 1}, "d >= 2 features"),
        ({"noise": 0.5}, "noise must lie in"),
        ({"noise": float("nan")}, "noise must lie in"),
    ],
)
def test_what_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        drifting(**{"kind": "flips", "seed": 1, "n": 100, **change})
