"""A published corpus of documents: its sample, its place on the hub, and the layouts of its official files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar, Unpack

from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.documents.module import DocumentData
from zoo.data.documents.readers import Row, read_hub_parquet
from zoo.data.documents.sources import DocumentSource, hub_source, with_classes
from zoo.data.rows import BadRows
from zoo.data.sources import SampleGenerator, file_source, find_splits, sample_source
from zoo.data.text.vectored import VectorArguments
from zoo.errors import ConfigError


class DocumentCorpusArguments(CorpusArguments, VectorArguments, total=False):
    """The arguments of every corpus of documents."""


class DocumentCorpus(Corpus, DocumentData):
    """Documents from a sample, the hub or official files."""

    noun: ClassVar[str]
    """What a document is."""
    class_names: ClassVar[tuple[str, ...]]
    hub: ClassVar[str]
    """Repository on the Hugging Face hub, with the columns text and label and the splits train and test."""

    def __init__(self, **rest: Unpack[DocumentCorpusArguments]) -> None:
        super().__init__(**rest)

    @abstractmethod
    def sample_generator(self) -> SampleGenerator:
        """The generator of the sample."""

    @abstractmethod
    def official_files(self, path: Path) -> DocumentSource | None:
        """The official files at a path that exists; None where it has none of the layouts."""

    def unescape(self, text: str) -> str:
        """A text of the hub as its author wrote it."""
        return text

    def open_sample(self) -> DocumentSource:
        if (self.text.tokenizer, self.text.language) != ("words", "en"):
            raise ConfigError(
                f"data.text.tokenizer={self.text.tokenizer} and data.text.language={self.text.language}: the "
                "sample is made of English words; use data.source=hub or data.source=PATH"
            )
        source = sample_source(self.sample_generator(), self.sample, self.noun)
        return with_classes(source, self.class_names, generated=True)

    def open_hub(self) -> DocumentSource:
        return hub_source(self.hub, ("train", "test"), self.unescape, self.class_names, self.noun)

    def open_files(self, path: Path) -> DocumentSource | None:
        return self.official_files(path) or self.split_files(path, ".parquet", self._read_parquet, self.class_names)

    def split_files(
        self, path: Path, suffix: str, read: Callable[..., Iterator[Row]], classes: tuple[str, ...]
    ) -> DocumentSource | None:
        """The files of a folder that `read(file, number of classes, bad)` reads."""
        files = find_splits(path, [suffix]) if path.is_dir() else {}
        if not files:
            return None
        source = file_source(path, files, lambda file, bad: read(file, len(classes), bad), self.noun)
        return with_classes(source, classes)

    def _read_parquet(self, file: Path, classes: int, bad: BadRows) -> Iterator[Row]:
        """The files of the hub's repository, downloaded by hand."""
        hint = f" (expected: the files of {self.hub} on the Hugging Face hub, which data.source=hub downloads)"
        return (row._replace(text=self.unescape(row.text)) for row in read_hub_parquet(file, classes, hint, bad))
