"""[Mon06] chapter 4: the hypothesis may leave the version space, and rows need not be uniform."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron.bounds import dkm09, mon06
from selectron.reproduce.mon06.similar import SHAPES, SimilarWorld
from tests.theorems.streams import stream
from tests.theorems.subjects import hypotheses

knobs = st.fixed_dictionaries(
    {
        "d": st.integers(1, 10**5),
        "error": st.floats(1e-6, 0.3),
        "delta": st.floats(1e-6, 0.5),
        "c": st.floats(1e-6, 0.02),
    }
)
similarities = st.floats(0.05, 1)


def test_the_counterexample_of_section_4_3_1(play):
    far, near = np.sqrt(2 + np.sqrt(3)) / 2, np.sqrt(2 - np.sqrt(3)) / 2  # cos and sin of 15°
    u = np.array([0.0, 1.0])
    x0 = np.array([far, near])
    x1 = np.array([far - np.sqrt(3) / 2, near - 1 / 2]) / np.sqrt(2 - 2 * far)
    x2 = np.array([-far, near])
    X, y = stream([x0, x1, x2], np.sign([u @ x0, u @ x1, u @ x2]))
    assert y.tolist() == [1, -1, 1]
    v1, v2, v3 = hypotheses(play, ("Reflection", {"alpha": 2.0}), X, y)[1:]
    assert v1 == pytest.approx(x0)
    assert v2 == pytest.approx([np.sqrt(3) / 2, 1 / 2])
    assert v3 == pytest.approx([-1 / 2, np.sqrt(3) / 2])
    # Both are asked about, the second on the very edge: s = 1/√d = 1/√2.
    assert v1 @ x1 == pytest.approx(np.sqrt(2 - 2 * far) / 2)
    assert v2 @ x2 == pytest.approx(-1 / np.sqrt(2))
    # v3 is nearer to u than v1 and v2 were, and wrong on the first example it was given.
    assert v3 @ u > v2 @ u > v1 @ u
    assert v3 @ x0 == pytest.approx((np.sqrt(3) * 2 * near - 2 * far) / 4)
    assert v3 @ x0 < 0 < u @ x0


@given(known=knobs)
def test_with_uniform_rows_all_is_as_in_dkm09(known):
    for name in ("active_updates", "active_labels", "active_errors", "patience", "runs"):
        here, there = getattr(mon06, name), getattr(dkm09, name)
        assert here(similarity=1.0, **known) == pytest.approx(there(**known))


@given(known=knobs, similarity=similarities)
def test_labels_patience_and_errors_are_those_of_the_proof(known, similarity):
    d, error, delta, c = (known[name] for name in ("d", "error", "delta", "c"))
    angle = similarity * error  # the share of u's half-turn that an error rate of ε allows
    U = 2 * d / (c * similarity**12) * np.log(1 / (delta * angle**2))
    runs = U + np.log2(2 * np.sqrt(d) / angle)
    R = 10 / similarity**2 * np.log(2 * runs / delta)
    known["similarity"] = similarity
    assert mon06.active_updates(**known) == pytest.approx(U)
    assert mon06.patience(**known) == pytest.approx(R)
    assert mon06.active_labels(**known) == pytest.approx(R * runs)
    assert mon06.active_errors(**known) == pytest.approx(64 * U / similarity**4)


@given(known=knobs, similarity=similarities)
def test_the_patience_keeps_the_threshold_up_and_the_printed_one_does_not(known, similarity):
    known["similarity"] = similarity
    runs = mon06.runs(**known)
    for patience, enough in ((mon06.patience, True), (mon06.printed_patience, False)):
        R = patience(**known)
        failure = np.exp(np.log(R * runs) + R * np.log1p(-(similarity**2) / 4))
        assert bool(failure <= known["delta"] / 4) is enough


def drawn_at(shape, similarity, d, theta):
    """Draw λ-similar rows; return |v·x| and whether v, at this angle to the target, is wrong."""
    world = SimilarWorld(SHAPES[shape], similarity, d, 0)
    u, across = world.target, np.linalg.svd(world.target[np.newaxis])[2][1]
    margins = world.judged @ (np.cos(theta) * u + np.sin(theta) * across)
    return np.abs(margins), margins * (world.judged @ u) < 0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("similarity", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("theta", [0.1, 0.5, np.pi / 2])
def test_lemmas_13_and_15_hold_on_rows_that_are_similar(shape, similarity, theta):
    for d in (3, 10):
        margins, wrong = drawn_at(shape, similarity, d, theta)
        narrow = margins < np.sin(theta) / np.sqrt(4 * d)
        assert wrong[narrow].mean() >= similarity**2 / 4  # Lemma 13
        asked = margins <= np.sin(theta) / np.sqrt(16 * d)
        assert asked[wrong].mean() >= similarity**4 / 32  # Lemma 15
