"""Files that a person names on the command line: read, and written."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from zoo.data.rows import read_lines
from zoo.errors import ConfigError, DataError

PICTURES = (".png", ".pdf", ".svg")  # The endings of picture files


def lines_for(option: str, path: Path, expected: str) -> list[str]:
    """Return the lines of the text file, .gz or not, that `option` names; a DataError names what is `expected`."""
    try:
        return read_lines(path)
    except DataError as error:
        raise DataError(f"{error}; {option} takes {expected}") from error


def make_folder(option: str, path: Path) -> None:
    """Make the folder of a file that `option` asks for. Raises ConfigError where the file could not be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{option} {path}: {error.strerror}; give a file that can be written") from error
    if path.is_dir():
        raise ConfigError(f"{option} {path}: that is a folder; give a file that can be written")


def picture_file(option: str, path: Path) -> Path:
    """Return `path`, .png if it has no ending. Raises ConfigError for an ending that no picture has."""
    if path.suffix and path.suffix.lower() not in PICTURES:
        raise ConfigError(f"{option} {path}: pictures are written as {', '.join(PICTURES)}; found {path.suffix}")
    return path if path.suffix else path.with_name(f"{path.name}.png")


def csv_text(columns: Sequence[str] | None, rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as the text of a csv file, where no text is a formula; without `columns` its rows alone."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerows([columns] if columns is not None else [])
    writer.writerows([_no_formula(value) for value in row] for row in rows)
    return file.getvalue()


def _no_formula(value: Any) -> Any:
    """Put an apostrophe before text that begins as a formula does, but for a number."""
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    try:
        float(value)
        return value
    except ValueError:
        return f"'{value}"
