"""The keys of `conf/data/*.yaml` that come in groups: how text becomes words, how a corpus is split, how large a sample
is."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from zoo.errors import ConfigError

SENTENCES = ("punkt", "lines")
SUBWORDS = ("bpe", "unigram")
SHARE = "a share between 0 and 1"
TWO_FILES = "a list [source file,target file]"
TOKENIZERS = ("words", "spacy", "whitespace", "characters", *SUBWORDS)


@dataclass(frozen=True)
class Options:
    """A group of keys; `of` takes the mapping that a configuration file holds."""

    group: ClassVar[str]
    """Its key under `data`."""

    @classmethod
    def of(cls, value: Mapping[str, Any] | Self | None) -> Self:
        """The options of a mapping; keys that are left out keep their defaults. Raises ConfigError for a key it does
        not know."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping | None):
            raise ConfigError(f"data.{cls.group}: a group of keys is expected, found {value!r}")
        known = [field.name for field in fields(cls)]
        for key in value or {}:
            if key not in known:
                close = difflib.get_close_matches(str(key), known, 1)
                hint = f"did you mean data.{cls.group}.{close[0]}?" if close else f"there are: {', '.join(known)}"
                raise ConfigError(f"data.{cls.group}.{key}: no such key; {hint}")
        return cls(**{str(key): part for key, part in (value or {}).items()})

    def _check(self, key: str, ok: bool, expected: str) -> None:
        if not ok:
            raise ConfigError(f"data.{self.group}.{key}={getattr(self, key)!r}: {expected} is expected")

    def _whole_number(self, key: str, least: int = 1) -> None:
        value = getattr(self, key)
        whole = isinstance(value, int) and not isinstance(value, bool)
        self._check(key, whole and value >= least, f"a whole number from {least} on")


@dataclass(frozen=True)
class TextOptions(Options):
    """How a text becomes sentences of words, and the words ids."""

    group: ClassVar[str] = "text"

    lower: bool = True
    """Case is dropped."""
    sentences: str = "punkt"
    """`punkt` splits into sentences, `lines` takes one sentence a line."""
    max_sentences: int = 100
    """Sentences of a document that are kept, from its beginning."""
    max_words: int = 100
    """Words of a sentence that are kept, from its beginning."""
    max_word_length: int = 40
    """Letters of a word that are kept."""
    minimum_frequency: int = 5
    """Words that occur less often in the training split are unknown."""

    def __post_init__(self) -> None:
        self._check("lower", isinstance(self.lower, bool), "true or false")
        self._check("sentences", self.sentences in SENTENCES, " or ".join(SENTENCES))
        for key in ("max_sentences", "max_words", "max_word_length", "minimum_frequency"):
            self._whole_number(key)


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
class SplitOptions(Options):
    """Shares of the training examples that become the splits a corpus comes without."""

    group: ClassVar[str] = "split"

    val: float | str | list[str] = 0.1
    test: float | str | list[str] = 0.1
    seed: int = 1
    """Of the drawing. Apart from the seed of a run, so that runs with different seeds are tested on the same
    examples."""

    def __post_init__(self) -> None:
        for key in ("val", "test"):
            self._check(key, _is_share(getattr(self, key)), SHARE)
        self._something_left()

    def _something_left(self) -> None:
        self._whole_number("seed", 0)
        shares = [share for share in (self.val, self.test) if isinstance(share, int | float)]
        if sum(shares) >= 1:
            raise ConfigError(f"data.split: val={self.val} and test={self.test} leave nothing to train on")


@dataclass(frozen=True)
class OwnSplitOptions(SplitOptions):
    """The same for documents of your own, where `val` and `test` may also be the path of a second table, or, in class
    folders, a pattern for the names of the files, such as `cv9*`."""

    def __post_init__(self) -> None:
        for key in ("val", "test"):
            value = getattr(self, key)
            named = isinstance(value, str) and value.strip() != ""
            self._check(
                key,
                named or _is_share(value),
                f"{SHARE}, the path of a table or a pattern of file names",
            )
        self._something_left()

    def named(self) -> dict[str, str]:
        """The splits that are given by a path or a pattern."""
        return {key: value for key in ("val", "test") if isinstance(value := getattr(self, key), str)}


@dataclass(frozen=True)
class OwnPairSplitOptions(SplitOptions):
    """The same for pairs of your own, where `val` and `test` may also be files: the path of a second table, or a list
    of a source and a target file."""

    val: float | str | list[str] = 0.1
    test: float | str | list[str] = 0.1

    def __post_init__(self) -> None:
        for key in ("val", "test"):
            if not _is_share(value := getattr(self, key)):
                paths = [value] if isinstance(value, str) else value
                named = isinstance(paths, list) and all(isinstance(path, str) and path.strip() for path in paths)
                self._check(key, named and len(paths) in (1, 2), f"{SHARE}, a table, or {TWO_FILES}")
        self._something_left()

    def files(self, count: int) -> dict[str, list[str]]:
        """The splits that are given by files, `count` each. Raises ConfigError for another number of them."""
        found = {}
        for key in ("val", "test"):
            if not _is_share(value := getattr(self, key)):
                found[key] = [value] if isinstance(value, str) else list(value)
                self._check(key, len(found[key]) == count, f"{SHARE} or {'a table' if count == 1 else TWO_FILES}")
        return found


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1


@dataclass(frozen=True)
class SampleOptions(Options):
    """How many examples the generator makes. The files in conf/data have sizes of their own."""

    group: ClassVar[str] = "sample"

    train: int = 6000
    val: int = 500
    test: int = 1000
    seed: int = 1
    """Of the generator. Apart from the seed of a run, so that runs with different seeds see the same examples."""

    def __post_init__(self) -> None:
        for key in ("train", "val", "test"):
            self._whole_number(key)
        self._whole_number("seed", 0)

    @property
    def total(self) -> int:
        return self.train + self.val + self.test
