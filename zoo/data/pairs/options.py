"""The keys of pairs: how both sides become tokens, which columns hold them, and how pairs of your own are split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, ClassVar

from pydantic import Field

from zoo.arguments import Count
from zoo.data.options import SHARE, Options, Part, SplitOptions, is_share
from zoo.data.text.options import Language, Size, TokenOptions
from zoo.errors import ConfigError

TWO_FILES = "a list [source file,target file]"
FileName = Annotated[str, Field(pattern=r"\S", description="a table")]
Files = Annotated[list[FileName], Field(min_length=1, max_length=2, description=TWO_FILES)]
Sizes = Annotated[
    list[Size], Field(min_length=2, max_length=2, description="for separate vocabularies a list [source,target] of two")
]


@dataclass(frozen=True)
class PairTextOptions(TokenOptions):
    """How the two sides of a pair become tokens, the tokens ids, and which pairs are trained on."""

    minimum_frequency: Count = 2
    vocabulary_size: Size | Sizes | None = None  # type: ignore[assignment]
    """Tokens of each side, or of source and target, the four special ones included, at most; the rarest are unknown.
    None sets no limit to words and 8,000 to subwords."""
    joint: bool = False
    """Both sides share one vocabulary, and subwords are learned from both."""
    max_length: Count | None = 100
    """Training pairs with more tokens on a side are left out; None keeps them."""
    max_ratio: Annotated[float, Field(ge=1)] | None = None
    """Training pairs with more than so many times the tokens of one side on the other are left out; None keeps them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.joint and not isinstance(self.vocabulary_size, int | None):
            raise self.refusal("vocabulary_size", "one whole number, for one vocabulary of both sides")

    @property
    def sizes(self) -> list[int | None]:
        """`vocabulary_size` of source and target."""
        size = self.vocabulary_size
        return [size] * 2 if isinstance(size, int | None) else list(size)


@dataclass(frozen=True)
class OwnPairTextOptions(PairTextOptions):
    """The same for pairs of your own, with their languages."""

    source_language: Language = "en"
    """Of the sources: the rules of `words`, which are those of English where there are none for a language, and of
    `spacy`, which wants one that it knows."""
    target_language: Language = "en"

    def without_languages(self) -> PairTextOptions:
        """The options that all pairs have."""
        return PairTextOptions(**{field.name: getattr(self, field.name) for field in fields(PairTextOptions)})


@dataclass(frozen=True)
class PairColumns(Options):
    """Which columns of a table hold the pairs."""

    group: ClassVar[str] = "columns"

    source: str | None = None
    target: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.source is None) != (self.target is None):
            raise ConfigError("data.columns: give both, data.columns.source=NAME and data.columns.target=NAME")

    def names(self) -> tuple[str, str] | None:
        """The names, None where none are given."""
        return None if self.source is None or self.target is None else (self.source, self.target)


@dataclass(frozen=True)
class OwnPairSplitOptions(SplitOptions):
    """The same for pairs of your own, where `val` and `test` may also be files: the path of a second table, or a list
    of a source and a target file."""

    val: Part | FileName | Files = 0.1  # type: ignore[assignment]
    test: Part | FileName | Files = 0.1  # type: ignore[assignment]

    def advice(self, missing: Sequence[str], noun: str) -> str:
        return f"give a file of its own as data.split.{missing[-1]}, or more {noun}"

    def files(self, count: int) -> dict[str, list[str]]:
        """The splits that are given by files, `count` each. Raises ConfigError for another number of them."""
        found = {}
        for key in ("val", "test"):
            if not is_share(value := getattr(self, key)):
                found[key] = [value] if isinstance(value, str) else list(value)
                if len(found[key]) != count:
                    raise self.refusal(key, f"{SHARE} or {'a table' if count == 1 else TWO_FILES}")
        return found
