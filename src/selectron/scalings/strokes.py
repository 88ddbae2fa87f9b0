"""Pictures of strokes: present them smoothed, so that strokes one pixel apart are alike.

To a separator every pixel is a feature of its own. What it learns of a stroke says nothing about
the same stroke one pixel further. Smoothed rows say it: each pixel takes part in its neighbours.
Handwriting then needs far fewer labels. Clothes and other pictures of areas need more, because they
differ by edges and textures. The first rows tell the two apart: in areas the likeness of pixels
fades from step to step by the same factor, and in strokes faster.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper, seldom
from selectron.numeric.elementary import logarithm, sqrt
from selectron.numeric.pictures import lagged, side_of, smooth, smooth_table
from selectron.numeric.rows import sealed_row
from selectron.protocol import flaw, out_of_range, present, room_for
from selectron.scalings.centred import CentredState
from selectron.spec import POSITIVE, Range

LEAST_LIKENESS = 0.4  # of pixels side by side; below, there is nothing to smooth
FADING = 0.92  # likeness over two steps as a share of that over one, squared: areas are at 1
LEAST_ROWS = 20  # of the warm-up: fewer say too little
MOST_PASSES = 8


class Smoothing(NamedTuple):
    room: Vector  # a picture that is smoothed along its lines, and not yet across
    passes: int = 0  # how often a picture is smoothed; 0: rows are no pictures of strokes
    gain: float = 1.0  # makes up for the length that smoothing takes away


def smoothed_weights(smoothing: Smoothing, weights: Matrix) -> Matrix:
    """Return the weights whose products with rows are those of these weights with smoothed rows."""
    found, d = weights.copy(), len(smoothing.room)
    smooth_table(found[:, :d], np.zeros(d), smoothing.passes, smoothing.gain)
    return found


@helper
@seldom
def smoothing_for(
    smoothing: Smoothing, centred: CentredState, early: Matrix, images: bool
) -> Smoothing:
    """Return how to smooth rows like the early ones: not at all, unless they are of strokes.

    Of strokes whose likeness over one step is c, in the direction where it is less, n = -1/log(c)
    passes smooth about as far as pixels are alike: n passes are a bell curve of variance n/2.
    """
    d, room = len(smoothing.room), smoothing.room
    side = side_of(d)
    if not images or side < 3 or len(early) < LEAST_ROWS:
        return smoothing
    total = across = down = far_across = far_down = 0.0
    for k in range(len(early)):
        picture = present(centred, sealed_row(early[k])).values[:d]
        total += lagged(picture, side, 0, 0)
        across += lagged(picture, side, 1, 0)
        down += lagged(picture, side, 0, 1)
        far_across += lagged(picture, side, 2, 0)
        far_down += lagged(picture, side, 0, 2)
    if total <= 0.0:
        return smoothing
    near, nearest = min(across, down) / total, max(across, down) / total
    farthest = max(far_across, far_down) / total
    if not LEAST_LIKENESS <= near < 1.0 or farthest > FADING * nearest * nearest:
        return smoothing
    passes = min(max(int(0.5 - 1.0 / logarithm(near)), 1), MOST_PASSES)
    kept = 0.0
    for k in range(len(early)):
        picture = present(centred, sealed_row(early[k])).values[:d]
        smooth(picture, room, passes, 1.0)
        kept += lagged(picture, side, 0, 0)
    return Smoothing(room, passes, sqrt(total / kept))


room_for(Smoothing, "room")


@flaw.of(Smoothing)
def smooths_no_square(smoothing: Smoothing) -> str:
    """Only a square has neighbours above and below, and a picture of one pixel has none."""
    if smoothing.passes > 0 and side_of(len(smoothing.room)) < 3:
        return f"passes is {smoothing.passes}, but {len(smoothing.room)} columns are no square"
    return out_of_range(smoothing, passes=Range(0, MOST_PASSES), gain=POSITIVE)
