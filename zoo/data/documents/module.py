"""The base classes of all data of documents with one class each, and of the published corpora."""

import math
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Unpack

import datasets
import numpy as np
from numpy.typing import NDArray

from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.documents.batch import DocumentSpec
from zoo.data.documents.encoding import DocumentEncoder, DocumentTextOptions
from zoo.data.documents.readers import HUB_COLUMNS, Row, hub_row, read_hub_parquet
from zoo.data.order import Nouns
from zoo.data.rows import some
from zoo.data.sources import Reading, SampleGenerator, Source, file_source, find_splits, hub_source, sample_source
from zoo.data.stored import count_words, numbers_of, values_of
from zoo.data.table_data import shortened
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.vectored import VectorArguments, Vectored
from zoo.errors import ConfigError, DataError


class DocumentData(Vectored):
    """Documents with one class each."""

    tasks: ClassVar[tuple[str, ...]] = ("classification",)
    nouns: ClassVar[Nouns] = Nouns("documents", "words")
    encoding = DocumentEncoder
    length_parts = ("words",)
    text: DocumentTextOptions
    spec: DocumentSpec
    encoder: DocumentEncoder

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"classes": list(source.classes or ())}

    def examples(self, rows: Iterator[Any], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        count = 0
        for row in rows:
            label = row.label if source.classes is None else source.classes[row.label]
            if source.classes is None and not reading.knows(label, row.place, self.nouns.examples):
                continue
            count += 1
            if isinstance(row, Row):
                yield {"text": row.text, "label": label}
            else:
                yield {"sentences": row.sentences, "evidence": row.evidence, "label": label}
        if source.classes is None and reading.training and count:
            _check_classes(list(reading.labels), source.place, count)

    def finish(self, encoder: TableEncoder, source: Source, splits: Mapping[str, datasets.Dataset]) -> None:
        encoder.classes = list(source.classes or natural_order(count_words(splits["train"], "label")))

    def strata(self, train: datasets.Dataset) -> NDArray[Any]:
        return np.array(list(values_of(train, "label")))

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = DocumentSpec(vocabulary_size=about["vocabulary_size"], classes=tuple(about["classes"]))

    def texts(self, split: str) -> tuple[list[str], NDArray[Any]]:
        """The N documents of a split as a network reads them, words with blanks between, and (N,) their classes."""
        stored, names = self.part(split).stored, self.encoder.vocabulary.words
        documents = (chain.from_iterable(sentences) for sentences in values_of(stored, "words"))
        return [" ".join(names[word] for word in words) for words in documents], numbers_of(stored, "label")

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"label": row["label"], "text": shortened(row["words"])}


def _check_classes(names: Sequence[str], where: str, rows: int) -> None:
    if len(names) < 2:
        raise DataError(
            f"{where}: found only the label {names[0]!r} in {some(rows, 'document')}; at least two classes are expected"
        )
    if len(names) > max(50, rows // 2):
        raise DataError(
            f"{where}: {len(names):,} different labels in {rows:,} documents, such as {names[0]!r} and {names[1]!r}; "
            "is data.label_column the column of the classes?"
        )


def natural_order(names: Iterable[str]) -> list[str]:
    """Names in their natural order. If all are numbers, they have the order of numbers; otherwise the numbers inside
    them do."""
    found = list(names)
    try:
        numbers = {name: float(name) for name in found}
    except ValueError:
        numbers = {}
    if numbers and all(map(math.isfinite, numbers.values())):
        return sorted(found, key=numbers.__getitem__)
    return sorted(found, key=_text_and_numbers)


def _text_and_numbers(name: str) -> Any:
    parts = re.split(r"(\d+)", name.casefold())
    return [int(part) if n % 2 else part for n, part in enumerate(parts)], name


# Published corpora


class DocumentCorpusArguments(CorpusArguments, VectorArguments, total=False):
    """The arguments of every corpus of documents."""


class DocumentCorpus(Corpus, DocumentData):
    """Documents from a sample, the hub or official files."""

    noun: ClassVar[str]
    """The name of the documents, in the plural."""
    class_names: ClassVar[tuple[str, ...]]
    generate: ClassVar[SampleGenerator]
    """The generator of the sample."""
    hub: ClassVar[str]
    """Repository on the Hugging Face hub, with the columns text and label and the splits train and test."""
    escaped: ClassVar[bool] = False
    """Whether the texts of the hub have the escapes of Zhang et al. (2015)."""

    def __init__(self, **rest: Unpack[DocumentCorpusArguments]) -> None:
        super().__init__(**rest)

    @abstractmethod
    def official_files(self, path: Path) -> Source | None:
        """The official files at a path that exists; None if it has none of the layouts."""

    def open_sample(self) -> Source:
        if (self.text.tokenizer, self.text.language) != ("words", "en"):
            raise ConfigError(
                f"data.text.tokenizer={self.text.tokenizer} and data.text.language={self.text.language}: the "
                "sample is made of English words; use data.source=hub or data.source=PATH"
            )
        return replace(sample_source(self.generate, self.sample, self.noun), classes=self.class_names)

    def open_hub(self) -> Source:
        read = partial(hub_row, classes=len(self.class_names), escaped=self.escaped)
        splits = {"train": "train", "test": "test"}
        return replace(hub_source(self.hub, splits, HUB_COLUMNS, read, self.noun), classes=self.class_names)

    def open_files(self, path: Path) -> Source | None:
        if found := self.official_files(path):
            return found
        hint = f" (expected: the files of {self.hub} on the Hugging Face hub, which data.source=hub downloads)"
        read = partial(read_hub_parquet, escaped=self.escaped, hint=hint)
        return self.split_files(path, ".parquet", read)

    def split_files(
        self, path: Path, suffix: str, read: Callable[..., Iterator[Row]], classes: tuple[str, ...] = ()
    ) -> Source | None:
        """The files of a folder that `read(file, classes=number of classes, bad=...)` reads."""
        files, classes = find_splits(path, [suffix]) if path.is_dir() else {}, classes or self.class_names
        if not files:
            return None
        source = file_source(path, files, lambda file, bad: read(file, classes=len(classes), bad=bad), self.noun)
        return replace(source, classes=classes)
