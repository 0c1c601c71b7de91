"""The groups of keys that data of every family have: how a corpus is split, how large a sample is."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from zoo.errors import ConfigError

SHARE = "a share between 0 and 1"


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
            self._check(key, is_share(getattr(self, key)), SHARE)
        self._something_left()

    def _something_left(self) -> None:
        self._whole_number("seed", 0)
        shares = [share for share in (self.val, self.test) if isinstance(share, int | float)]
        if sum(shares) >= 1:
            raise ConfigError(f"data.split: val={self.val} and test={self.test} leave nothing to train on")


def is_share(value: Any) -> bool:
    """Whether `value` is a number between 0 and 1, both left out."""
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
