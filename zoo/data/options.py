"""The keys of `conf/data/*.yaml` that come in groups: how text becomes words, how a corpus is split, how large a sample
is."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from zoo.errors import ConfigError

SENTENCES = ("punkt", "lines")


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
class SplitOptions(Options):
    """Shares of the training documents that become the splits a corpus comes without."""

    group: ClassVar[str] = "split"

    val: float | str = 0.1
    test: float | str = 0.1
    seed: int = 1
    """Of the drawing. Apart from the seed of a run, so that runs with different seeds are tested on the same
    documents."""

    def __post_init__(self) -> None:
        for key in ("val", "test"):
            self._check(key, _is_share(getattr(self, key)), "a share between 0 and 1")
        self._something_left()

    def _something_left(self) -> None:
        self._whole_number("seed", 0)
        shares = [share for share in (self.val, self.test) if not isinstance(share, str)]
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
                "a share between 0 and 1, the path of a table or a pattern of file names",
            )
        self._something_left()

    def named(self) -> dict[str, str]:
        """The splits that are given by a path or a pattern."""
        return {key: value for key in ("val", "test") if isinstance(value := getattr(self, key), str)}


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1


@dataclass(frozen=True)
class SampleOptions(Options):
    """How many documents the generator makes."""

    group: ClassVar[str] = "sample"

    train: int = 6000
    val: int = 500
    test: int = 1000
    seed: int = 1
    """Of the generator. Apart from the seed of a run, so that runs with different seeds see the same documents."""

    def __post_init__(self) -> None:
        for key in ("train", "val", "test"):
            self._whole_number(key)
        self._whole_number("seed", 0)

    @property
    def total(self) -> int:
        return self.train + self.val + self.test
