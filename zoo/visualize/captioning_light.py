"""Attention on the cells of a grid as light on a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

DIM, GLOW = 0.35, 0.3
"""How bright the picture stays where the network did not look, and how much white there is where it looked most: of a
dark picture nothing would be seen without."""


def smooth(weights: Sequence[float], grid: tuple[int, int], size: tuple[int, int]) -> NDArray[np.float32]:
    """(H, W) from 0 to 1 of the largest weight, for `size` = (H, W) pixels: cell (i, j) of the grid lies over its own
    part of them, and from centre to centre the weights go over into each other."""
    cells = np.asarray(weights, np.float32).reshape(grid)
    cells = cells / max(float(cells.max()), 1e-12)
    spread = Image.fromarray(cells).resize((size[1], size[0]), Image.Resampling.BICUBIC)
    return np.asarray(spread).clip(0, 1)


def lit(pixels: NDArray[np.uint8], weights: Sequence[float], grid: tuple[int, int]) -> NDArray[np.uint8]:
    """The picture (H, W, 3), dim where the `weights` (S,) of a word are low and bright where they are highest."""
    looked = smooth(weights, grid, pixels.shape[:2])[..., None]
    light = pixels * (DIM + (1 - DIM) * looked)
    return (light + GLOW * looked * (255 - light) + 0.5).astype(np.uint8)
