"""Reads one picture of any kind as bytes (H, W, C), and a folder of pictures of one size."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from zoo.data.captions.decoding import GIVEN, UnusablePicture, decode, seen
from zoo.data.pictures.options import ShapeOptions

GREY = ("1", "L", "LA", "I", "F")  # Pillow's modes without colours; those of 16 bits begin with I
LUMINANCE = (19595, 38470, 7471)  # Weights of red, green and blue in 65536, those of Pillow
COLOURS = {1: "grey", 3: "colours"}
OTHER_SIZE = "another size"


class Picture(NamedTuple):
    """A picture of a source."""

    name: str
    picture: NDArray[np.uint8]  # (H, W, C)
    label: str | None  # The name of its class
    place: str  # File and number, for messages
    factors: tuple[float, ...] = ()  # Numbers that describe it


class Shape(NamedTuple):
    """The shape that all pictures have."""

    height: int
    width: int
    channels: int

    def __str__(self) -> str:
        return f"{self.height} x {self.width} pixels in {COLOURS[self.channels]}"


def read(picture: Any, options: ShapeOptions, expected: Shape | None = None) -> NDArray[np.uint8]:
    """uint8 (H, W, C) of a path, a PIL image, or an array of bytes.

    Raises UnusablePicture for a picture that cannot be decoded, has a side of one pixel, or is not of the `expected`
    shape where `options` do not bring it to one.
    """
    channels = options.channels or (expected.channels if expected else channels_of(picture))
    scaling = options.scaling
    whole = decode(_coloured(picture), options.max_pixels) if scaling is None else seen(_coloured(picture), scaling)
    if options.channels is None and (own := channels_of(picture)) != channels:
        detail = f"found {COLOURS[own]}, expected {COLOURS[channels]} as in the others; set data.picture.channels=3"
        raise UnusablePicture("other colours", detail, place_of(picture))
    values = np.asarray((whole if channels == 3 else grey(whole)).permute(1, 2, 0))
    found = Shape(*values.shape)
    if min(found[:2]) < 2:
        detail = f"found {found.height} x {found.width} pixels, expected 2 x 2 or more"
        raise UnusablePicture("too small a picture", detail, place_of(picture))
    if expected is not None and found != expected:
        raise UnusablePicture(OTHER_SIZE, f"found {found}, expected {expected}", place_of(picture))
    return values


def channels_of(picture: Any) -> int:
    """1 for a picture without colours, else 3. Of a file only the header is read; a broken one counts as coloured."""
    if isinstance(picture, str | Path):
        try:
            with Image.open(Path(picture).expanduser()) as image:
                return channels_of(image)
        except Exception:  # `decode` names the problem
            return 3
    if isinstance(picture, Image.Image):
        return 1 if picture.mode in GREY or picture.mode.startswith("I;16") else 3
    shape = tuple(getattr(picture, "shape", ()))
    return 1 if len(shape) == 2 or (len(shape) == 3 and 1 in (shape[0], shape[2])) else 3


def _coloured(picture: Any) -> Any:
    """A picture in the form that `decode` takes: an array of one channel gets three equal ones."""
    if isinstance(picture, str | Path | Image.Image) or channels_of(picture) == 3:
        return picture
    values = torch.as_tensor(picture)
    values = values[None] if values.dim() == 2 else values if values.shape[0] == 1 else values.permute(2, 0, 1)
    return values.expand(3, -1, -1).contiguous()


def grey(pixels: Tensor) -> Tensor:
    """(3, H, W) bytes -> (1, H, W), the luminance as Pillow computes it."""
    weights = torch.tensor(LUMINANCE, dtype=torch.int32)[:, None, None]
    return ((pixels.int() * weights).sum(0, keepdim=True) + 2**15 >> 16).byte()


def place_of(picture: Any) -> str:
    """The path of a picture, or words for one without a path."""
    return str(picture) if isinstance(picture, str | Path) else GIVEN
