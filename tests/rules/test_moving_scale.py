"""`Winsorised(memory=…)`: the mean and the deviation of the last rows; without memory, of all."""

import numpy as np
import pytest

from selectron.numeric.rows import DenseRow
from selectron.protocol import absorb
from selectron.scalings import Winsorised

ROWS = np.random.default_rng(1).standard_normal((3000, 2)) * [1.0, 50.0] + [3.0, -200.0]


def after(scaling, rows):
    state = scaling.begin(2, float)
    for x in rows:
        state = absorb(state, DenseRow(x))
    return state


@pytest.mark.plain
def test_a_short_stream_is_within_any_memory():
    short, all_of_it = after(Winsorised(memory=500), ROWS[:400]), after(Winsorised(), ROWS[:400])
    np.testing.assert_array_equal(short.mean, all_of_it.mean)
    np.testing.assert_array_equal(short.deviation, all_of_it.deviation)


@pytest.mark.plain
def test_the_scale_moves_with_the_stream():
    moved = np.vstack([ROWS[:1500], 10.0 * ROWS[1500:] + 7.0])
    now, ever = after(Winsorised(memory=200), moved), after(Winsorised(), moved)
    late = moved[2000:]
    assert now.mean == pytest.approx(late.mean(axis=0), rel=0.25)
    assert now.deviation == pytest.approx(late.std(axis=0), rel=0.25)
    assert (np.abs(ever.mean / late.mean(axis=0) - 1.0) > 0.25).all()


@pytest.mark.plain
def test_a_steady_stream_has_its_own_scale():
    state = after(Winsorised(clip=6.0, memory=300), ROWS)
    assert state.mean == pytest.approx(ROWS.mean(axis=0), abs=12.0)
    assert state.deviation == pytest.approx(ROWS.std(axis=0), rel=0.2)
