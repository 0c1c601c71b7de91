"""The groups of keys that data of every family have: for batches, for splits, and for the size of a sample."""

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
"""A share of the examples: some of them, and not all."""
FileName = Annotated[str, Field(pattern=r"\S", description="a file")]
ColumnName = Annotated[str, Field(pattern=r"\S", description="the name of a column")]


@dataclass(frozen=True)
class Options:
    """A group of keys. The annotations define the allowed values; raises ConfigError for others."""

    group: ClassVar[str]
    """Its key under `data`."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self), include_extras=True)
        for key in (field.name for field in fields(self)):
            hold(f"data.{self.group}.{key}", getattr(self, key), hints[key])

    @classmethod
    def of(cls, value: Mapping[str, Any] | Self | None) -> Self:
        """The options of a mapping; missing keys keep their defaults. Raises ConfigError for an unknown key."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping | None):
            raise refusal(f"data.{cls.group}", value, GROUP)
        known = [field.name for field in fields(cls)]
        for key in value or {}:
            if key not in known:
                hint = did_you_mean(key, known, f"data.{cls.group}.")
                raise ConfigError(f"data.{cls.group}.{key}: unknown key; {hint}")
        return cls(**{str(key): part for key, part in (value or {}).items()})

    def refusal(self, key: str, expected: str) -> ConfigError:
        """The error for a value that is not allowed."""
        return refusal(f"data.{self.group}.{key}", getattr(self, key), expected)


@dataclass(frozen=True)
class LoaderOptions(Options):
    """How examples become batches. The files in conf/data set sizes of their own."""

    group: ClassVar[str] = "loader"

    batch_size: Count = 64
    """Examples in a batch, over all processes."""
    max_tokens: Count | None = None
    """Words or tokens in a batch, over all processes; replaces batch_size."""
    num_workers: Natural = 0
    """Processes that make batches while another one trains."""
    on_bad_row: Literal["error", "skip"] = "error"
    """`error` stops at a row that cannot be used, `skip` counts it and continues."""
    encoding: str = UTF8
    """The encoding of text files, such as utf-8, cp1252, latin-1, utf-16 or gb18030."""
    cache_dir: str | None = None
    """Folder of the prepared data; None: the environment's ZOO_CACHE, else ~/.cache/attention-zoo."""
    seed: Natural = 0
    """The seed of the order of the examples, and of the training examples of an endless stream."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_encoding(self.encoding)

    @property
    def limit(self) -> dict[str, int]:
        """The limit that applies: `batch_size` or `max_tokens`."""
        return {"batch_size": self.batch_size} if self.max_tokens is None else {"max_tokens": self.max_tokens}


class LoaderArguments(TypedDict, total=False):
    """The argument that the constructor of every data module takes."""

    loader: Mapping[str, Any] | LoaderOptions | None


@dataclass(frozen=True)
class SplitOptions(Options):
    """Shares of the training examples, for the splits that a corpus does not have."""

    group: ClassVar[str] = "split"

    val: Part = 0.1
    test: Part = 0.1
    seed: Natural = 1
    """The seed that draws the splits. The seed of a run does not change them, so that all runs have the same test."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(share for share in (self.val, self.test) if is_share(share)) >= 1:
            raise ConfigError(f"data.split: val={self.val} and test={self.test} leave nothing to train on")

    def advice(self, missing: Sequence[str], noun: str) -> str:
        """Advice if there are too few training examples to draw the `missing` splits from them."""
        return f"use more {noun}, or set a smaller share as {' and '.join(f'data.split.{name}' for name in missing)}"

    def named(self) -> dict[str, Any]:
        """The splits that a path, a list of paths or a pattern gives, in families that allow it."""
        return {key: value for key in ("val", "test") if not is_share(value := getattr(self, key))}


def is_share(value: Any) -> bool:
    """Whether the value of a split is a share, and not a file or a pattern."""
    return isinstance(value, int | float)


@dataclass(frozen=True)
class OwnSplitOptions(SplitOptions):
    """Shares of your own examples; `val` and `test` may also be the path of a second file."""

    another: ClassVar[str] = "a separate file"
    """The value that gives a split its own examples, for messages."""

    val: Part | FileName = 0.1  # type: ignore[assignment]
    test: Part | FileName = 0.1  # type: ignore[assignment]

    def advice(self, missing: Sequence[str], noun: str) -> str:
        return f"set {self.another} as data.split.{missing[-1]}, or use more {noun}"


@dataclass(frozen=True)
class SampleOptions(Options):
    """How many examples the generator makes. The files in conf/data set sizes of their own."""

    group: ClassVar[str] = "sample"

    train: Count = 6000
    val: Count = 500
    test: Count = 1000
    seed: Natural = 1
    """The seed of the generator. The seed of a run does not change the examples."""

    @property
    def total(self) -> int:
        return self.train + self.val + self.test
