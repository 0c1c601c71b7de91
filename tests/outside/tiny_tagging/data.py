"""Sequences of letters. A letter is tagged `again` if it occurs earlier in the sequence, else `new`."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Unpack

import datasets
import pyarrow as pa
from torch import Tensor

from tiny_tagging.batch import TaggingBatch
from tiny_tagging.spec import TaggingSpec
from zoo.data.notes import key
from zoo.data.options import LoaderArguments, SampleOptions
from zoo.data.order import Nouns
from zoo.data.parts import Along, Words
from zoo.data.sources import Reading, Source, sample_source
from zoo.data.table_data import TableData
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.options import TokenOptions

LETTERS = "abcdefghijkl"
TAGS = ("new", "again")


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


class TaggingEncoder(TableEncoder):
    """Words of letters to batches; all that a prediction needs of the data."""

    options = TokenOptions
    raw = pa.schema({"symbols": pa.list_(pa.string()), "tags": pa.list_(pa.int32())})
    given = ("symbols",)
    parts = (Words("symbols", lengths="symbols"), Along("tags", "symbols", empty=0))
    cuts = False

    def typed(self, one: str) -> dict[str, Any]:
        return {"symbols": list(one)}

    def display(self, one: str) -> list[str]:
        """The symbols of an input."""
        return list(one)

    def tokens(self, table: pa.Table) -> pa.Table:
        return table.append_column("key", pa.array(map(key, table["symbols"].to_pylist())))

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> TaggingBatch:
        return TaggingBatch(parts["symbols"].values, parts.get("tags"), index)


class Repeats(TableData):
    """Generated sequences with their tags."""

    name = "repeats"
    tasks: ClassVar[tuple[str, ...]] = ("tagging",)
    nouns: ClassVar[Nouns] = Nouns("sequences", "symbols")
    encoding = TaggingEncoder
    text_options = TokenOptions
    length_parts = ("symbols",)
    spec: TaggingSpec
    encoder: TaggingEncoder

    def __init__(
        self, *, sample: Mapping[str, Any] | SampleOptions | None = None, **rest: Unpack[LoaderArguments]
    ) -> None:
        super().__init__(**rest)
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> Source:
        return sample_source(generate, self.sample, "sequences")

    def examples(self, rows: Iterator[Tagged], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        for row in rows:
            yield {"symbols": list(row.symbols), "tags": row.tags}

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = TaggingSpec(symbols=about["vocabulary_size"], tags=TAGS)

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        tags = Counter(chain.from_iterable(split.with_format(None)["tags"]))
        return {"tags": {name: tags[number] for number, name in enumerate(TAGS)}}

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"symbols": "".join(row["symbols"]), "tags": " ".join(TAGS[tag] for tag in row["tags"])}
