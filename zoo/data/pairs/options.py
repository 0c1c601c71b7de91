"""The keys of pairs: how both sides become tokens, which columns hold them, and how pairs of your own are split."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from zoo.data.options import SHARE, Options, SplitOptions, is_share
from zoo.errors import ConfigError

SUBWORDS = ("bpe", "unigram")


TWO_FILES = "a list [source file,target file]"


TOKENIZERS = ("words", "spacy", "whitespace", "characters", *SUBWORDS)


@dataclass(frozen=True)
class PairTextOptions(Options):
    """How the two sides of a pair become tokens, the tokens ids, and which pairs are trained on."""

    group: ClassVar[str] = "text"

    tokenizer: str = "words"
    """`words` by the rules of Moses for the language, `spacy` by spaCy's, `whitespace`, `characters`, or subwords that
    are learned from the training pairs, `bpe` or `unigram`."""
    lower: bool = True
    """Case is dropped."""
    minimum_frequency: int = 2
    """Tokens that occur less often in the training pairs are unknown; not for subwords."""
    vocabulary_size: int | list[int] | None = None
    """Tokens of each side, or of source and target, the four special ones included, at most; the rarest are unknown.
    None sets no limit to words and 8,000 to subwords."""
    joint: bool = False
    """Both sides share one vocabulary, and subwords are learned from both."""
    max_length: int | None = 100
    """Training pairs with more tokens on a side are left out; None keeps them."""
    max_ratio: float | None = None
    """Training pairs with more than so many times the tokens of one side on the other are left out; None keeps them."""

    def __post_init__(self) -> None:
        self._check("tokenizer", self.tokenizer in TOKENIZERS, ", ".join(TOKENIZERS[:-1]) + f" or {TOKENIZERS[-1]}")
        for key in ("lower", "joint"):
            self._check(key, isinstance(getattr(self, key), bool), "true or false")
        self._whole_number("minimum_frequency")
        size = self.vocabulary_size
        sizes = size if isinstance(size, list) else [size]
        whole = all(isinstance(part, int) and not isinstance(part, bool) and part >= 6 for part in sizes)
        one = not isinstance(size, list) or (len(size) == 2 and not self.joint)
        expected = "a whole number from 6 on, for separate vocabularies also a list [source,target] of two,"
        self._check("vocabulary_size", size is None or (whole and one), expected)
        if self.max_length is not None:
            self._whole_number("max_length")
        ratio = self.max_ratio
        number = isinstance(ratio, int | float) and not isinstance(ratio, bool)
        self._check("max_ratio", ratio is None or (number and ratio >= 1), "null or a number from 1 on")

    @property
    def sizes(self) -> list[int | None]:
        """`vocabulary_size` of source and target."""
        return list(self.vocabulary_size) if isinstance(self.vocabulary_size, list) else [self.vocabulary_size] * 2

    @property
    def subwords(self) -> bool:
        """Tokens are learned from the training pairs."""
        return self.tokenizer in SUBWORDS


@dataclass(frozen=True)
class OwnPairTextOptions(PairTextOptions):
    """The same for pairs of your own, with their languages."""

    source_language: str = "en"
    """Of the sources: the rules of `words`, which are those of English where there are none for a language, and of
    `spacy`, which wants one that it knows."""
    target_language: str = "en"

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("source_language", "target_language"):
            value = getattr(self, key)
            self._check(key, isinstance(value, str) and value != "", "the code of a language, such as de,")

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
        for key in ("source", "target"):
            self._check(key, isinstance(getattr(self, key), str | None), "the name of a column")
        if (self.source is None) != (self.target is None):
            raise ConfigError("data.columns: give both, data.columns.source=NAME and data.columns.target=NAME")

    def names(self) -> tuple[str, str] | None:
        """The names, None where none are given."""
        return None if self.source is None or self.target is None else (self.source, self.target)


@dataclass(frozen=True)
class OwnPairSplitOptions(SplitOptions):
    """The same for pairs of your own, where `val` and `test` may also be files: the path of a second table, or a list
    of a source and a target file."""

    val: float | str | list[str] = 0.1
    test: float | str | list[str] = 0.1

    def __post_init__(self) -> None:
        for key in ("val", "test"):
            if not is_share(value := getattr(self, key)):
                paths = [value] if isinstance(value, str) else value
                named = isinstance(paths, list) and all(isinstance(path, str) and path.strip() for path in paths)
                self._check(key, named and len(paths) in (1, 2), f"{SHARE}, a table, or {TWO_FILES}")
        self._something_left()

    def files(self, count: int) -> dict[str, list[str]]:
        """The splits that are given by files, `count` each. Raises ConfigError for another number of them."""
        found = {}
        for key in ("val", "test"):
            if not is_share(value := getattr(self, key)):
                found[key] = [value] if isinstance(value, str) else list(value)
                self._check(key, len(found[key]) == count, f"{SHARE} or {'a table' if count == 1 else TWO_FILES}")
        return found
