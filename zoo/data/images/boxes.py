"""From the boxes of objects to the cells of a grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

HALF = 0.5
"""Of a cell: so much wider a box is taken to be on each side. An object that covers no centre of a cell has one all the
same, and what a network sees around a centre is more than the cell."""


def cells(boxes: ArrayLike, grid: Sequence[int]) -> NDArray[np.bool_]:
    """(N, S) True at the cells of a grid of rows by columns, one row of cells after the other, of which the centre lies
    in a box that is half a cell wider on each side; boxes (N, 4) in shares of the picture, see `Box`."""
    left, top, right, bottom = np.asarray(boxes, np.float64).reshape(-1, 4).T
    rows, columns = grid
    down = _between(top * rows, bottom * rows, rows)
    along = _between(left * columns, right * columns, columns)
    return (down[:, :, None] & along[:, None, :]).reshape(len(down), rows * columns)


def _between(begin: NDArray[np.float64], end: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """(N, count) True at the cells along one side whose centres lie there; one cell is one unit long."""
    centre = np.arange(count) + 0.5
    return (begin[:, None] - HALF <= centre) & (centre <= end[:, None] + HALF)


def alignment(
    shape: tuple[int, int], rows: ArrayLike, positions: ArrayLike, boxes: ArrayLike, grid: Sequence[int]
) -> NDArray[np.bool_]:
    """(B, T, S) for captions of `shape` (B, T): each of N named words, by its row and its position, with the cells of
    its box (N, 4); two boxes of one word (a piece that two words share) are taken together."""
    found = np.zeros((*shape, grid[0] * grid[1]), np.bool_)
    np.logical_or.at(found, (np.asarray(rows, int), np.asarray(positions, int)), cells(boxes, grid))
    return found
