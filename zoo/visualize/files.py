"""Views whose inputs are files, such as images, sounds and clips: one file, or all of a folder."""

import shlex
from abc import abstractmethod
from collections.abc import Collection
from pathlib import Path
from typing import Any

from zoo.data.rows import visible
from zoo.errors import DataError
from zoo.visualize.view import View


class FileView(View):
    """Reads the paths of files."""

    @property
    @abstractmethod
    def suffixes(self) -> Collection[str]:
        """The endings of the files that are read from a folder, in small letters with a dot."""

    def read_word(self, word: str) -> list[Any | None]:
        """Return the path of a file, or those of all files in a folder, sorted by name."""
        path = Path(word)
        if not path.is_dir():
            return [self.found(path, f"the path of {self._a_noun}, or of a folder of {self.noun}s")]
        if found := self.inside(path):
            return [*found]
        endings = ", ".join(sorted(self.suffixes))
        raise DataError(f"{path}: no {self.noun} in this folder; expected files that end in {endings}")

    def parse(self, line: str) -> Path:
        return self.found(Path(line.strip()), f"the path of {self._a_noun}")

    def inside(self, folder: Path) -> list[Path]:
        """Return the files of a folder with these endings."""
        return [path for path in visible(folder) if path.suffix.lower() in self.suffixes and path.is_file()]

    def found(self, path: Path, expected: str, *, folders: bool = False) -> Path:
        """Return the path of an input; raises DataError if it is not a file, or with `folders` a folder."""
        if not (path.is_file() or (folders and path.is_dir())):
            raise DataError(f"{path}: {'a folder' if path.is_dir() else 'no such file'}; expected {expected}")
        return path

    def try_it(self, data: Any) -> str:
        """Return the path of an input of the data, where it is a file."""
        names = [str(example.get(self.noun)) for example in data.describe().get("examples", ())]
        folder = Path(str(getattr(data, "path", None) or getattr(data, "source", "")))
        found = [path for name in names for path in (Path(name), folder / name) if path.is_file()]
        return shlex.quote(str(found[0])) if found else self.typed

    @property
    def _a_noun(self) -> str:
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"
