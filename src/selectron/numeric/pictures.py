"""Rows that are square pictures, line by line: smoothing, and sums over pixels apart."""

from numba import njit

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import KERNEL, apart, helper
from selectron.numeric.elementary import sqrt


@helper
def side_of(d: int) -> int:
    """Return the side of a square of d pixels, 0 if there is none."""
    side = int(sqrt(float(d)) + 0.5)
    return side if side * side == d else 0


@helper
@apart
def smooth(picture: Vector, room: Vector, passes: int, gain: float) -> None:
    """Take half of each pixel and a quarter of its two neighbours, along lines and then across.

    Beyond the edge all is dark. Each pass is a symmetric matrix, and so is their product.
    """
    d, side = len(picture), side_of(len(picture))
    for _ in range(passes):
        left, middle, right, inner = picture[: d - 2], picture[1 : d - 1], picture[2:], room[1:]
        for i in range(len(middle)):  # across the ends of lines too: these come next
            inner[i] = 0.5 * middle[i] + 0.25 * (left[i] + right[i])
        for start in range(0, d, side):
            end = start + side - 1
            room[start] = 0.5 * picture[start] + 0.25 * picture[start + 1]
            room[end] = 0.5 * picture[end] + 0.25 * picture[end - 1]
        above, below, inner = room[: d - 2 * side], room[2 * side :], room[side : d - side]
        lines = picture[side : d - side]
        for i in range(len(inner)):
            lines[i] = 0.5 * inner[i] + 0.25 * (above[i] + below[i])
        for i in range(side):
            end = d - side + i
            picture[i] = 0.5 * room[i] + 0.25 * room[i + side]
            picture[end] = 0.5 * room[end] + 0.25 * room[end - side]
    for i in range(d):
        picture[i] *= gain


@njit(**KERNEL)
def smooth_table(pictures: Matrix, room: Vector, passes: int, gain: float) -> None:
    """Smooth every picture of a table."""
    for k in range(len(pictures)):
        smooth(pictures[k], room, passes, gain)


@helper
def lagged(picture: Vector, side: int, across: int, down: int) -> float:
    """Return the sum of products of pixels that are so many steps apart."""
    total = 0.0
    for line in range(side - down):
        for place in range(side - across):
            here = line * side + place
            total += picture[here] * picture[here + down * side + across]
    return total
