"""Table 4.1 as [Mon06] prints it, and the tests of significance that were made of it."""

from collections.abc import Sequence

# Mean and standard deviation of the labels, by algorithm, in the order of the seven problems.
TABLE: dict[str, tuple[tuple[float, float], ...]] = {
    "DKM²": ((28.02, 25.26), (105.30, 42.39), (150.02, 49.61), (163.12, 42.45),
             (275.34, 72.00), (174.22, 63.85), (190.72, 80.09)),
    "DKM active + Perceptron": ((13.78, 5.88), (57.26, 15.92), (44.00, 15.32), (20.44, 11.75),
                                (217.06, 75.85), (87.56, 28.97), (137.86, 58.21)),
    "CBGZ + DKM update": ((130.12, 116.45), (183.78, 120.83), (194.36, 80.20), (218.28, 94.95),
                          (379.16, 138.38), (156.08, 66.75), (193.70, 96.35)),
    "CBGZ + Perceptron": ((32.78, 19.52), (62.66, 30.48), (63.32, 30.76), (30.66, 13.31),
                          (170.02, 63.61), (115.14, 61.09), (116.28, 60.68)),
    "random + DKM update": ((87.72, 101.84), (173.44, 114.55), (276.92, 150.59),
                            (367.24, 191.25), (375.46, 164.33), (235.10, 129.11),
                            (210.40, 109.39)),
    "random + Perceptron": ((83.76, 78.47), (103.74, 76.25), (107.98, 57.41), (104.06, 75.10),
                            (214.16, 93.12), (173.96, 98.96), (151.32, 72.65)),
}  # fmt: skip

BEST = tuple(min(cells[k][0] for cells in TABLE.values()) for k in range(7))

# Fewer labels, more labels, and the p that [Mon06] gives; None: "not statistically significant".
COMPARISONS: tuple[tuple[str, str, float | None], ...] = (
    ("CBGZ + Perceptron", "random + Perceptron", 0.0156),
    ("DKM active + Perceptron", "random + Perceptron", 0.0313),
    ("DKM active + Perceptron", "CBGZ + Perceptron", None),
    ("DKM²", "random + DKM update", 0.0156),
    ("DKM²", "CBGZ + DKM update", 0.0469),
    ("DKM active + Perceptron", "DKM²", 0.0156),
    ("CBGZ + Perceptron", "CBGZ + DKM update", 0.0156),
    ("random + Perceptron", "random + DKM update", 0.0156),
)


def significance(fewer: Sequence[float], more: Sequence[float]) -> float:
    """Return the two-sided p of Wilcoxon's signed ranks, exact, over the seven means."""
    from scipy.stats import wilcoxon  # noqa: PLC0415 - costs half a second

    return float(wilcoxon(fewer, more, method="exact").pvalue)
