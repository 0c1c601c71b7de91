"""The parts of a picture: blocks that know their size. `fitted` turns a block into a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import NamedTuple

from zoo.visualize.blocks import Block, Key
from zoo.visualize.drawing import Drawing
from zoo.visualize.texts.letters import Letters

# pixels
NARROWEST, MARGIN, APART = 614, 34, 24
"""The least width of a picture, its margin, and the room between two blocks."""
SMALL, NORMAL, LARGE = 11.3, 14.0, 20.0
"""Sizes of letters."""


class Part(NamedTuple):
    """A block that knows its size."""

    width: float
    """The least width, without margins."""
    height: Callable[[float], float]
    """The height on a width without margins."""
    draw: Callable[[Drawing, float, float, float], None]
    """Draws onto a sheet, from (left, top), on a width."""
    notes: Sequence[str] = ()
    """Sentences at the foot of the picture."""
    keys: tuple[Key, ...] = ()
    """Keys at the foot, besides those of the block."""


@singledispatch
def fitted(block: Block, letters: Letters) -> Part | None:
    """Return the block with its size; None for a block that a picture does not show."""
    return None
