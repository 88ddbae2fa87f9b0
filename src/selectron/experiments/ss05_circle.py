"""The two bounds on the Perceptron's mistakes under noise, on a circle ([SS05], section 5)."""

from math import sqrt
from typing import Any

import numpy as np

from selectron import SelectiveClassifier
from selectron.arrays import Matrix, Vector
from selectron.bounds.ss05 import d1_mistakes, d2_mistakes
from selectron.evaluate import progressive
from selectron.queries import Always
from selectron.updates import Perceptron

N_EXAMPLES, MARGIN = 10_000, 0.15
LABEL_NOISE = (0.0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.07, 0.1)
INSTANCE_NOISE = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.21, 0.25)
SEPARATOR = np.array([1.0, 0.0])


def circle(seed: int) -> tuple[Matrix, Vector]:
    """Draw points of the unit circle at least the margin away from the separator."""
    angles = np.random.default_rng([seed, 0]).random(4 * N_EXAMPLES) * 2.0 * np.pi
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    points = points[np.abs(points[:, 0]) >= MARGIN][:N_EXAMPLES]
    return points, np.sign(points[:, 0])


def with_label_noise(rate: float, seed: int) -> tuple[Matrix, Vector]:
    X, y = circle(seed)
    flipped = np.random.default_rng([seed, 1]).random(len(y)) < rate
    return X, np.where(flipped, -y, y)


def with_instance_noise(deviation: float, seed: int) -> tuple[Matrix, Vector]:
    X, y = circle(seed)
    return X + deviation * np.random.default_rng([seed, 2]).standard_normal(X.shape), y


NOISES = {
    "label": (with_label_noise, LABEL_NOISE),
    "instance": (with_instance_noise, INSTANCE_NOISE),
}


def measure(kind: str, level: float, seed: int) -> dict[str, Any]:
    """Return the Perceptron's share of mistakes, and the shares that the bounds allow."""
    X, y = NOISES[kind][0](level, seed)
    hinge = np.maximum(0.0, MARGIN - y * (X @ SEPARATOR))
    # A point may lie closer to the centre than the margin; R bounds the norms from above.
    norm = max(float(np.sqrt((X * X).sum(axis=1)).max()), MARGIN)
    trace = progressive(SelectiveClassifier(Perceptron(), Always(), random_state=seed), X, y)
    d1 = d1_mistakes(max_norm=norm, target_margin=MARGIN, hinge=float(hinge.sum()))
    d2 = d2_mistakes(
        max_norm=norm, target_margin=MARGIN, hinge_norm=sqrt(float((hinge * hinge).sum()))
    )
    shares = {"mistakes": trace.n_mistakes, "d1": d1, "d2": d2}
    return {"noise": kind, "level": level, "seed": seed} | {
        name: float(value) / len(y) for name, value in shares.items()
    }
