"""The keys of pictures: their levels, and how pictures of your own are brought to one size."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge
from pydantic import Field

from zoo.arguments import Count
from zoo.data.captions.options import PictureOptions
from zoo.data.options import Options

Bits = Literal[1, 2, 5, 8]
Side = Annotated[int, Ge(2)]
Sides = Annotated[list[Side], Field(min_length=2, max_length=2, description="a list [height,width] of two")]


@dataclass(frozen=True)
class ShapeOptions(Options):
    """The size and the colours of pictures of your own."""

    group: ClassVar[str] = "picture"

    size: Side | Sides | None = None
    """Pixels per side, or height and width, to which pictures are scaled. None: all files must have one size."""
    channels: Literal[1, 3] | None = None
    """1 for grey, 3 for colours. None: all files must have the same, that of the first one."""
    squash: bool = False
    """Whether the whole picture is scaled to `size` without cropping, which changes its shape."""
    max_pixels: Count = 120_000_000
    """The most pixels of a file; larger files are not read, because they would fill the memory."""

    @property
    def scaling(self) -> PictureOptions | None:
        """How a picture is scaled and cropped; None where it stays as it is."""
        if self.size is None:
            return None
        return PictureOptions(size=self.size, squash=self.squash, max_pixels=self.max_pixels)
