"""Converts boxes of objects to cells of a grid."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

HALF = 0.5
"""Share of a cell by which a box is widened on each side.

So an object that covers no centre of a cell still has a cell; a network sees more around a centre than the cell.
"""


def cells(boxes: ArrayLike, grid: Sequence[int]) -> NDArray[np.bool_]:
    """Mask (N, S) of the cells whose centre lies in a box (N, 4) that is widened by half a cell on each side.

    `grid` is (rows, columns), in row-major order; boxes are in shares of the picture: left, top, right, bottom.
    """
    left, top, right, bottom = np.asarray(boxes, np.float64).reshape(-1, 4).T[..., None]  # (N, 1)
    rows, columns = grid
    y, x = np.arange(rows) + 0.5, np.arange(columns) + 0.5  # centres, in units of a cell
    down = (top * rows - HALF <= y) & (y <= bottom * rows + HALF)
    along = (left * columns - HALF <= x) & (x <= right * columns + HALF)
    return (down[:, :, None] & along[:, None, :]).reshape(len(down), rows * columns)


def alignment(
    shape: tuple[int, int], rows: ArrayLike, positions: ArrayLike, boxes: ArrayLike, grid: Sequence[int]
) -> NDArray[np.bool_]:
    """Mask (B, T, S) for captions of `shape` (B, T): the cells of the box (N, 4) of each of N named words.

    `rows` and `positions` locate the words; two boxes of one token (a subword of two words) are united.
    """
    found = np.zeros((*shape, grid[0] * grid[1]), np.bool_)
    np.logical_or.at(found, (np.asarray(rows, int), np.asarray(positions, int)), cells(boxes, grid))
    return found
