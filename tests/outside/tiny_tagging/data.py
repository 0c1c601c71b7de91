"""Sequences of letters. A letter is tagged `again` if it occurs earlier in the sequence, else `new`."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import datasets
import numpy as np
import pyarrow as pa
import torch

from tiny_tagging.batch import TaggingBatch
from tiny_tagging.spec import TaggingSpec
from zoo.data.cache import steps_beside
from zoo.data.encoder import Encoder
from zoo.data.notes import key, repeated
from zoo.data.options import LoaderOptions, SampleOptions
from zoo.data.order import Nouns
from zoo.data.prepared import PreparedData
from zoo.data.rows import BadRows
from zoo.data.sources import Source, sample_source
from zoo.data.stored import Rows, StoredSplit, histogram, numbers_of, save, write_rows

LETTERS = "abcdefghijkl"
TAGS = ("new", "again")
FORMAT = 2
SEQUENCES = "sequences"
SCHEMA = pa.schema({"symbols": pa.list_(pa.int32()), "tags": pa.list_(pa.int32()), "length": pa.int32()})


class Tagged(NamedTuple):
    """One generated sequence."""

    symbols: str
    tags: list[int]


def generate(count: int, *, seed: int) -> Iterator[Tagged]:
    """`count` sequences of 2 to 9 letters; number i depends on `seed` and i alone."""
    for index in range(count):
        draw = random.Random(f"repeats {seed} {index}")
        symbols = "".join(draw.choices(LETTERS, k=draw.randint(2, 9)))
        yield Tagged(symbols, [int(letter in symbols[:at]) for at, letter in enumerate(symbols)])


class TaggingEncoder(Encoder):
    """Words of letters to batches; all that a prediction needs of the data."""

    def __init__(self, letters: str = LETTERS) -> None:
        self.letters = letters

    def display(self, text: str) -> list[str]:
        """The symbols of an input."""
        return list(text)

    def ids(self, text: str) -> list[int]:
        """Ids from 1. 0 is padding, and an unknown letter is read as the first one."""
        return [max(self.letters.find(letter), 0) + 1 for letter in text]

    def __call__(self, texts: Sequence[str]) -> TaggingBatch:
        """A batch without tags, one sequence a text."""
        return TaggingBatch.of(_padded([self.ids(text) for text in texts]))

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""
        return {"letters": self.letters}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> TaggingEncoder:
        """The encoder that `state` came from."""
        return cls(state["letters"])


class Repeats(PreparedData):
    """Generated sequences with their tags."""

    name = "repeats"
    tasks: ClassVar[tuple[str, ...]] = ("tagging",)
    nouns: ClassVar[Nouns] = Nouns("sequences", "symbols")
    spec: TaggingSpec
    encoder: TaggingEncoder

    def __init__(
        self,
        *,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        super().__init__(loader=loader)
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> Source:
        return sample_source(generate, self.sample, "sequences")

    def _facts(self, source: Source) -> dict[str, Any]:
        return {"format": FORMAT}

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        encoder, splits = TaggingEncoder(), {}
        with steps_beside(folder) as steps:
            for name, read in source.splits.items():
                rows = (
                    {"symbols": encoder.ids(row.symbols), "tags": row.tags, "length": len(row.symbols)}
                    for row in read(BadRows())
                )
                write_rows(steps / f"{name}.arrow", SCHEMA, rows, "sequences")
                splits[name] = datasets.Dataset.from_file(str(steps / f"{name}.arrow"))
            save(splits, folder / SEQUENCES)
            described_splits = {name: described(part) for name, part in splits.items()}
            keys = {name: np.fromiter(map(key, part["symbols"]), np.int64) for name, part in splits.items()}
        first = generate(3, seed=self.sample.seed)
        return {
            "source": source.description.replace("{count}", f"{sum(map(len, splits.values())):,}"),
            "splits": described_splits,
            "examples": [{"symbols": one.symbols, "tags": " ".join(TAGS[tag] for tag in one.tags)} for one in first],
            "notes": repeated(keys, self.nouns.examples),
        }

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        self.encoder = TaggingEncoder()
        self.spec = TaggingSpec(symbols=len(LETTERS) + 1, tags=TAGS)
        stored = datasets.load_from_disk(folder / SEQUENCES)
        return {
            name: StoredSplit(part, ("symbols", "tags"), numbers_of(part, "length")) for name, part in stored.items()
        }

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return collate

    def _summary(self, about: Mapping[str, Any]) -> list[str]:
        sizes = ", ".join(f"{name} {part['sequences']:,}" for name, part in about["splits"].items())
        return [about["source"], f"{sizes} sequences"]


def described(part: datasets.Dataset) -> dict[str, Any]:
    """The facts about a split that `zoo data` prints."""
    tags = Counter(tag for row in part["tags"] for tag in row)
    return {
        "sequences": len(part),
        "symbols": histogram(numbers_of(part, "length")),
        "tags": {name: tags[number] for number, name in enumerate(TAGS)},
    }


def collate(rows: Rows) -> TaggingBatch:
    """Sequences from the disk as a batch."""
    symbols, tags = (_padded(rows.table[column].to_pylist()) for column in ("symbols", "tags"))
    return TaggingBatch.of(symbols, tags, torch.tensor(rows.numbers))


def _padded(sequences: Sequence[Sequence[int]]) -> torch.Tensor:
    """(B, T), 0 where a sequence has ended."""
    longest = max(map(len, sequences), default=0)
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in sequences], dtype=torch.long)
