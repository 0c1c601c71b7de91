"""An image with its captions, as readers give it, and the description of an image in a batch."""

from dataclasses import dataclass
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


class ImageRow(NamedTuple):
    """An image and its captions as written in their file; captions may be blank or missing."""

    name: str
    """File name within its folder, or the number of a generated image."""
    picture: NDArray[np.uint8] | Path
    """(H, W, 3) pixels, which are stored with the prepared data, or a file that is read when it is needed."""
    captions: tuple[str, ...]
    place: str
    """File and line, for messages."""
    facts: Any = None
    """Known facts as plain data (see `zoo.data.images.truth`); only generated scenes have them."""


@dataclass(frozen=True)
class ImageDescription:
    """The facts about an image of a batch besides its pixels, for metrics, tables and pictures."""

    name: str
    captions: tuple[str, ...] = ()
    """All captions, as written in their file."""
    facts: Any = None
    file: str | None = None
    """Path to the pixels, if a batch has features instead of pixels and the image is a file."""
