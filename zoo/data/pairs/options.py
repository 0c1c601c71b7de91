"""The keys of pairs: how both sides become tokens, their columns, and how pairs of your own are split."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from zoo.arguments import Count
from zoo.data.options import SHARE, Options, OwnSplitOptions, Part
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
    """The most tokens of each side, or of source and target, including the four special ones; the rarest are unknown.
    None: no limit for words, 8,000 for subwords."""
    joint: bool = False
    """Whether both sides share one vocabulary, and subwords are learned from both."""
    max_length: Count | None = 100
    """Training pairs with more tokens on a side are left out; None keeps them."""
    max_ratio: Annotated[float, Field(ge=1)] | None = None
    """Training pairs are left out if one side has more than this many times the tokens of the other; None keeps
    them."""

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
    """How pairs of your own become tokens, with their languages."""

    source_language: Language = "en"
    """The language of the sources, for the rules of `words` and `spacy`. `words` uses the rules of English for a
    language without rules; `spacy` requires a known one."""
    target_language: Language = "en"


@dataclass(frozen=True)
class PairColumns(Options):
    """The columns of a table of pairs."""

    group: ClassVar[str] = "columns"

    source: str | None = None
    target: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.source is None) != (self.target is None):
            raise ConfigError("data.columns: give both, data.columns.source=NAME and data.columns.target=NAME")

    def names(self) -> tuple[str, str] | None:
        """The names, or None if none are set."""
        return None if self.source is None or self.target is None else (self.source, self.target)


@dataclass(frozen=True)
class OwnPairSplitOptions(OwnSplitOptions):
    """Shares for pairs of your own. `val` and `test` may also be files: the path of a second table, or a list of a
    source and a target file."""

    val: Part | FileName | Files = 0.1  # type: ignore[assignment]
    test: Part | FileName | Files = 0.1  # type: ignore[assignment]

    def files(self, count: int) -> dict[str, list[str]]:
        """The splits that are given by `count` files each. Raises ConfigError for another number of them."""
        found = {key: [value] if isinstance(value, str) else list(value) for key, value in self.named().items()}
        for key, files in found.items():
            if len(files) != count:
                raise self.refusal(key, f"{SHARE} or {'a table' if count == 1 else TWO_FILES}")
        return found
