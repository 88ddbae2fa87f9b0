"""Learners that keep every label: query by committee, and the filter of [CAL94].

Both hold the version space: the half-spaces that give every row asked about its label. Query by
committee draws two of them and asks where they differ ([FSST97]). [CAL94] asks where any two
differ, so it never asks for a label that the others imply. Both predict by a half-space drawn from
the version space.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import linprog, nnls

from selectron.arrays import Matrix, Vector
from selectron.reproduce.dkm09 import Tally, error
from selectron.reproduce.dkm09.counting import Counter, counted
from selectron.streams.drifting import on_sphere

PAIRS = 48  # rows decided on at once, each by two members of its own
IMPLIED = 1e-9  # distance of a unit row from a cone that counts as rounding


class VersionSpace:
    """The half-spaces that agree with all labels, and members drawn from them uniformly.

    Parameters
    ----------
    rng : numpy.random.Generator
        It draws the members.
    d : int
        The dimension.
    n_members : int
        How many members are drawn. They walk at the same time.
    """

    def __init__(self, rng: np.random.Generator, d: int, n_members: int = 2 * PAIRS) -> None:
        self.rng = rng
        self.rows: Matrix = np.empty((0, d))  # each row asked about, times its label
        self.members = on_sphere(rng, n_members, d)

    def learn(self, x: Vector, sign: float) -> None:
        """Keep a label: copies of members that agree take the places of those that do not."""
        self.rows = np.vstack([self.rows, sign * x])
        alive = self.members[self.members @ self.rows[-1] > 0.0]
        if not len(alive):
            alive = self.centre()[np.newaxis]
        self.members = alive[self.rng.integers(len(alive), size=len(self.members))]

    def walk(self, steps: int) -> None:
        """Move every member by hit-and-run: to a uniform point of a random great circle's arc.

        On the circle w cos t + v sin t a label holds for |t - atan(b/a)| < π/2, where a and b are
        the margins of w and v. All hold on an arc around 0.
        """
        for _ in range(steps):
            W = self.members
            V = self.rng.standard_normal(out=np.empty_like(W))
            V -= np.einsum("ij,ij->i", V, W)[:, np.newaxis] * W
            V /= np.linalg.norm(V, axis=1, keepdims=True)
            low, high = np.full(len(W), -np.pi), np.full(len(W), np.pi)
            if len(self.rows):
                tangents = (V @ self.rows.T) / (W @ self.rows.T)
                low = np.arctan(tangents.max(axis=1)) - np.pi / 2
                high = np.arctan(tangents.min(axis=1)) + np.pi / 2
            t = self.rng.uniform(low, high)[:, np.newaxis]
            moved = W * np.cos(t) + V * np.sin(t)
            moved /= np.linalg.norm(moved, axis=1, keepdims=True)
            least = (moved @ self.rows.T).min(axis=1, initial=1.0, keepdims=True)
            self.members = np.where(least > 0.0, moved, W)  # rounding may step over an end

    def implies(self, x: Vector, sign: float) -> bool:
        """Say whether every half-space of the version space gives x this sign.

        By Farkas' lemma it does where sign x is a combination of the rows, times their labels,
        with no weight below 0.
        """
        return bool(nnls(np.asarray(self.rows).T, sign * np.asarray(x))[1] <= IMPLIED)

    def centre(self) -> Vector:
        """Return a member whose least margin is as large as a linear program makes it."""
        rows = np.asarray(self.rows)
        d = rows.shape[1]
        found = linprog(
            np.r_[np.zeros(d), -1.0],
            A_ub=np.c_[-rows, np.ones(len(rows))],
            b_ub=np.zeros(len(rows)),
            bounds=[(-1.0, 1.0)] * d + [(0.0, 1.0)],
        )
        centre: Vector = np.asarray(found.x, float)[:d]
        return centre / np.linalg.norm(centre)


class CountedSpace(VersionSpace):
    """A copy of a version space with a few of its members, which counts its multiplications.

    Programs of scipy are not looked into. They read every label that is kept, so as many
    multiplications as those have numbers are counted, which is the least that they do.
    """

    def __init__(self, space: VersionSpace, rng: np.random.Generator, n_members: int) -> None:
        self.rng, self.counter = rng, Counter()
        self.rows = counted(space.rows.copy(), self.counter)
        self.members = counted(space.members[:n_members].copy(), self.counter)

    def implies(self, x: Vector, sign: float) -> bool:
        self.counter.n += self.rows.size
        return super().implies(x, sign)

    def centre(self) -> Vector:
        self.counter.n += self.rows.size
        centre: Vector = counted(super().centre(), self.counter)
        return centre


Filter = Callable[[VersionSpace, Matrix], int]


def by_committee(space: VersionSpace, X: Matrix) -> int:
    """Return the place of the first row on whose sign its two members differ, else the end."""
    one, other = space.members[: len(X)], space.members[len(X) : 2 * len(X)]
    differ = np.einsum("ij,ij->i", X, one) * np.einsum("ij,ij->i", X, other) < 0.0
    return int(differ.argmax()) if differ.any() else len(X)


def by_consistency(space: VersionSpace, X: Matrix) -> int:
    """Return the place of the first row for which both signs are consistent, else the end."""
    votes = (X @ space.members.T > 0.0).mean(axis=1)
    for place, share in enumerate(votes.tolist()):
        if 0.0 < share < 1.0 or not space.implies(X[place], 2.0 * share - 1.0):
            return place
    return len(X)


class Keeper:
    """A learner that keeps every label, and the half-space that it has to find."""

    def __init__(self, asks: Filter, d: int, seed: int) -> None:
        self.asks, self.rng = asks, np.random.default_rng(seed)
        self.target = on_sphere(self.rng, 1, d)[0]
        self.space = VersionSpace(self.rng, d)

    def by_rows(self, most_rows: int) -> Iterator[tuple[Tally, float]]:
        """Draw rows; yield the tally and the mean error of the members after each label."""
        space, target = self.space, self.target
        d, rows, mistakes = len(target), 0, 0
        while rows < most_rows:
            space.walk(2 * d)
            X = on_sphere(self.rng, PAIRS, d)
            asked = self.asks(space, X)
            seen = X[: asked + 1]
            predicted = np.einsum("ij,ij->i", seen, space.members[: len(seen)]) > 0.0
            rows += len(seen)
            mistakes += int(np.count_nonzero(predicted != (seen @ target > 0.0)))
            if asked < PAIRS:
                space.learn(X[asked], 1.0 if X[asked] @ target > 0.0 else -1.0)
                errors = [error(target, member) for member in space.members]
                yield Tally(len(space.rows), rows, mistakes), float(np.mean(errors))

    def cost(self, X: Matrix) -> int:
        """Count the multiplications by which the learner, as it is now, plays rows one by one.

        `by_rows` decides on many rows at once, for speed. Here a row comes alone, and only its own
        two members walk. The learner itself does not change.
        """
        space = CountedSpace(self.space, np.random.default_rng(len(self.space.rows)), 2)
        for x in X:
            space.walk(2 * len(x))
            asked = self.asks(space, x[np.newaxis])
            x @ space.members[0]  # the prediction
            if asked == 0:
                space.learn(x, 1.0 if x @ self.target > 0.0 else -1.0)
        return space.counter.n
