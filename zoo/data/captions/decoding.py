"""Decodes any kind of picture to uint8 pixels (3, h, w), and prepares them for a network.

Pixels are as a viewer shows them: turned by EXIF, the first frame of an animation, transparent parts over white, the
upper 8 of 16 bits, CMYK and palettes as RGB. Notation: a picture is h by w, the part that a network sees is H by W.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor

from zoo.data.captions.options import PictureOptions
from zoo.data.rows import some
from zoo.errors import UnusableInput

LARGEST = PictureOptions.max_pixels
LARGE = 2**24
"""Pixels of a picture that is reduced while it is decoded, to at least twice the side that a network sees."""
MEMORY = 2**29  # Bytes that a decoded picture may take
BYTES = {"1": 1, "L": 1, "P": 1, "LA": 4, "PA": 4, "I;16": 2, "I;16B": 2, "I;16L": 2}
"""Bytes per pixel of Pillow's modes; 4 for all others."""
ORIENTATION = 0x0112  # The EXIF tag for the rotation of a picture
WHITE = (255, 255, 255)
KINDS = "a path, a PIL image, or a uint8 array of (3, height, width) or (height, width, 3)"
GIVEN = "the picture that was given"
OPENING = Lock()  # Held while Pillow's limit, which all threads share, is off


class UnusablePicture(UnusableInput):
    """A picture that cannot be used."""

    def __init__(self, problem: str, detail: str, place: str = GIVEN) -> None:
        """`problem` is the kind of problem, `detail` what was found and expected."""
        super().__init__(f"{place}: {problem}: {detail}")
        self.problem, self.detail, self.place = problem, detail, place


# Any picture to pixels


def decode(picture: Any, largest: int = LARGEST, side: int | None = None) -> Tensor:
    """uint8 (3, h, w) of a path, a PIL image, or an array or tensor of bytes, (3, h, w) or (h, w, 3).

    A large picture is reduced if `side` gives the pixels that its shorter side needs. Raises UnusablePicture for a
    picture that is missing, broken, of an unknown kind, or of more than `largest` pixels.
    """
    with _named(picture):
        if isinstance(picture, Image.Image):
            return _decode_image(picture, largest, side)
        if not isinstance(picture, str | Path):
            return _decode_array(picture)
        path = Path(picture).expanduser()
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise UnusablePicture("not a picture", "found a pipe or a device, expected a file")
        # A file object, because Pillow maps plain grey .tif files into memory by their names, and garbles rotated ones.
        with path.open("rb") as file, _opened(file) as image:
            return _decode_image(image, largest, side)


def _opened(file: IO[bytes]) -> Image.Image:
    """Reads only the header of a picture. The limit is `max_pixels`; Pillow's own limit is switched off."""
    with OPENING:
        limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        try:
            return Image.open(file)
        finally:
            Image.MAX_IMAGE_PIXELS = limit


@contextmanager
def _named(picture: Any) -> Iterator[None]:
    """Turns every error, including those of Pillow's decoders, into an UnusablePicture with the picture's place."""
    place = str(Path(picture).expanduser()) if isinstance(picture, str | Path) else GIVEN
    try:
        yield
    except UnusablePicture as error:
        raise UnusablePicture(error.problem, error.detail, place) from error
    except UnidentifiedImageError as error:
        size = Path(place).stat().st_size
        empty = "the file is empty" if size == 0 else f"its {some(size, 'byte')} are not in a known image format"
        detail = f"{empty}; expected a .jpg, .png, .webp, .gif, .bmp or .tif"
        raise UnusablePicture("not a picture", detail, place) from error
    except MemoryError as error:
        raise UnusablePicture("too large a picture", "the memory does not hold it", place) from error
    except Exception as error:  # OSError, SyntaxError, ValueError, struct.error, ...: each decoder has its own
        if isinstance(error, OSError) and error.errno is not None:
            raise UnusablePicture("cannot be read", error.strerror or str(error), place) from error
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UnusablePicture("broken picture", f"{reason}; download or copy the file again", place) from error


def _decode_image(image: Image.Image, largest: int, side: int | None) -> Tensor:
    width, height = image.size
    found = f"found {width} x {height} pixels"
    if width * height > largest:
        detail = f"{found}, expected {largest:,} or fewer (data.picture.max_pixels)"
        raise UnusablePicture("too large a picture", detail)
    if width * height == 0:
        raise UnusablePicture("not a picture", found)
    needed = 2 * side if side and width * height > LARGE else min(image.size)
    if min(image.size) >= 2 * needed:  # JPEG is decoded at a half, a quarter or an eighth of its size
        image.draft(image.mode, (needed, needed))
    if (taken := image.width * image.height * BYTES.get(image.mode, 4)) > MEMORY:
        detail = f"of mode {image.mode}, which take {taken // 2**20:,} MB, expected {MEMORY // 2**20} MB or less"
        raise UnusablePicture("too large a picture", f"{found} {detail}")
    image.load()  # all of it, to find damage; the first frame of an animation
    image = _reduced(image, min(image.size) // needed)
    with suppress(Exception):  # a tag that cannot be read is ignored
        if image.getexif().get(ORIENTATION, 1) != 1:
            image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I") or image.mode == "F":
        return torch.from_numpy(_scaled(np.asarray(image))).expand(3, -1, -1).contiguous()
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, WHITE), image)
    return torch.from_numpy(np.array(image if image.mode == "RGB" else image.convert("RGB"))).permute(2, 0, 1)


def _reduced(image: Image.Image, factor: int) -> Image.Image:
    """The picture reduced by means over `factor` by `factor` pixels. Pillow keeps the tag for its rotation."""
    if factor < 2:
        return image
    if image.mode in ("1", "P"):  # Pillow computes no means of these, nor of 16 bits
        colours = "RGBA" if image.has_transparency_data else "RGB"
        image = image.convert("L" if image.mode == "1" else colours)
    elif image.mode.startswith("I;16"):
        image = image.convert("I")
    return image.reduce(factor)


def _scaled(grey: NDArray[Any]) -> NDArray[np.uint8]:
    """(1, h, w) bytes of grey (h, w) in more than 8 bits. The range is that of the numbers: 16 bits, or 32 if some are
    larger, and 0 to 1 or 0 to 255 for fractions."""
    least, most = float(grey.min()), float(grey.max())
    if grey.dtype.kind == "f":
        if not 0 <= least <= most <= 255:  # also for NaN
            found = f"found {least:g} to {most:g}, expected 0 to 1 or 0 to 255"
            raise UnusablePicture("unknown range of grey", found)
        unit = 1 if most <= 1 else 255
    elif least < 0:
        raise UnusablePicture("unknown range of grey", f"found {least:.0f}, expected no number below 0")
    else:
        unit = 2**16 - 1 if most < 2**16 else 2**31 - 1
    return np.rint(grey.astype(np.float64) * (255 / unit)).astype(np.uint8)[None]


def _decode_array(given: Any) -> Tensor:
    if not isinstance(given, np.ndarray | Tensor):
        raise UnusablePicture("not a picture", f"found a {type(given).__name__}, expected {KINDS}")
    pixels = given if isinstance(given, Tensor) else torch.from_numpy(np.array(given))
    if pixels.dtype != torch.uint8 or pixels.dim() != 3 or 3 not in (pixels.shape[0], pixels.shape[2]):
        found = f"{str(pixels.dtype).removeprefix('torch.')} of {tuple(pixels.shape)}"
        raise UnusablePicture("not a picture", f"found {found}, expected {KINDS}")
    return pixels if pixels.shape[0] == 3 else pixels.permute(2, 0, 1).contiguous()


# Pixels to what a network sees


class Frame(NamedTuple):
    """The way a picture is prepared: scaled to (h, w), then cropped at `top` and `left`."""

    height: int
    width: int
    top: int
    left: int
    mirrored: bool = False


def seen(picture: Any, options: PictureOptions, draw: np.random.Generator | None = None) -> Tensor:
    """uint8 (3, H, W) of any picture as a network sees it; `draw` selects a random frame for training. Raises the
    errors of `decode`, also if a picture is too long to be scaled."""
    pixels, frame = _framed(picture, options)
    return fit(pixels, options, frame if draw is None else changed(frame, options, draw))


def problem(picture: Any, options: PictureOptions) -> UnusablePicture | None:
    """The reason why a file cannot be used as a picture; None if a network can see it."""
    try:
        _framed(picture, options)
    except UnusablePicture as error:
        return error
    return None


def _framed(picture: Any, options: PictureOptions) -> tuple[Tensor, Frame]:
    """The pixels of a picture, and the frame of its middle."""
    pixels = decode(picture, options.max_pixels, max(options.resize or 0, *options.sides))
    with _named(picture):
        return pixels, central((pixels.shape[1], pixels.shape[2]), options)


def fit(pixels: Tensor, options: PictureOptions, frame: Frame) -> Tensor:
    """(3, H, W) of pixels (3, h, w), both uint8, scaled and cropped."""
    high, wide = options.sides
    if tuple(pixels.shape[1:]) != (frame.height, frame.width):
        size = [frame.height, frame.width]
        pixels = F.interpolate(pixels[None], size, mode="bilinear", align_corners=False, antialias=True)[0]
    if (high, wide) != (frame.height, frame.width):
        pixels = pixels[:, frame.top : frame.top + high, frame.left : frame.left + wide]
    return (pixels.flip(2) if frame.mirrored else pixels).contiguous()


def central(size: tuple[int, int], options: PictureOptions) -> Frame:
    """The central part of a picture of (h, w) pixels, for evaluation. The picture is scaled to the smallest size that
    covers `resize`; its proportions stay, unless `squash` is set."""
    (height, width), (high, wide) = size, options.sides
    if options.squash:
        return Frame(high, wide, 0, 0)
    larger = (options.resize or min(high, wide)) / min(high, wide)
    scale = larger * max(high / height, wide / width)
    # rounded down as in torchvision, but not smaller than the part to crop
    tall, broad = max(high, int(height * scale + 1e-6)), max(wide, int(width * scale + 1e-6))
    if tall * broad > options.max_pixels:
        found = f"found {width} x {height} pixels, which data.picture.size would scale to {broad} x {tall}"
        raise UnusablePicture("too long a picture", f"{found}; expected sides that differ less")
    return Frame(tall, broad, round((tall - high) / 2), round((broad - wide) / 2))


def changed(frame: Frame, options: PictureOptions, draw: np.random.Generator) -> Frame:
    """A random frame for training, drawn from `draw`."""
    places, mirrored = draw.random(2), draw.random() < 0.5
    if options.random_crop:
        rooms = frame.height - options.sides[0] + 1, frame.width - options.sides[1] + 1
        top, left = (int(place * room) for place, room in zip(places, rooms, strict=True))
        frame = frame._replace(top=top, left=left)
    return frame._replace(mirrored=options.flip and bool(mirrored))
