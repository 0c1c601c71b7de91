"""One image with its captions as a source gives it: what every reader yields."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Box(NamedTuple):
    """A rectangle, in shares of the width and of the height of the picture as a network sees it; (0, 0) is its upper
    left corner and (1, 1) its lower right one."""

    left: float
    top: float
    right: float
    bottom: float


class Named(NamedTuple):
    """A word of a caption that names an object."""

    begin: int
    """Its first letter in the caption, so that it holds for tokens of any kind."""
    end: int
    """The letter after its last."""
    box: Box
    """Where the object is."""


class ImageRow(NamedTuple):
    """One image and its captions as they stand in their file; the captions may be blank, and there may be none."""

    name: str
    """What it is called: its file within its folder, or the number of a generated one."""
    picture: NDArray[np.uint8] | Path
    """(H, W, 3) pixels, which are stored among the prepared data, or the file that is read whenever it is needed."""
    captions: tuple[str, ...]
    place: str
    """File and line, for messages."""
    boxes: tuple[tuple[Named, ...], ...] | None = None
    """Of each caption the words that name an object; only where the data knows it (the scenes)."""
    facts: Any = None
    """What is true of it, as plain data (see `zoo.data.images.truth`)."""
