"""Views whose inputs are files, such as images and sounds: one file, or all of a folder."""

from abc import abstractmethod
from collections.abc import Collection
from pathlib import Path
from typing import Any, ClassVar

from zoo.data.rows import visible
from zoo.errors import DataError
from zoo.visualize.view import View


class FileView(View):
    """Reads the paths of files. A view of files defines `suffixes`, besides what every view does."""

    article: ClassVar[str] = "a"  # Before the noun, in messages

    @property
    @abstractmethod
    def suffixes(self) -> Collection[str]:
        """The endings of the files that are read from a folder, in small letters with a dot."""

    def read_word(self, word: str) -> list[Any | None]:
        """Return the path of a file, or those of all files in a folder, sorted by name."""
        path = Path(word)
        if not path.is_dir():
            return [self._file(path, f", or of a folder of {self.noun}s")]
        if found := [inside for inside in visible(path) if inside.suffix.lower() in self.suffixes and inside.is_file()]:
            return [*found]
        endings = ", ".join(sorted(self.suffixes))
        raise DataError(f"{path}: no {self.noun} in this folder; expected files that end in {endings}")

    def parse(self, line: str) -> Path:
        return self._file(Path(line.strip()))

    def _file(self, path: Path, more: str = "") -> Path:
        """Return the path of a file; raises DataError if it is not one."""
        if not path.is_file():
            found = "a folder" if path.is_dir() else "no such file"
            raise DataError(f"{path}: {found}; expected the path of {self.article} {self.noun}{more}")
        return path

    def example_file(self, data: Any, names: Collection[str]) -> Path | None:
        """Return the first of these files of the data that exists."""
        folder = Path(str(getattr(data, "path", None) or getattr(data, "source", "")))
        return next((path for name in names for path in (Path(name), folder / name) if path.is_file()), None)
