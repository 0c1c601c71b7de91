"""Draws pictures pixel by pixel, each value from the network's distribution after all values before it.

Notation: B pictures, C colours, H rows, W columns, L levels.
"""

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from zoo.precision import precise


class DrawsPixels(Protocol):
    """A network that can score one pixel after another, see `zoo.models.network.DensityNetwork`."""

    def start(self, batch: Any) -> Any:
        """The activations before the first pixel."""

    def step(self, values: Tensor, row: int, column: int, state: Any) -> Tensor:
        """Scores (B, L, C) of the colours of a pixel."""


@torch.no_grad()
def draw_pictures(
    network: DrawsPixels,
    batch: Any,
    kept: Tensor,
    *,
    random: Tensor,
    temperature: float = 1.0,
    hear: Callable[[int], None] | None = None,
) -> Tensor:
    """(B, C, H, W) levels: the first rows of each picture as they are given, and the others drawn.

    Args:
        network: in evaluation mode.
        batch: its `image` (B, C, H, W) has the rows that are given; it also has what the network depends on.
        kept: (B,) the number of rows that are given.
        random: (B, C, H, W) uniform numbers from 0 to 1, which decide what is drawn.
        temperature: divides the scores; 0 takes the most probable level.
        hear: gets the number of each row that is finished.
    """
    values = batch.image.clone()
    _, colours, height, width = values.shape
    state = network.start(batch)
    for row in range(height if bool((kept < height).any()) else 0):
        open_rows = kept <= row
        for column in range(width):
            for colour in range(colours):
                scores = precise(network.step(values, row, column, state)[:, :, colour])  # (B, L)
                drawn = chosen(scores, temperature, random[:, colour, row, column]).to(values.dtype)
                values[:, colour, row, column] = torch.where(open_rows, drawn, values[:, colour, row, column])
        if hear is not None:
            hear(row)
    return values


def chosen(scores: Tensor, temperature: float, random: Tensor) -> Tensor:
    """(B, L) scores -> (B,) levels: the first whose cumulated probability exceeds a uniform number (B,)."""
    if temperature == 0:
        return scores.argmax(1)
    below = (scores / temperature).softmax(1).cumsum(1)
    return (below <= (random.to(below.dtype) * below[:, -1])[:, None]).sum(1).clamp(max=scores.shape[1] - 1)
