"""The keys of images with captions: how captions become tokens, how pictures are seen, how both become batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from zoo.arguments import Count
from zoo.data.options import Options
from zoo.data.text.options import Language, TokenOptions

Batches = Literal["pictures", "lengths"]
"""`pictures`: a batch is of so many images, each with some of its captions. `lengths`: it is of so many captions of one
length (Xu et al. 2015, section 4.3), every caption once an epoch."""
Grid = Annotated[list[Count], Field(min_length=2, max_length=2, description="a list [rows,columns] of two")]
ColumnName = Annotated[str, Field(pattern=r"\S", description="the name of a column")]
Sides = Annotated[list[Count], Field(min_length=2, max_length=2, description="a list [height,width] of two")]


@dataclass(frozen=True)
class CaptionTextOptions(TokenOptions):
    """How captions become tokens, the tokens ids, and which captions are trained on."""

    language: Language = "en"
    """Whose rules cut `words` and those of `spacy`."""
    punctuation: bool = False
    """Marks such as commas and full stops are tokens; else they are left out, as metrics of captions leave them out.
    For tokenizers of words."""
    minimum_frequency: Count = 1
    max_length: Count | None = 50
    """Training captions with more tokens are left out; None keeps them."""

    @property
    def without_marks(self) -> bool:
        """Tokens are words alone."""
        return not self.punctuation and self.tokenizer in ("words", "spacy", "whitespace")


@dataclass(frozen=True)
class CaptionColumns(Options):
    """Which columns of a table hold captions of your own."""

    group: ClassVar[str] = "columns"

    file: ColumnName = "file"
    """The file of an image."""
    caption: ColumnName = "caption"
    split: ColumnName | None = None
    """train, val or test; None: the column `split`, where there is one, else splits are drawn."""


@dataclass(frozen=True)
class PictureOptions(Options):
    """How a picture is seen, whatever its own size: `zoo.data.images.decoding`."""

    group: ClassVar[str] = "picture"

    size: Count | Sides = 224
    """Pixels of each side of what a network sees, or of its height and its width."""
    resize: Count | None = None
    """What the shorter side is brought to before `size` is cut out of the middle; where `size` is no square, the
    shorter side of a rectangle of its shape that the picture then just covers. None: no larger than `size`."""
    squash: bool = False
    """The whole picture is brought to `size`, whatever becomes of its shape; then nothing is cut off."""
    random_crop: bool = False
    """In training `size` is cut out of any place of the picture that `resize` gave."""
    flip: bool = False
    """In training every other picture is mirrored; not where captions say left and right."""
    max_pixels: Count = 120_000_000
    """Pictures of more are not read: they would fill the memory."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.squash and (self.resize is not None or self.random_crop):
            key = "random_crop" if self.resize is None else "resize"
            raise self.refusal(key, "nothing beside data.picture.squash=true, which cuts nothing off")
        if self.resize is not None and self.resize < min(self.sides):
            raise self.refusal("resize", f"{min(self.sides)} or more, since data.{self.group}.size is cut out of it")
        if self.random_crop and self.resize in (None, min(self.sides)):
            raise self.refusal("random_crop", f"a data.{self.group}.resize above {min(self.sides)}, to cut out of")

    @property
    def sides(self) -> tuple[int, int]:
        """Height and width of what a network sees."""
        return (self.size, self.size) if isinstance(self.size, int) else (self.size[0], self.size[1])

    @property
    def varies(self) -> bool:
        """In training a picture is not seen twice the same."""
        return self.random_crop or self.flip
