"""From image files to pixels: any kind of picture to uint8 (3, h, w), and of that what a network sees.

What a picture looks like on a screen is what its pixels become: turned as its EXIF data say, of an animation the first
frame, what is transparent over white, of 16 bits the upper 8, CMYK and palettes as red, green and blue. Notation: a
picture is h by w, what a network sees of it H by W.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor
from torchvision.transforms.v2 import functional as v2

from zoo.data.images.options import PictureOptions
from zoo.errors import UnusableInput

LARGEST = PictureOptions.max_pixels
LARGE = 2**24
"""Pixels of a picture that is reduced while it is decoded, to at least twice the side that a network sees."""
MEMORY = 2**29
"""Bytes that a decoded picture may take."""
BYTES = {"1": 1, "L": 1, "P": 1, "LA": 4, "PA": 4, "I;16": 2, "I;16B": 2, "I;16L": 2}
"""Bytes per pixel of Pillow's modes; 4 for all others."""
ORIENTATION = 0x0112
"""The EXIF tag that says how a picture is to be turned."""
WHITE = (255, 255, 255)
BIT = 255
"""The most of a number of 8 bits."""
WIDE = 2**16 - 1
"""The most of one of 16 bits."""
KINDS = "a path, a PIL image, or a uint8 array of (3, height, width) or (height, width, 3)"

OPENING = Lock()
"""Held while Pillow's limit is off, which is one for all threads."""
GIVEN = "the picture that was given"


class UnusablePicture(UnusableInput):
    """A picture that cannot be used."""

    def __init__(self, place: str, problem: str = "", detail: str = "") -> None:
        """`problem` is its kind, `detail` what was found and expected."""
        super().__init__(": ".join(filter(None, [place, problem, detail])))
        self.place, self.problem, self.detail = place, problem, detail


# Any picture to pixels


def decode(picture: Any, largest: int = LARGEST, side: int | None = None) -> Tensor:
    """uint8 (3, h, w) of a picture: its path, a PIL image, or an array or tensor of bytes, (3, h, w) or (h, w, 3).

    A large picture is reduced where `side` says how many pixels of its shorter side are needed. Raises UnusablePicture
    for a picture that is missing, broken, of an unknown kind, or of more than `largest` pixels.
    """
    if isinstance(picture, str | Path):
        return _decode_file(Path(picture).expanduser(), largest, side)
    if isinstance(picture, Image.Image):
        with _named(GIVEN):
            return _decode_image(picture, GIVEN, largest, side)
    return _decode_array(picture)


def _decode_file(path: Path, largest: int, side: int | None) -> Tensor:
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise UnusablePicture(str(path), "no picture", "found a pipe or a device, expected a file")
    # not by its name: Pillow would map plain grey .tif files into memory, and jumble those that lie on their side
    with _named(str(path)), path.open("rb") as file, _opened(file) as image:
        return _decode_image(image, str(path), largest, side)


def _opened(file: IO[bytes]) -> Image.Image:
    """Of a picture its head, whatever its size: how many pixels are too many is said by `max_pixels`, and Pillow's own
    limit would refuse some that this allows, and warn of others."""
    with OPENING:
        limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        try:
            return Image.open(file)
        finally:
            Image.MAX_IMAGE_PIXELS = limit


@contextmanager
def _named(place: str) -> Iterator[None]:
    """Raises UnusablePicture, with the place, for whatever a decoder of Pillow raises inside."""
    try:
        yield
    except UnusablePicture:
        raise
    except UnidentifiedImageError as error:
        size = Path(place).stat().st_size
        empty = "the file is empty" if size == 0 else f"none of the kinds that Pillow reads in its {size:,} bytes"
        raise UnusablePicture(
            place, "no picture", f"{empty}; expected a .jpg, .png, .webp, .gif, .bmp or .tif"
        ) from error
    except MemoryError as error:
        raise UnusablePicture(place, "too large a picture", "the memory does not hold it") from error
    except Exception as error:  # OSError, SyntaxError, ValueError, struct.error, ...: each decoder has its own
        if isinstance(error, OSError) and error.errno is not None:
            raise UnusablePicture(place, "cannot be read", error.strerror or str(error)) from error
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UnusablePicture(place, "broken picture", f"{reason}; get the file anew") from error


def _decode_image(image: Image.Image, place: str, largest: int, side: int | None) -> Tensor:
    width, height = image.size
    if width * height > largest:
        found = f"found {width} x {height} pixels, expected {largest:,} or fewer"
        raise UnusablePicture(place, "too large a picture", f"{found} (data.picture.max_pixels)")
    if width * height == 0:
        raise UnusablePicture(place, "no picture", f"found {width} x {height} pixels")
    factor = min(image.size) // (2 * side) if side and width * height > LARGE else 1
    if factor > 1:  # JPEG is decoded at a half, a quarter or an eighth of its size
        image.draft(image.mode, (2 * side, 2 * side))  # type: ignore[operator]
    if (taken := image.width * image.height * BYTES.get(image.mode, 4)) > MEMORY:
        found = f"found {width} x {height} pixels of mode {image.mode}, which take {taken // 2**20:,} MB"
        raise UnusablePicture(place, "too large a picture", f"{found}, expected {MEMORY // 2**20} MB or less")
    image.load()  # all of it, so that what is broken shows; of an animation the first frame
    if factor > 1:
        image = _reduced(image, 2 * side)  # type: ignore[operator]
    with suppress(Exception):  # a tag that cannot be read says nothing of how to turn it, and its pixels are there
        if image.getexif().get(ORIENTATION, 1) != 1:
            image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I") or image.mode == "F":
        return torch.from_numpy(_scaled(np.asarray(image), place)).expand(3, -1, -1).contiguous()
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, WHITE), image)
    return v2.pil_to_tensor(image if image.mode == "RGB" else image.convert("RGB"))


def _reduced(image: Image.Image, side: int) -> Image.Image:
    """The picture by means of squares of pixels, its shorter side at least `side`; with the tag that says how to turn
    it."""
    factor = min(image.size) // side
    if factor < 2:
        return image
    exif = image.getexif()
    if image.mode in ("1", "P"):  # these have no means
        colours = "RGBA" if image.has_transparency_data else "RGB"
        image = image.convert("L" if image.mode == "1" else colours)
    small = image.reduce(factor)
    small.getexif()[ORIENTATION] = exif.get(ORIENTATION, 1)
    return small


def _scaled(grey: NDArray[Any], place: str) -> NDArray[np.uint8]:
    """(1, h, w) bytes of grey (h, w) in more than 8 bits, by the range that its kind of number has: 16 bits, 32 where
    it has more, and of fractions 0 to 1."""
    least, most = float(grey.min()), float(grey.max())
    if grey.dtype.kind == "f":
        if not 0 <= least <= most <= BIT:  # NaN fails, too
            raise UnusablePicture(
                place, "unknown range of grey", f"found {least:g} to {most:g}, expected 0 to 1 or 0 to {BIT}"
            )
        unit = 1.0 if most <= 1 else BIT
    elif least < 0:
        raise UnusablePicture(place, "unknown range of grey", f"found {least:.0f}, expected no number below 0")
    else:
        unit = WIDE if most <= WIDE else 2**31 - 1
    return np.rint(grey.astype(np.float64) * (BIT / unit)).astype(np.uint8)[None]


def _decode_array(given: Any) -> Tensor:
    """(3, h, w) of an array or a tensor in either order."""
    place = GIVEN
    if not isinstance(given, np.ndarray | Tensor):
        raise UnusablePicture(place, "no picture", f"found a {type(given).__name__}, expected {KINDS}")
    pixels = given if isinstance(given, Tensor) else torch.from_numpy(np.array(given))
    if pixels.dtype != torch.uint8 or pixels.dim() != 3 or 3 not in (pixels.shape[0], pixels.shape[2]):
        found = f"{str(pixels.dtype).removeprefix('torch.')} of {tuple(pixels.shape)}"
        raise UnusablePicture(place, "no picture", f"found {found}, expected {KINDS}")
    return pixels if pixels.shape[0] == 3 else pixels.permute(2, 0, 1).contiguous()


# Pixels to what a network sees


def seen(picture: Any, options: PictureOptions, draw: np.random.Generator | None = None) -> Tensor:
    """uint8 (3, H, W) of any picture as a network sees it, in training by the numbers of `draw`. Raises UnusablePicture
    as `decode`."""
    pixels = decode(picture, options.max_pixels, _side(options))
    size = (pixels.shape[1], pixels.shape[2])
    try:
        return fit(pixels, options, None if draw is None else drawn(size, options, draw))
    except UnusablePicture as error:
        named = str(picture) if isinstance(picture, str | Path) else error.place
        raise UnusablePicture(named, error.problem, error.detail) from None


def _side(options: PictureOptions) -> int:
    """Pixels of a picture's shorter side that are needed."""
    return max(options.resize or 0, *options.sides)


def problem(path: Path, options: PictureOptions) -> UnusablePicture | None:
    """What is wrong with a file as a picture; None where a network can see it."""
    try:
        pixels = decode(path, options.max_pixels, _side(options))
        central((pixels.shape[1], pixels.shape[2]), options)
    except UnusablePicture as error:
        return UnusablePicture(str(path), error.problem, error.detail)
    return None


class Frame(NamedTuple):
    """How a picture becomes what a network sees: scaled to (h, w), then cut at `top` and `left`."""

    height: int
    width: int
    top: int
    left: int
    mirrored: bool = False


def fit(pixels: Tensor, options: PictureOptions, frame: Frame | None = None) -> Tensor:
    """(3, H, W) of pixels (3, h, w), both uint8: scaled and cut as `options` say, or as `frame`. Raises UnusablePicture
    for one so long that to scale it would fill the memory."""
    frame = frame or central((pixels.shape[1], pixels.shape[2]), options)
    high, wide = options.sides
    if tuple(pixels.shape[1:]) != (frame.height, frame.width):
        pixels = v2.resize(pixels, [frame.height, frame.width], antialias=True)
    if (high, wide) != (frame.height, frame.width):
        pixels = pixels[:, frame.top : frame.top + high, frame.left : frame.left + wide]
    return (pixels.flip(2) if frame.mirrored else pixels).contiguous()


def central(size: tuple[int, int], options: PictureOptions) -> Frame:
    """What is seen of a picture of (h, w) pixels in evaluation: its middle."""
    height, width = _scaled_size(size, options)
    high, wide = options.sides
    return Frame(height, width, round((height - high) / 2), round((width - wide) / 2))


def drawn(size: tuple[int, int], options: PictureOptions, draw: np.random.Generator) -> Frame:
    """What is seen of it in training, by the next numbers of `draw`."""
    frame = central(size, options)
    places, mirrored = draw.random(2), draw.random() < 0.5
    if options.random_crop:
        rooms = frame.height - options.sides[0] + 1, frame.width - options.sides[1] + 1
        top, left = (int(place * room) for place, room in zip(places, rooms, strict=True))
        frame = frame._replace(top=top, left=left)
    return frame._replace(mirrored=options.flip and bool(mirrored))


def _scaled_size(size: tuple[int, int], options: PictureOptions) -> tuple[int, int]:
    """(h, w) that a picture is scaled to before it is cut: the least of its own shape that covers `resize`."""
    height, width = size
    high, wide = options.sides
    if options.squash:
        return high, wide
    larger = (options.resize or min(high, wide)) / min(high, wide)
    scale = larger * max(high / height, wide / width)
    # rounded down as torchvision does, and yet no smaller than what is cut out of it
    found = max(high, int(height * scale + 1e-6)), max(wide, int(width * scale + 1e-6))
    if found[0] * found[1] > options.max_pixels:
        raise UnusablePicture(
            GIVEN,
            "too long a picture",
            f"found {width} x {height} pixels, which data.picture.size would have scaled to {found[1]} x {found[0]}; "
            "expected sides that differ less",
        )
    return found
