"""Attention to the cells of a grid as light on an image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

DIM, GLOW = 0.35, 0.3
"""The brightness of an image where the network did not look, and the share of white where it looked most: without it
nothing would be visible on a dark image."""


def smooth(weights: Sequence[float], grid: tuple[int, int], size: tuple[int, int]) -> NDArray[np.float32]:
    """Return the weights as (H, W) = `size` pixels, from 0 to 1 for the largest weight.

    Each cell covers its own part of the image; between the centres of cells the weights are interpolated.
    """
    cells = np.asarray(weights, np.float32).reshape(grid)
    cells = cells / max(float(cells.max()), 1e-12)
    spread = Image.fromarray(cells).resize((size[1], size[0]), Image.Resampling.BICUBIC)
    return np.asarray(spread).clip(0, 1)


def lit(pixels: NDArray[np.uint8], weights: Sequence[float], grid: tuple[int, int]) -> NDArray[np.uint8]:
    """Return the image (H, W, 3), dim where the `weights` (S,) of a word are low and bright where they are highest."""
    looked = smooth(weights, grid, pixels.shape[:2])[..., None]
    light = pixels * (DIM + (1 - DIM) * looked)
    return (light + GLOW * looked * (255 - light) + 0.5).astype(np.uint8)
