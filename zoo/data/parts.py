"""The kinds of parts that an example is declared of.

A family lists its parts. Each kind defines how a column becomes ids, which columns are stored with it, how stored rows
become padded tensors, and how a split is described.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.notes import majority, mostly_unknown, uncut
from zoo.data.stored import histogram, list_array, numbers_of, offsets
from zoo.data.text.options import TokenOptions
from zoo.data.text.vocabulary import END, READ_SPECIAL, UNKNOWN, WRITTEN_SPECIAL, Vocabulary

if TYPE_CHECKING:
    import datasets


class Padded(NamedTuple):
    """Rows of unequal length in one tensor."""

    values: Tensor  # (B, T) or (B, S, T), 0 at padding
    mask: Tensor  # The shape of `values`, True at real positions


class Ragged(NamedTuple):
    """Rows of unequal length, in sequence."""

    values: NDArray[Any]
    """(N,) the values of all rows."""
    lengths: NDArray[np.int64]
    """(B,) the number of values in each row, or of rows of rows in each of the inner ones."""


class Known(NamedTuple):
    """The vocabularies and classes, which turn names into numbers."""

    vocabularies: Mapping[str, Vocabulary]  # By the name of the part
    classes: Sequence[str]


@dataclass(frozen=True)
class Part(ABC):
    """One part of an example, by the name of its column."""

    name: str

    def read(self, evaluated: bool) -> bool:
        """Whether batches of an evaluation, or of training, have this part."""
        return True

    def stored(self, evaluated: bool) -> bool:
        """Whether a split stores this part. The training split also stores parts for `overfit_batches`."""
        return True

    def encoded(self, column: pa.Array, known: Known) -> dict[str, Any]:
        """The columns to store for a column of tokens or raw values."""
        return {self.name: column}

    @abstractmethod
    def collated(self, column: pa.Array, before: Mapping[str, Any]) -> Any:
        """The value of this part in a batch, from a stored column; `before` holds the parts declared earlier."""

    def facts(self, split: datasets.Dataset, known: Known) -> dict[str, Any]:
        """The description of this part in one stored split."""
        return {}

    def notes(self, facts: Mapping[str, Any], text: TokenOptions, noun: str) -> list[str]:
        """Notes for a person on the training split, which `facts` describes."""
        return []


@dataclass(frozen=True)
class Words(Part):
    """Tokens, or with `levels=2` sentences of tokens: ids of a vocabulary."""

    vocabulary: str = "words"
    """Parts that name the same vocabulary share it."""
    levels: int = 1
    special: tuple[str, ...] = READ_SPECIAL
    """The special tokens of the vocabulary. If they include the end, each row gets one."""
    spelled: tuple[str, ...] = ()
    """Special tokens that a text may contain as words, such as the blank of a cloze question."""
    padded: bool = True
    lengths: str = ""
    """The name of the lengths in descriptions; empty: they are not described."""
    outer: str = ""
    """The name of the numbers of sentences in descriptions."""
    unknown: str = "unknown_rate"
    """The name of the share of unknown tokens. Parts with the same name are counted together."""
    unit: str = ""
    """The name of a text, such as "a training sentence", for a note on texts that the tokenizer did not cut."""

    def __post_init__(self) -> None:
        if self.unit and not self.lengths:
            raise ValueError(f"{self.name}: `unit` needs `lengths`, which show whether a text was cut")

    @property
    def written(self) -> bool:
        """Whether networks write these tokens, so that each row gets an end."""
        return self.special == WRITTEN_SPECIAL

    def encoded(self, column: pa.Array, known: Known) -> dict[str, Any]:
        values, lengths = flattened(column)
        ids = known.vocabularies[self.name].ids(values.cast(pa.string()))
        for token in self.spelled:
            ids = pc.if_else(pc.equal(values, token), pa.scalar(self.special.index(token), ids.type), ids)
        ends = offsets(lengths[-1])
        for level in reversed(lengths[:-1]):
            ends = ends[offsets(level)]
        unknown = np.diff(offsets(pc.equal(ids, UNKNOWN))[ends])
        outer = {f"rows_{self.name}": pa.array(lengths[0], pa.int32())} if self.levels > 1 else {}
        return {
            self.name: nested(ids, lengths),
            f"num_{self.name}": pa.array(np.diff(ends), pa.int32()),
            f"unknown_{self.name}": pa.array(unknown, pa.int32()),
            **outer,
        }

    def collated(self, column: pa.Array, before: Mapping[str, Any]) -> Padded | Ragged:
        values, lengths = flattened(column)
        if not self.padded:
            return Ragged(np.asarray(values).astype(np.int64), lengths[-1])
        return padded(np.asarray(values), lengths, END if self.written else None)

    def facts(self, split: datasets.Dataset, known: Known) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.outer:
            found[self.outer] = histogram(numbers_of(split, f"rows_{self.name}"))
        if self.lengths:
            found[self.lengths] = histogram(numbers_of(split, f"num_{self.name}"))
        return found

    def notes(self, facts: Mapping[str, Any], text: TokenOptions, noun: str) -> list[str]:
        found: list[str] = []
        if self.unit:
            rows = facts[self.outer]["mean"] if self.outer else 1
            found += uncut(self.unit, facts[self.lengths]["mean"] / max(1, rows), text.tokenizer)
        return found + mostly_unknown(facts[self.unknown])


@dataclass(frozen=True)
class Along(Part):
    """One value for each token of the part `words`."""

    words: str = "words"
    empty: Any = False  # The value at padding
    training: bool = True  # Whether training batches have it

    def read(self, evaluated: bool) -> bool:
        return evaluated or self.training

    def collated(self, column: pa.Array, before: Mapping[str, Any]) -> Tensor:
        mask = before[self.words].mask
        grid = torch.full(mask.shape, self.empty)
        grid[mask] = torch.from_numpy(np.array(flattened(column)[0])).to(grid.dtype)
        return grid


@dataclass(frozen=True)
class Class(Part):
    """The name of the class of an example, or a list of names. They become numbers in the order of the logits."""

    missing: int = -1  # The number of a missing name

    def encoded(self, column: pa.Array, known: Known) -> dict[str, Any]:
        values, lengths = flattened(column)
        numbers = pc.index_in(values.cast(pa.string()), pa.array(known.classes, pa.string()))
        return {self.name: nested(pc.fill_null(numbers, self.missing).cast(pa.int32()), lengths)}

    def collated(self, column: pa.Array, before: Mapping[str, Any]) -> Tensor | Ragged:
        values, lengths = flattened(column)
        numbers = np.asarray(values).astype(np.int64)
        return Ragged(numbers, lengths[0]) if lengths else torch.from_numpy(numbers)

    def facts(self, split: datasets.Dataset, known: Known) -> dict[str, Any]:
        if pa.types.is_list(split.data.schema.field(self.name).type):
            return {}
        counts = np.bincount(numbers_of(split, self.name), minlength=len(known.classes))
        return {"classes": dict(zip(known.classes, counts.tolist(), strict=True))}

    def notes(self, facts: Mapping[str, Any], text: TokenOptions, noun: str) -> list[str]:
        classes = {name: count for name, count in facts.get("classes", {}).items() if count}
        return majority(classes, noun) if classes else []


@dataclass(frozen=True)
class Number(Part):
    """A number per example."""

    kind: Any = np.int64

    def collated(self, column: pa.Array, before: Mapping[str, Any]) -> Tensor:
        return torch.from_numpy(column.to_numpy(zero_copy_only=False).astype(self.kind))


@dataclass(frozen=True)
class Numbers(Part):
    """A list of numbers per example."""

    training: bool = True  # Whether training batches have it

    def read(self, evaluated: bool) -> bool:
        return evaluated or self.training

    def collated(self, column: pa.Array, before: Mapping[str, Any]) -> Ragged:
        values, lengths = flattened(column)
        return Ragged(values.to_numpy(zero_copy_only=False), lengths[-1])


@dataclass(frozen=True)
class Shown(Part):
    """A part that is stored as it was written, for evaluation."""

    training: bool = False  # Whether the training split stores it, too

    def read(self, evaluated: bool) -> bool:
        return evaluated

    def stored(self, evaluated: bool) -> bool:
        return evaluated or self.training

    def collated(self, column: pa.Array, before: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(column.to_pylist())


@dataclass(frozen=True)
class Stored(Part):
    """A column for descriptions, or for a task that reads it from the disk. Batches do not have it."""

    def read(self, evaluated: bool) -> bool:
        return False

    def collated(self, column: pa.Array, before: Mapping[str, Any]) -> Any:
        return None


def lowered(words: pa.Array) -> pa.Array:
    """Words in small letters, by the rules of Python."""
    found = words.dictionary_encode()
    return pa.array([word.lower() for word in found.dictionary.to_pylist()], pa.string()).take(found.indices)


def flattened(column: pa.Array) -> tuple[pa.Array, list[NDArray[np.int64]]]:
    """The values of a column of nested lists, and the lengths of each level, the outermost first."""
    lengths = []
    while pa.types.is_list(column.type):
        lengths.append(np.asarray(pc.list_value_length(column)).astype(np.int64))
        column = column.flatten()
    return column, lengths


def nested(values: pa.Array, lengths: Sequence[NDArray[np.int64]]) -> pa.Array:
    """The inverse of `flattened`."""
    for level in reversed(lengths):
        values = list_array(values, level)
    return values


def gridded(values: NDArray[Any], mask: NDArray[np.bool_]) -> Tensor:
    """(*mask.shape, ...) `values` (N, ...) at the N places of a mask, 0 elsewhere."""
    grid = np.zeros((*mask.shape, *values.shape[1:]), values.dtype)
    grid[mask] = values
    return torch.from_numpy(grid)


def padded(values: NDArray[Any], lengths: Sequence[NDArray[np.int64]], end: int | None = None) -> Padded:
    """Pad N values to (B, T), or with two levels of lengths to (B, S, T). `end` is put after each row of (B, T)."""
    inner = lengths[-1]
    if len(lengths) > 1:
        sentences = np.arange(max(1, lengths[0].max(initial=0))) < lengths[0][:, None]
        inner = np.zeros(sentences.shape, np.int64)
        inner[sentences] = lengths[1]
    width = inner.max(initial=0) + 1 if end is not None else max(1, inner.max(initial=0))
    step = np.arange(width)
    grid = np.zeros((*inner.shape, width), np.int64)
    mask = step < inner[..., None]
    grid[mask] = values
    if end is not None:
        np.put_along_axis(grid, inner[..., None], end, -1)
        mask = step <= inner[..., None]
    return Padded(torch.from_numpy(grid), torch.from_numpy(mask))
