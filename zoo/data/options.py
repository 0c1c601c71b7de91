"""The groups of keys that data of every family have: how batches are made, how a corpus is split, how large a sample
is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal, Self, TypedDict, get_type_hints

from pydantic import Field

from zoo.arguments import Count, Natural
from zoo.data.encodings import UTF8, check_encoding
from zoo.errors import ConfigError, did_you_mean
from zoo.values import GROUP, hold, refusal

SHARE = "a share between 0 and 1"
Part = Annotated[float, Field(gt=0, lt=1, description=SHARE)]
"""Of the examples: some of them, and not all."""


@dataclass(frozen=True)
class Options:
    """A group of keys; `of` takes the mapping that a configuration file holds. The annotations say what the values may
    be. Raises ConfigError for others."""

    group: ClassVar[str]
    """Its key under `data`."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self), include_extras=True)
        for key in (field.name for field in fields(self)):
            hold(f"data.{self.group}.{key}", getattr(self, key), hints[key])

    @classmethod
    def of(cls, value: Mapping[str, Any] | Self | None) -> Self:
        """The options of a mapping; keys that are left out keep their defaults. Raises ConfigError for a key it does
        not know."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping | None):
            raise refusal(f"data.{cls.group}", value, GROUP)
        known = [field.name for field in fields(cls)]
        for key in value or {}:
            if key not in known:
                hint = did_you_mean(key, known, f"data.{cls.group}.")
                raise ConfigError(f"data.{cls.group}.{key}: there is no such key; {hint}")
        return cls(**{str(key): part for key, part in (value or {}).items()})

    def refusal(self, key: str, expected: str) -> ConfigError:
        """What to say of a value that cannot be."""
        return refusal(f"data.{self.group}.{key}", getattr(self, key), expected)


@dataclass(frozen=True)
class LoaderOptions(Options):
    """How examples become batches. The files in conf/data have sizes of their own."""

    group: ClassVar[str] = "loader"

    batch_size: Count = 64
    """Examples in a batch, over all processes."""
    max_tokens: Count | None = None
    """Words or tokens in a batch, over all processes; takes the place of batch_size."""
    num_workers: Natural = 0
    """Processes that make batches beside the one that trains."""
    on_bad_row: Literal["error", "skip"] = "error"
    """`error` stops at a row that cannot be used, `skip` counts it and goes on."""
    encoding: str = UTF8
    """The encoding of text files, such as utf-8, cp1252, latin-1, utf-16 or gb18030."""
    cache_dir: str | None = None
    """Folder of the prepared data; None: the environment's ZOO_CACHE, else ~/.cache/attention-zoo."""
    seed: Natural = 0
    """The seed of the order in which examples are seen, and of the training examples of an endless stream."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_encoding(self.encoding)

    @property
    def limit(self) -> dict[str, int]:
        """The one of `batch_size` and `max_tokens` that holds."""
        return {"batch_size": self.batch_size} if self.max_tokens is None else {"max_tokens": self.max_tokens}


class LoaderArguments(TypedDict, total=False):
    """The argument that the constructor of every data module takes."""

    loader: Mapping[str, Any] | LoaderOptions | None


@dataclass(frozen=True)
class SplitOptions(Options):
    """Shares of the training examples that become the splits a corpus comes without."""

    group: ClassVar[str] = "split"

    val: Part = 0.1
    test: Part = 0.1
    seed: Natural = 1
    """The seed of the drawing. It is apart from the seed of a run, so that runs with different seeds are tested on the
    same examples."""

    def __post_init__(self) -> None:
        super().__post_init__()
        shares = [share for share in (self.val, self.test) if is_share(share)]
        if sum(shares) >= 1:
            raise ConfigError(f"data.split: val={self.val} and test={self.test} leave nothing to train on")

    def advice(self, missing: Sequence[str], noun: str) -> str:
        """What to try where there are too few training examples to draw the `missing` splits from them."""
        return f"give more {noun}, or a smaller share as {' and '.join(f'data.split.{name}' for name in missing)}"


def is_share(value: Any) -> bool:
    """Whether what an option holds is a share, and no file or pattern."""
    return isinstance(value, int | float)


@dataclass(frozen=True)
class SampleOptions(Options):
    """How many examples the generator makes. The files in conf/data have sizes of their own."""

    group: ClassVar[str] = "sample"

    train: Count = 6000
    val: Count = 500
    test: Count = 1000
    seed: Natural = 1
    """The seed of the generator. It is apart from the seed of a run, so that runs with different seeds see the same
    examples."""

    @property
    def total(self) -> int:
        return self.train + self.val + self.test
