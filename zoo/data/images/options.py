"""The keys of images with captions: how captions become tokens, how pictures are seen, how both become batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from zoo.arguments import Count
from zoo.data.options import Options
from zoo.data.text.options import TokenOptions

Batches = Literal["pictures", "lengths"]
"""`pictures`: a batch is of so many images, each with some of its captions. `lengths`: it is of so many captions of one
length (Xu et al. 2015, section 4.3), every caption once an epoch."""
Grid = Annotated[list[Count], Field(min_length=2, max_length=2, description="a list [rows,columns] of two")]


@dataclass(frozen=True)
class CaptionTextOptions(TokenOptions):
    """How captions become tokens, the tokens ids, and which captions are trained on."""

    minimum_frequency: Count = 1
    max_length: Count | None = 50
    """Training captions with more tokens are left out; None keeps them."""


@dataclass(frozen=True)
class PictureOptions(Options):
    """How a picture is seen, whatever its own size: `decoding.fit`."""

    group: ClassVar[str] = "picture"

    size: Count = 224
    """Pixels of each side of what a network sees."""
    resize: Count | None = None
    """What the shorter side is brought to before `size` by `size` pixels are cut out of the middle; None: `size`."""
