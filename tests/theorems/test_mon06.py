"""[Mon06] chapter 4: the hypothesis may leave the version space, and rows need not be uniform."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron.bounds import dkm09, mon06
from selectron.reproduce.dkm09.version_space import VersionSpace
from selectron.reproduce.mon06.similar import SHAPES, SimilarWorld
from selectron.streams.drifting import on_sphere
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
NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


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


class Taught:
    """Rows drawn from the sphere and labelled by a target, and hypotheses held against them."""

    def __init__(self, d, n_labels, seed):
        self.rng = np.random.default_rng(seed)
        self.target = on_sphere(self.rng, 1, d)[0]
        self.space = VersionSpace(self.rng, d)
        self.teach(on_sphere(self.rng, n_labels, d))

    def teach(self, rows):
        self.space.rows = rows * np.sign(rows @ self.target)[:, np.newaxis]

    def inside(self, v):
        return bool((self.space.rows @ v > 0).all())

    def wrong_and_certain(self, v, n=60):
        """Count the rows of v's error region, of n drawn, and those outside the uncertain region.

        A row is certain where no half-space that agrees with all labels gives it the other sign.
        """
        drawn = on_sphere(self.rng, n, len(v))
        wrong = drawn[(drawn @ v) * (drawn @ self.target) < 0]
        certain = [self.space.implies(x, 1.0) or self.space.implies(x, -1.0) for x in wrong]
        return len(wrong), sum(certain)

    def near(self, spread):
        """Draw a hypothesis near the target: inside the version space, or just outside."""
        v = self.target + spread * self.rng.standard_normal(len(self.target))
        return v / np.linalg.norm(v)


@given(
    d=st.integers(2, 6),
    n_labels=st.integers(1, 30),
    seed=st.integers(0, 2**32),
    spread=st.floats(0.01, 1.0),
)
def test_lemma_9_errors_that_are_certain_show_a_hypothesis_outside(d, n_labels, seed, spread):
    taught = Taught(d, n_labels, seed)
    v = taught.near(spread)
    _, certain = taught.wrong_and_certain(v)
    assert not certain or not taught.inside(v)


def test_lemma_9_is_tried_on_both_sides_of_the_version_space():
    seen = {True: [0, 0], False: [0, 0]}  # inside or not: errors, and those that are certain
    for seed in range(60):
        taught = Taught(3, 12, seed)
        v = taught.near(0.2)
        seen[taught.inside(v)] = np.add(seen[taught.inside(v)], taught.wrong_and_certain(v))
    (errors_inside, certain_inside), (errors_outside, certain_outside) = seen[True], seen[False]
    assert errors_inside > 10 < errors_outside
    assert certain_inside == 0 < certain_outside


@given(d=st.integers(3, 8), seed=st.integers(0, 2**32), data=st.data())
def test_lemma_10_with_fewer_labels_than_dimensions_no_error_is_certain(d, seed, data):
    taught = Taught(d, data.draw(st.integers(1, d - 1)), seed)
    v = -taught.target  # wrong on every row that was taught, and on every other
    assert not taught.inside(v)
    assert taught.wrong_and_certain(v) == (60, 0)


def test_lemma_10_needs_fewer_labels_than_dimensions(play):
    # The learner of section 4.3.1 leaves in three labels: in the plane some of its errors are
    # certain, and with two dimensions more none is.
    for d in (2, 4):
        taught = Taught(d, 1, 0)
        taught.target = np.eye(d)[1]
        angles = np.radians([15, 292.5, 165])
        tilts = 0.02 * np.eye(3, d - 2)  # in general position
        rows = np.c_[np.cos(angles), np.sin(angles), tilts]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        signs = np.sign(rows @ taught.target)
        taught.teach(rows)
        v = hypotheses(play, ("Reflection", {"alpha": 2.0}), *stream(rows, signs))[-1]
        errors, certain = taught.wrong_and_certain(v, 400)
        assert not taught.inside(v)
        assert errors > 20
        assert bool(certain) is (d == 2)


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
    world, v = world_at(shape, similarity, d, theta)
    margins = world.judged @ v
    return np.abs(margins), margins * (world.judged @ world.target) < 0


def world_at(shape, similarity, d, theta):
    """Return λ-similar rows, and a hypothesis at this angle to the target."""
    world = SimilarWorld(SHAPES[shape], similarity, d, 0)
    across = np.linalg.svd(world.target[np.newaxis])[2][1]
    return world, np.cos(theta) * world.target + np.sin(theta) * across


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


def share_of_small_steps(d, theta, factor):
    """Return the share of the errors, on the sphere, that do not shrink 1 - v.u by 1 - factor.

    In the plane of u and v an error has a radius r and an angle phi to the plane of v, between 0
    and theta: then |v.x||u.x| = r² sin phi sin(theta - phi). Here phi is uniform, and r² exceeds a
    with probability (1 - a)^((d - 2)/2).
    """
    depth = 12 * (NODES + 1)  # phi = (theta/2) e^-depth: a small step is near an edge
    phi = theta / 2 * np.exp(-depth)
    least = factor * (1 - np.cos(theta)) / 2 / (np.sin(phi) * np.sin(theta - phi))
    small = -np.expm1((d - 2) / 2 * np.log1p(-np.minimum(least, 1 - 1e-16)))
    return 12 * WEIGHTS @ (np.exp(-depth) * small)


def worst_share(share, similarity):
    """Return the largest share of the errors that λ-similar rows can make of a share of them.

    The density is 1/λ times the uniform one on these errors, and λ times on the others.
    """
    return share / (share + (1 - share) * similarity**2)


def proven_factor(d, similarity, c=dkm09.ADMISSIBLE_C):
    """Return by which factor an update is counted on to shrink 1 - v.u: twice that of U."""
    known = {"error": 0.01, "delta": 0.05, "similarity": similarity}
    efolds = log(1 / (known["delta"] * (similarity * known["error"]) ** 2))
    return 2 * efolds / mon06.active_updates(d=d, c=c, **known)


@given(d=st.integers(3, 10**4), theta=st.floats(1e-3, np.pi / 2), similarity=similarities)
def test_lemma_16_all_but_few_errors_are_good_updates(d, theta, similarity):
    small = share_of_small_steps(d, theta, proven_factor(d, similarity))
    assert worst_share(small, similarity) <= similarity**4 / 64


@pytest.mark.parametrize("d", [3, 10, 1000])
@pytest.mark.parametrize("theta", [1e-3, 0.5, np.pi / 2])
def test_lemma_16_needs_a_small_constant_and_a_power_of_the_similarity(d, theta):
    large = share_of_small_steps(d, theta, proven_factor(d, 1.0, 1000 * dkm09.ADMISSIBLE_C))
    assert large > 1 / 64
    for power, enough in ((4, False), (12, True)):
        small = share_of_small_steps(d, theta, 0.05**power * dkm09.ADMISSIBLE_C / d)
        assert bool(worst_share(small, 0.05) <= 0.05**4 / 64) is enough


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("similarity", [0.2, 0.5, 1.0])
def test_lemma_16_holds_on_rows_as_they_are_drawn(shape, similarity):
    for d in (3, 10):
        for theta in (0.5, np.pi / 2):
            steps = drawn_steps(shape, similarity, d, theta)
            allowed = similarity**4 / 64
            assert (steps < proven_factor(d, similarity)).mean() <= allowed
            for factor in (0.1 / d, 1 / d):  # the exact shares are those of the rows
                exact = share_of_small_steps(d, theta, factor)
                noise = 4 / np.sqrt(len(steps))
                assert (steps < factor).mean() <= worst_share(exact, similarity) + noise
                if similarity == 1.0:
                    assert (steps < factor).mean() == pytest.approx(exact, abs=noise)


def drawn_steps(shape, similarity, d, theta):
    """Return by which share each error that is drawn shrinks 1 - v.u, when v is reflected."""
    world, v = world_at(shape, similarity, d, theta)
    against, to_target = world.judged @ v, world.judged @ world.target
    wrong = against * to_target < 0
    after = v - 2 * against[wrong, np.newaxis] * world.judged[wrong]
    return 1 - (1 - after @ world.target) / (1 - v @ world.target)
