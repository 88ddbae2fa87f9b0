"""Rows with their kernel values: what the loop sees of a stretch of the stream."""

from typing import Any, NamedTuple

from selectron.arrays import Matrix, Vector
from selectron.numeric.rows import Rows, row, sound, square_norm


class BlockRow(NamedTuple):
    """One row, and its kernel values against the support vectors."""

    row: Any
    row_tiles: Any  # of the block
    position: int  # in the block
    values: Vector  # by slot; those of slots filled within the block come at the row's turn
    within: Vector  # against the rows of the block, where the kernel is somebody else's
    raw_square: float  # |x|²
    square: float  # k(x, x)


class Block(NamedTuple):
    """Some rows of the stream, and their kernel values against the support vectors so far."""

    rows: Rows
    row_tiles: Any  # the rows once more, bound for tiles; none if they are few, sparse or given
    first: int  # rows before it have had their turn
    values: Matrix  # (at least n, capacity)
    within: Matrix  # (n, n), or empty
    raw_squares: Vector
    squares: Vector

    def rest(self, first: int) -> "Block":
        return self._replace(first=first)


@row.of(Block)
def block_row(X: Block, t: int) -> BlockRow:
    k = X.first + t
    values, within = X.values[k], X.within[k]
    return BlockRow(row(X.rows, k), X.row_tiles, k, values, within, X.raw_squares[k], X.squares[k])


@sound.of(Block)
def block_sound(X: Block, t: int) -> bool:
    return True  # looked at before any kernel value was computed


@square_norm.of(BlockRow)
def block_square_norm(x: BlockRow) -> float:
    return x.square
