"""An image with its captions: the row that every reader of images yields."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Box(NamedTuple):
    """A rectangle, in shares of the width and the height of the picture that the network sees.

    (0, 0) is the upper left corner, (1, 1) the lower right one.
    """

    left: float
    top: float
    right: float
    bottom: float


class Named(NamedTuple):
    """A word of a caption that names an object."""

    begin: int
    """Offset of its first letter in the caption, which is valid for any tokenizer."""
    end: int
    """Offset after its last letter."""
    box: Box
    """Position of the object."""


class ImageRow(NamedTuple):
    """An image and its captions as written in their file; captions may be blank or missing."""

    name: str
    """File name within its folder, or the number of a generated image."""
    picture: NDArray[np.uint8] | Path
    """(H, W, 3) pixels, which are stored with the prepared data, or a file that is read when it is needed."""
    captions: tuple[str, ...]
    place: str
    """File and line, for messages."""
    boxes: tuple[tuple[Named, ...], ...] | None = None
    """The words of each caption that name an object; only generated scenes have them."""
    facts: Any = None
    """Known facts as plain data (see `zoo.data.images.truth`)."""
