"""A published corpus of documents: its sample, its place on the hub, and the layouts of its official files."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Unpack

from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.documents.module import DocumentData
from zoo.data.documents.readers import HUB_COLUMNS, Row, hub_row, read_hub_parquet
from zoo.data.sources import SampleGenerator, Source, file_source, find_splits, hub_source, sample_source
from zoo.data.text.vectored import VectorArguments
from zoo.errors import ConfigError


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
