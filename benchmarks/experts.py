"""A Learn-α step against the same step in numpy, and against moving its matrix once."""

import numpy as np
from numba import njit

from benchmarks.paired import Row, ratio, times
from selectron.experts import LearnAlpha, optimal_alphas

SHAPES = [  # rates, experts, steps a round, how many times faster than numpy
    (50, 10, 4000, 5.0),
    (300, 10, 1000, 5.0),
    (50, 100, 1000, 5.0),
    (50, 1000, 200, 3.0),
    (300, 1000, 30, 3.0),
    (50, 10_000, 20, 1.4),
    (300, 10_000, 20, 1.4),
]


class NumpyLearnAlpha:
    """The same algorithm, each operation a whole-array one, in place."""

    def __init__(self, n, alphas):
        self.move = (alphas / (n - 1))[:, None]
        self.spread = (1 - alphas)[:, None] - self.move
        self.weights = np.full((len(alphas), n), 1 / n)
        self.top = np.full(len(alphas), 1 / len(alphas))

    def run(self, loss_matrix):
        out = np.empty(len(loss_matrix))
        for t, losses in enumerate(loss_matrix):
            smallest = losses.min()
            self.weights *= np.exp(smallest - losses)
            evidence = self.weights.sum(axis=1)
            self.weights *= self.spread / evidence[:, None]
            self.weights += self.move
            self.top *= evidence
            total = self.top.sum()
            self.top /= total
            out[t] = smallest - np.log(total)
        return out


@njit
def read_and_write(flat, rounds):
    for _ in range(rounds):
        for i in range(len(flat)):
            flat[i] = flat[i] * 1.0000001


def rates(m):
    """Return m switching rates, spread as the optimal ones are."""
    alphas = optimal_alphas(horizon=int((m / 1.5708) ** 2))
    return alphas[np.linspace(0, len(alphas) - 1, m).round().astype(int)]


def shape_rows(m, n, steps, gate):
    losses = np.random.default_rng(0).random((steps, n))
    ours, numpys = LearnAlpha(n, alphas=rates(m)), NumpyLearnAlpha(n, rates(m))
    np.testing.assert_allclose(ours.run(losses), numpys.run(losses), rtol=1e-9)
    contestants = {"ours": lambda: ours.run(losses), "numpy": lambda: numpys.run(losses)}
    if (m, n) == (300, 10_000):
        flat = np.ones(m * n)
        contestants["memory"] = lambda: read_and_write(flat, steps)
    taken = times(contestants)
    faster = ratio(taken["numpy"], taken["ours"])
    found = [Row(f"13 Learn-alpha {m}x{n}, numpy", faster, gate, faster=True)]
    if "memory" in taken:
        name = f"14 Learn-alpha {m}x{n} / read and write once"
        found.append(Row(name, ratio(taken["ours"], taken["memory"]), 1.75))
    return found


def rows():
    return [row for shape in SHAPES for row in shape_rows(*shape)]
