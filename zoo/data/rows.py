"""Lines, csv rows and json objects of a file, each with the line it begins in, and what happens to those that are
broken."""

from __future__ import annotations

import csv
import gzip
import json
import logging
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, cast

from zoo.errors import DataError, or_nearest

log = logging.getLogger(__name__)

FIELD_LIMIT = 64 * 2**20
"""Letters in one csv field; a quote that is never closed ends here and not in memory."""
BADLY_PACKED = (gzip.BadGzipFile, EOFError, zlib.error, zipfile.BadZipFile)
UNREADABLE = (OSError, *BADLY_PACKED)
"""What is raised for a file that cannot be read, packed or not."""


class BadRows:
    """What happens to a row that cannot be used: `error` raises a DataError, `skip` counts it and goes on."""

    def __init__(self, policy: Literal["error", "skip"] = "error") -> None:
        self.policy = policy
        self.problems: Counter[str] = Counter()

    def __call__(self, place: str, problem: str, detail: str = "") -> None:
        """`problem` is the kind, under which it is counted; `detail` what was found and expected. Raises DataError
        unless skipping."""
        message = f"{place}: {problem}" + (f": {detail}" if detail else "")
        if self.policy == "error":
            raise DataError(f"{message} (data.loader.on_bad_row=skip leaves such rows out)")
        self.problems[problem] += 1
        if self.total <= 5:
            log.warning("left out: %s", message)

    @property
    def total(self) -> int:
        return sum(self.problems.values())


def beginning(text: str, letters: int = 60) -> str:
    """A text in quotes, of which a longer one shows how it begins alone."""
    return repr(text) if len(text) <= letters else f"{text[:letters]!r}..."


def line_of(path: Path | str, line: int) -> str:
    """The place of a message."""
    return f"{path}, line {line}"


def counted(reasons: Mapping[str, int]) -> str:
    """Counts by reason, in one line."""
    return ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())


@contextmanager
def reading(place: Path | str) -> Iterator[None]:
    """Raises DataError, with the place, for what cannot be read inside, be it a text, an archive or a picture."""
    try:
        yield
    except UNREADABLE as error:
        raise unreadable(place, error) from error


def unreadable(place: Path | str, error: Exception) -> DataError:
    """What to say of an error of UNREADABLE."""
    again = "; pack it again" if isinstance(error, BADLY_PACKED) else ""
    return DataError(f"{place}: cannot be read: {getattr(error, 'strerror', None) or error}{again}")


def open_binary(path: Path) -> IO[bytes]:
    """The file, unpacked where it is a .gz. Raises DataError where it cannot be opened or is empty."""
    with reading(path):
        file = cast(IO[bytes], (gzip.open if path.suffix == ".gz" else open)(path, "rb"))
        if file.read(1):
            file.seek(0)
            return file
    file.close()
    raise DataError(f"{path}: the file is empty")


class Lines:
    """The lines of a UTF-8 file, numbered from 1, that can be read once more from the line after a broken row's
    first."""

    def __init__(self, path: Path | str, file: IO[bytes] | None = None) -> None:
        """`file` stands in for the one at `path`, which then is its name for messages."""
        self.path = path
        self.number = 0
        self.undecodable = ""
        """What was wrong with the first line since `mark` that is not UTF-8."""
        self.undecodable_at = 0
        """The number of that line."""
        self._file = open_binary(Path(path)) if file is None else file
        self._offset = 0
        self._row: list[bytes] = []
        self._again: list[bytes] = []

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        try:
            raw = self._again.pop() if self._again else next(self._file)
        except UNREADABLE as error:
            raise unreadable(line_of(self.path, self.number + 1), error) from error
        self.number += 1
        self._row.append(raw)
        if self.number == 1:
            if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise DataError(f"{self.path}: the file is UTF-16; save it as UTF-8")
            if raw.startswith(b"\xef\xbb\xbf"):
                raw, self._offset = raw[3:], self._offset + 3
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            if not self.undecodable:
                found = f"byte 0x{raw[error.start]:02x} at offset {self._offset + error.start} of the file"
                self.undecodable = f"{found}; is it Latin-1? Save the file as UTF-8"
                self.undecodable_at = self.number
            return raw.decode(errors="replace")
        finally:
            self._offset += len(raw)

    def mark(self) -> None:
        """A row begins with the next line."""
        self._row, self.undecodable = [], ""

    def rewind(self) -> None:
        """Go back to the line after the first of this row."""
        rest = self._row[1:]
        self._again += reversed(rest)
        self.number -= len(rest)
        self._offset -= sum(map(len, rest))
        self.mark()

    def peek(self) -> str:
        """The next line that is not blank, which stays to be read."""
        line = next((line for line in self if line.strip()), "")
        self._again += reversed(self._row)
        self.number, self._offset = self.number - len(self._row), 0
        self.mark()
        return line


def read_lines(path: Path | str, file: IO[bytes] | None = None) -> list[str]:
    """The lines of a UTF-8 text, cut at line feeds alone, without their ends; the arguments are those of `Lines`.
    Raises DataError, with the line, for what is no text."""
    found = []
    with Lines(path, file) as lines:
        for line in lines:
            place = line_of(path, lines.number)
            if lines.undecodable:
                raise DataError(f"{place}: not UTF-8: {lines.undecodable}")
            if "\0" in line:
                raise DataError(f"{place}: NUL byte: the file is binary or damaged")
            lines.mark()
            found.append(line.rstrip("\r\n"))
    return found


def csv_rows(lines: Lines, delimiter: str, bad: BadRows) -> Iterator[tuple[int, list[str]]]:
    """(line the row begins in, fields) of each row that is not blank. A quoted field may hold line breaks."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        start = lines.number + 1
        lines.mark()
        try:
            fields = _long_fields(reader)
        except StopIteration:
            return
        except csv.Error as error:
            bad(line_of(lines.path, start), "broken quote", f'{error}; a quote inside a quoted field is written ""')
            lines.rewind()
            continue
        if lines.undecodable:
            bad(line_of(lines.path, lines.undecodable_at), "not UTF-8", lines.undecodable)
        elif fields:
            yield start, fields


def _long_fields(reader: Iterator[list[str]]) -> list[str]:
    """The next row, its fields up to FIELD_LIMIT long; `csv` keeps one limit a process, which stays as it was."""
    before = csv.field_size_limit(FIELD_LIMIT)
    try:
        return next(reader)
    finally:
        csv.field_size_limit(before)


def json_rows(path: Path, columns: Sequence[str], hint: str, bad: BadRows) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, object) of each line that is not blank; every object has all `columns`."""
    with Lines(path) as lines:
        if lines.peek().lstrip().startswith("["):
            raise DataError(
                f"{path}: holds one json array; json lines are expected, one object a line (`jq -c '.[]'` makes them)"
            )
        for line in lines:
            place, undecodable = line_of(path, lines.number), lines.undecodable
            lines.mark()
            if undecodable:
                bad(place, "not UTF-8", undecodable)
            elif line.strip():
                try:
                    record = json.loads(line)
                except ValueError as error:
                    at = f" at letter {error.pos + 1} of the line" if isinstance(error, json.JSONDecodeError) else ""
                    bad(place, "not json", getattr(error, "msg", str(error)) + at)
                    continue
                if not isinstance(record, dict):
                    bad(place, "not a json object", f"found {line.strip()[:40]!r}")
                elif half := _half_letter(line, record):
                    bad(place, "half a letter", f"found {half} without the other half of its pair")
                elif missing := [column for column in columns if column not in record]:
                    bad(place, "missing column", missing_column(missing[0], record, hint))
                else:
                    yield lines.number, record


SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _half_letter(line: str, record: dict[str, Any]) -> str | None:
    """An escaped surrogate without its other half, which no file can hold."""
    if SURROGATE.search(line):
        try:
            json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            return f"\\u{ord(error.object[error.start]):04x}"
    return None


def missing_column(column: str, found: Iterable[str], hint: str = "") -> str:
    """What to say of a column that is not among those found."""
    found = [str(name) for name in found]
    return f"no column {column!r}; found: {', '.join(map(repr, found))}{or_nearest(column, found)}{hint}"
