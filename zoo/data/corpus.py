"""Base classes for published corpora and for files of your own. Each kind of failure has one message."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from zoo.data.options import SampleOptions
from zoo.data.prepared import PreparedData
from zoo.data.rows import visible
from zoo.data.sources import Source, existing
from zoo.data.table_data import TableArguments
from zoo.errors import ConfigError, DataError


class CorpusArguments(TableArguments, total=False):
    """The arguments of every corpus of a family of tables."""

    source: str | None
    sample: Mapping[str, Any] | SampleOptions | None


class _FileData(PreparedData):
    """Data that may be read from a file or a folder."""

    layout: ClassVar[str]  # The possible files and folders, for messages

    @abstractmethod
    def open_files(self, path: Path) -> Source | None:
        """The examples at a path that exists; None if it has none of the layouts."""

    def _opened(self, given: str, key: str, expected: str, otherwise: str) -> Any:
        path = existing(given, key, expected)
        if (found := self.open_files(path)) is not None:
            return found
        names = () if path.is_file() else sorted(part.name + "/" * part.is_dir() for part in visible(path))
        some = f"found {', '.join(names[:8]) + ', ...' * (len(names) > 8)}" if names else "the folder is empty"
        if not names and path.is_dir() and any(path.iterdir()):
            some = "all names in this folder begin with a dot, and such files are ignored"
        raise DataError(f"{path}: {'this file has another form' if path.is_file() else some}; {otherwise}")


class Corpus(_FileData):
    """A published corpus: `source` is `sample`, `hub`, or the path of its official files."""

    on_hub: ClassVar[bool] = True  # Whether the Hugging Face hub has it

    def __init__(
        self, *, source: str | None = "sample", sample: Mapping[str, Any] | SampleOptions | None = None, **rest: Any
    ) -> None:
        """`source` is `sample`, `hub` or the path of the official files; `sample` its sizes; `rest` goes to the
        family."""
        super().__init__(**rest)
        self.source = source
        self.sample = SampleOptions.of(sample)

    @abstractmethod
    def open_sample(self) -> Source:
        """The generated examples. Raises ConfigError for options that the generator does not have."""

    def open_hub(self) -> Source:
        """The examples on the Hugging Face hub. Raises ConfigError for options that the hub does not have."""
        raise ConfigError(f"data.source=hub: {self.name} is not on the Hugging Face hub; expected: {self.sources}")

    @property
    def sources(self) -> str:
        """The possible values of `data.source`, for messages."""
        return f"sample, {'hub, ' * self.on_hub}or the path of {self.layout}"

    def open_source(self) -> Any:
        if not self.source:
            raise ConfigError(f"data.source is not set; expected: {self.sources}")
        if self.source in ("sample", "hub"):
            return self.open_sample() if self.source == "sample" else self.open_hub()
        otherwise = f"expected {self.layout}; or use data.source=sample"
        return self._opened(self.source, "data.source", self.sources, otherwise)


class OwnFiles(_FileData):
    """Data of your own: `path` is a file or a folder."""

    def __init__(self, *, path: str, **rest: Any) -> None:
        """`path` is the file or folder; `rest` goes to the family."""
        super().__init__(**rest)
        self.path = path

    def open_sample(self) -> Any:
        """The examples without a path. Raises ConfigError, unless a family has generated ones."""
        raise ConfigError(f"data.path is empty; expected: {self.layout}")

    def open_source(self) -> Any:
        if not self.path:
            return self.open_sample()
        return self._opened(self.path, "data.path", self.layout, f"expected: {self.layout}")
