"""Files that a person names on the command line: read line by line, and written."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from zoo.errors import ConfigError, DataError

PICTURES = (".png", ".pdf", ".svg")
"""What pictures can be written as."""


def read_lines(path: Path, option: str, expected: str) -> list[str]:
    """The lines of a text file, .gz or not. Raises DataError for what cannot be read, naming `option`, which takes what
    is `expected`."""
    try:
        raw = path.read_bytes()
        if path.suffix == ".gz":
            raw = gzip.decompress(raw)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: no whole gzip file: {error}; compress it again") from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; {option} takes {expected}") from error
    return lines_of(raw, str(path))


def lines_of(raw: bytes, where: str) -> list[str]:
    """The lines, cut where those of training files are: at line feeds alone. Raises DataError for what is no text."""
    lines = []
    for number, line in enumerate(raw.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        try:
            lines.append(line.decode("utf-8").rstrip("\r"))
        except UnicodeDecodeError as error:
            raise DataError(
                f"{where}, line {number}: not UTF-8 at byte {error.start + 1} of the line; convert it first"
            ) from error
        if "\0" in lines[-1]:
            raise DataError(f"{where}, line {number}: a NUL byte; expected text")
    return lines[:-1] if lines[-1] == "" else lines


def make_folder(option: str, path: Path) -> None:
    """Makes the folder of a file that `option` asks for. Raises ConfigError where the file could not be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{option} {path}: {error.strerror}; give a file that can be written") from error
    if path.is_dir():
        raise ConfigError(f"{option} {path}: that is a folder; give a file that can be written")


def picture_file(option: str, path: Path) -> Path:
    """`path` as the file of a picture, .png where it has no ending. Raises ConfigError for an ending that no picture
    has."""
    if path.suffix and path.suffix.lower() not in PICTURES:
        raise ConfigError(f"{option} {path}: pictures are written as {', '.join(PICTURES)}; found {path.suffix}")
    return path if path.suffix else path.with_name(f"{path.name}.png")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as the text of a csv file."""
    file = io.StringIO()
    csv.writer(file).writerows([columns, *rows])
    return file.getvalue()
