"""Generated letters and digits: the data set `glyphs`, and the sample of the published sets of pictures."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, Unpack

from annotated_types import Ge
from pydantic import Field

from zoo.data.options import LoaderArguments, SampleOptions
from zoo.data.pictures.module import PictureData
from zoo.data.pictures.reading import Picture
from zoo.data.pictures.samples import glyphs
from zoo.data.pictures.samples.glyphs import CHARACTERS, FACTORS, Glyph
from zoo.data.rows import BadRows
from zoo.data.sources import Source, sample_source
from zoo.errors import ConfigError
from zoo.values import hold, refusal

Characters = Annotated[str, Field(pattern=r"^\S+$", description="letters and digits")]
GlyphSide = Annotated[int, Ge(8)]


class GlyphArguments(LoaderArguments, total=False):
    """The arguments of `Glyphs` besides those that it adds."""

    bits: int


class Glyphs(PictureData):
    """Letters and digits of known distribution; see `zoo.data.pictures.samples.glyphs`."""

    name = "glyphs"
    factors = FACTORS

    def __init__(
        self,
        *,
        size: int = 12,
        characters: str | int = CHARACTERS,
        channels: Literal[1, 3] = 1,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[GlyphArguments],
    ) -> None:
        """
        Args:
            size: pixels per side.
            characters: the classes, each a letter or a digit. A configuration reads digits alone as a number.
            channels: 1 for white on black, 3 for inks on papers.
            sample: the numbers of pictures.
            rest: the arguments of `PictureData`.
        """
        hold("data.size", size, GlyphSide)
        characters = str(characters)
        hold("data.characters", characters, Characters)
        hold("data.channels", channels, Literal[1, 3])
        if unknown := [one for one in characters if one not in CHARACTERS]:
            raise ConfigError(
                f"data.characters={characters}: {unknown[0]!r} cannot be drawn; expected some of {CHARACTERS}"
            )
        if len(set(characters)) < len(characters):
            raise refusal("data.characters", characters, "each character once")
        super().__init__(**rest)
        self.size, self.characters, self.channels = size, characters, channels
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> Source:
        return glyph_source(self.sample, self.size, self.characters, self.channels)

    def entropy(self, given: str | None = None) -> float | None:
        return glyphs.entropy(self.size, self.characters, self.channels == 3, self.bits, given)


def glyph_source(
    options: SampleOptions, side: int, characters: str, channels: int, classes: Mapping[str, str] | None = None
) -> Source:
    """Glyphs of `side` by `side` pixels. `classes` gives the name of the class of each character where it is not the
    character itself."""
    arguments: dict[str, Any] = {"side": side, "characters": characters, "coloured": channels == 3}
    source = sample_source(glyphs.generate, options, "pictures", **arguments)
    names = classes or {one: one for one in characters}

    def rows(read: Callable[[BadRows], Iterator[Glyph]], split: str, bad: BadRows) -> Iterator[Picture]:
        for number, one in enumerate(read(bad), 1):
            place = f"{source.place}, {split}, picture {number}"
            factors = one.factors if classes is None else ()
            yield Picture(f"{split} {number}", one.pixels, names[one.character], place, factors)

    splits = {split: partial(rows, read, split) for split, read in source.splits.items()}
    identity = {**source.identity, "classes": dict(names)}
    return replace(source, identity=identity, splits=splits, classes=tuple(names[one] for one in characters))
