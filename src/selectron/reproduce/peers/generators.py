"""Streams of River's generators, whose concept changes at once or slowly."""

from collections.abc import Callable, Iterable
from functools import cache, reduce
from itertools import islice
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Codes, Label, Matrix

ROWS = 20_000
AT_ONCE, SLOWLY = 60, 4_000  # rows that a change of the concept takes; River cannot do below 38
Concept = Any  # a generator of River's: an iterable of (row by column, label)


class Generator(NamedTuple):
    """How to make the concepts of a stream, and whether half-spaces tell their classes apart."""

    concepts: Callable[[ModuleType, int], list[Concept]]
    width: int = AT_ONCE
    linear: bool = False


class Drifted(NamedTuple):
    """Rows, and the number of the class of each."""

    X: Matrix
    y: Codes


GENERATORS = {
    "SEA": Generator(
        lambda synth, seed: [synth.SEA(k, noise=0.1, seed=seed + k) for k in (0, 2, 3)], linear=True
    ),
    "SEA, slowly": Generator(
        lambda synth, seed: [synth.SEA(k, noise=0.1, seed=seed + k) for k in (1, 2, 0)],
        SLOWLY, True,
    ),
    "hyperplane": Generator(
        lambda synth, seed: [synth.Hyperplane(seed, 10, 5, mag_change=0.001)], linear=True
    ),
    "hyperplane, fast": Generator(
        lambda synth, seed: [synth.Hyperplane(seed, 20, 10, mag_change=0.01)], linear=True
    ),
    "LED": Generator(
        lambda synth, seed: [synth.LEDDrift(seed + k, 0.1, True, k) for k in (0, 3, 7)],
        linear=True,
    ),
    "LED, slowly": Generator(
        lambda synth, seed: [synth.LEDDrift(seed + k, 0.1, True, k) for k in (1, 5, 3)],
        SLOWLY, True,
    ),
    "Agrawal": Generator(
        lambda synth, seed: [synth.Agrawal(k, seed + k, perturbation=0.05) for k in (0, 2, 4)]
    ),
    "Agrawal, slowly": Generator(
        lambda synth, seed: [synth.Agrawal(k, seed + k, perturbation=0.05) for k in (1, 6, 3)],
        SLOWLY,
    ),
    "RBF": Generator(
        lambda synth, seed: [synth.RandomRBFDrift(seed, seed, 2, 10, 20, 0.0001, 20)]
    ),
    "RBF, fast": Generator(
        lambda synth, seed: [synth.RandomRBFDrift(seed, seed, 2, 10, 20, 0.001, 10)]
    ),
    "sine": Generator(lambda synth, seed: [synth.Sine(k, seed + k) for k in (0, 1, 2)]),
    "sine, slowly": Generator(lambda synth, seed: [synth.Sine(k, seed + k) for k in (3, 2, 0)],
                              SLOWLY),
    "mixed": Generator(lambda synth, seed: [synth.Mixed(k, seed + i)
                                            for i, k in enumerate((0, 1, 0))]),
    "mixed, slowly": Generator(lambda synth, seed: [synth.Mixed(k, seed + k) for k in (1, 0)],
                               SLOWLY),
    "STAGGER": Generator(lambda synth, seed: [synth.STAGGER(k, seed + k) for k in (0, 1, 2)]),
    "STAGGER, slowly": Generator(
        lambda synth, seed: [synth.STAGGER(k, seed + k) for k in (2, 0, 1)], SLOWLY
    ),
}  # fmt: skip


@cache
def draw_stream(name: str, seed: int, n: int = ROWS) -> Drifted:
    """Draw a stream: its concepts follow one another in stretches of the same length."""
    from river.datasets import synth  # noqa: PLC0415 - an extra

    generator = GENERATORS[name]
    concepts = generator.concepts(synth, 100 * seed)  # each concept has a seed of its own
    stretch = n // len(concepts)

    def before(later: Concept, earlier: Concept) -> Concept:
        return synth.ConceptDriftStream(earlier, later, stretch, generator.width, seed)

    return _written(islice(iter(reduce(before, reversed(concepts))), n))


def _written(pairs: Iterable[tuple[dict[Label, float], int]]) -> Drifted:
    rows, labels = zip(*pairs, strict=True)
    X = np.array([list(row.values()) for row in rows], float)
    return Drifted(X, np.unique(np.array(labels), return_inverse=True)[1].astype(np.int64))
