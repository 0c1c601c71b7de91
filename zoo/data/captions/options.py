"""The keys of images with captions: how captions become tokens, and how pictures are prepared."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from zoo.arguments import Count
from zoo.data.options import ColumnName, Options
from zoo.data.text.options import Language, TokenOptions

Grid = Annotated[list[Count], Field(min_length=2, max_length=2, description="a list [rows,columns] of two")]
Sides = Annotated[list[Count], Field(min_length=2, max_length=2, description="a list [height,width] of two")]


@dataclass(frozen=True)
class CaptionTextOptions(TokenOptions):
    """How captions become tokens, the tokens ids, and which captions are trained on."""

    language: Language = "en"
    """The language whose rules `words` and `spacy` follow."""
    punctuation: bool = False
    """Whether marks such as commas and full stops are tokens, for tokenizers of words. Metrics of captions leave them
    out."""
    minimum_frequency: Count = 1
    max_length: Count | None = 50
    """The most tokens of a training caption; longer ones are left out. None: all captions are kept."""

    @property
    def without_marks(self) -> bool:
        """Whether all tokens are words."""
        return not self.punctuation and self.tokenizer in ("words", "spacy", "whitespace")


@dataclass(frozen=True)
class CaptionColumns(Options):
    """Which columns of a table hold captions of your own."""

    group: ClassVar[str] = "columns"

    file: ColumnName = "file"
    """The file of an image."""
    caption: ColumnName = "caption"
    split: ColumnName | None = None
    """train, val or test; None: the column `split`, if it exists, else splits are drawn."""


@dataclass(frozen=True)
class PictureOptions(Options):
    """How a picture of any size is prepared for a network: `zoo.data.captions.decoding`."""

    group: ClassVar[str] = "picture"

    size: Count | Sides = 224
    """Pixels per side after preparing, or height and width."""
    resize: Count | None = None
    """Length of the shorter side before `size` is cropped out of the middle; None: as small as `size` allows. If `size`
    is not square, it is the shorter side of a rectangle of its shape that the picture just covers."""
    squash: bool = False
    """Whether the whole picture is scaled to `size` without cropping, which changes its shape."""
    random_crop: bool = False
    """Whether training crops at a random position."""
    flip: bool = False
    """Whether training mirrors half of the pictures; wrong if captions mention left and right."""
    max_pixels: Count = 120_000_000
    """The most pixels of a file; larger files are not read, because they would fill the memory."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.squash and (self.resize is not None or self.random_crop):
            key = "random_crop" if self.resize is None else "resize"
            raise self.refusal(key, "nothing beside data.picture.squash=true, which does not crop")
        if self.resize is not None and self.resize < min(self.sides):
            raise self.refusal("resize", f"{min(self.sides)} or more, since data.{self.group}.size is cut out of it")
        if self.random_crop and self.resize in (None, min(self.sides)):
            raise self.refusal("random_crop", f"a data.{self.group}.resize above {min(self.sides)}, to cut out of")

    @property
    def sides(self) -> tuple[int, int]:
        """Height and width of a prepared picture."""
        return (self.size, self.size) if isinstance(self.size, int) else (self.size[0], self.size[1])

    @property
    def varies(self) -> bool:
        """Whether a picture changes from epoch to epoch."""
        return self.random_crop or self.flip
