"""A published corpus: its sample, its place on the hub, and the layouts of its official files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from zoo.data.documents.module import DocumentData
from zoo.data.documents.options import DocumentTextOptions
from zoo.data.documents.readers import Row, read_hub_parquet
from zoo.data.documents.sources import DocumentSource, hub_source, with_classes
from zoo.data.options import LoaderOptions, SampleOptions, SplitOptions
from zoo.data.rows import BadRows
from zoo.data.sources import SampleGenerator, existing, file_source, find_splits, sample_source
from zoo.errors import ConfigError, DataError


class Corpus(DocumentData):
    """Documents from a sample, the hub or official files, as `source` says."""

    noun: ClassVar[str]
    """What a document is."""
    classes: ClassVar[tuple[str, ...]]
    hub: ClassVar[str]
    """Repository on the Hugging Face hub, with the columns text and label and the splits train and test."""
    layout: ClassVar[str]
    """The official files, for messages."""

    def __init__(
        self,
        *,
        source: str | None = "sample",
        sample: Mapping[str, Any] | SampleOptions | None = None,
        split: Mapping[str, Any] | SplitOptions | None = None,
        text: Mapping[str, Any] | DocumentTextOptions | None = None,
        vectors: str | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """`source` is `sample`, `hub` or the path of the official files; `sample` its sizes; the rest as in
        `DocumentData`."""
        super().__init__(
            text=text,
            split=SplitOptions.of(split),
            vectors=vectors,
            loader=loader,
        )
        self.source = source
        self.sample = SampleOptions.of(sample)

    @abstractmethod
    def sample_generator(self) -> SampleGenerator:
        """The generator of the sample."""

    @abstractmethod
    def open_files(self, path: Path) -> DocumentSource | None:
        """The official files at a path that exists; None where it holds none of the layouts."""

    def unescape(self, text: str) -> str:
        """A text of the hub's as its author wrote it."""
        return text

    def open_source(self) -> DocumentSource:
        if not self.source:
            raise ConfigError(f"data.source is not set; expected: sample, hub, or the path of {self.layout}")
        if self.source == "sample":
            if (self.text.tokenizer, self.text.language) != ("words", "en"):
                raise ConfigError(
                    f"data.text.tokenizer={self.text.tokenizer} and data.text.language={self.text.language}: the "
                    "sample is made of English words; take data.source=hub or data.source=PATH"
                )
            source = sample_source(self.sample_generator(), self.sample, self.noun)
            return with_classes(source, self.classes, generated=True)
        if self.source == "hub":
            return hub_source(self.hub, ("train", "test"), self.unescape, self.classes, self.noun)
        path = existing(self.source, "data.source", f"sample, hub, or the path of {self.layout}")
        found = self.open_files(path) or self._files(path, ".parquet", self._read_parquet, self.classes)
        if found is None:
            raise DataError(f"{path}: {self._found(path)}; expected {self.layout}; or take data.source=sample")
        return found

    def _found(self, path: Path) -> str:
        if path.is_file():
            return "this file is not one of the official ones"
        names = sorted(part.name + "/" * part.is_dir() for part in path.iterdir())
        return f"found {', '.join(names[:8]) + ', ...' * (len(names) > 8)}" if names else "the folder is empty"

    def _files(
        self, path: Path, suffix: str, read: Callable[..., Iterator[Row]], classes: tuple[str, ...]
    ) -> DocumentSource | None:
        """The files of a folder that `read(file, number of classes, bad)` reads."""
        files = find_splits(path, [suffix]) if path.is_dir() else {}
        if not files:
            return None
        source = file_source(path, files, lambda file, bad: read(file, len(classes), bad), self.noun)
        return with_classes(source, classes)

    def _read_parquet(self, file: Path, classes: int, bad: BadRows) -> Iterator[Row]:
        """The files of the hub's repository, fetched by hand."""
        hint = f" (expected: the files of {self.hub} on the Hugging Face hub, which data.source=hub fetches)"
        return (row._replace(text=self.unescape(row.text)) for row in read_hub_parquet(file, classes, hint, bad))
