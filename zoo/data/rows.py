"""Lines, csv rows and json objects of a file, each with the line where it begins, and the treatment of broken ones."""

from __future__ import annotations

import csv
import gzip
import io
import json
import logging
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import IO, Any, Concatenate, Literal, ParamSpec, TypeVar, cast

from zoo.data.encodings import KEY, SAMPLE, UTF8, is_wrong, keeps_lines, proposal
from zoo.errors import DataError, ZooError, or_nearest

log = logging.getLogger(__name__)
P = ParamSpec("P")
Row = TypeVar("Row")

FIELD_LIMIT = 64 * 2**20
"""The most letters of a csv field, so that a quote that is never closed does not fill the memory."""
BADLY_PACKED = (gzip.BadGzipFile, EOFError, zlib.error, zipfile.BadZipFile)
UNREADABLE = (OSError, *BADLY_PACKED)  # Exceptions for a file that cannot be read, packed or not


def visible(folder: Path, pattern: str = "*") -> list[Path]:
    """The files and folders that match a pattern, sorted. Names that begin with a dot are ignored, because editors,
    notebooks and macOS use them for their own files."""
    return sorted(inside for inside in folder.glob(pattern) if not inside.name.startswith("."))


class BadRows:
    """The treatment of rows that cannot be used: `error` raises a DataError, `skip` counts them."""

    def __init__(self, policy: Literal["error", "skip"] = "error", encoding: str = UTF8) -> None:
        """`encoding` is the one of the text files."""
        self.policy, self.encoding = policy, encoding
        self.problems: Counter[str] = Counter()

    def __call__(self, place: str, problem: str, detail: str = "") -> None:
        """Count a row by its kind of `problem`; `detail` is what was found and expected. Raises DataError unless the
        policy is `skip`."""
        message = f"{place}: {problem}" + (f": {detail}" if detail else "")
        if self.policy == "error":
            raise DataError(f"{message} (data.loader.on_bad_row=skip leaves such rows out)")
        self.problems[problem] += 1
        if self.total <= 5:
            log.warning("left out: %s", message)

    @property
    def total(self) -> int:
        return sum(self.problems.values())


class NeverSkipped(BadRows):
    """Raises a DataError for a row that cannot be used, without naming a key of the configuration: there is none."""

    def __call__(self, place: str, problem: str, detail: str = "") -> None:
        raise DataError(f"{place}: {problem}" + (f": {detail}" if detail else ""))


def beginning(text: str, letters: int = 60) -> str:
    """Quote a text for a message, and only the beginning of a long one."""
    return repr(text) if len(text) <= letters else f"{text[:letters]!r}..."


def line_of(path: Path | str, line: int) -> str:
    """The place of a row, for messages."""
    return f"{path}, line {line}"


def some(count: int, noun: str) -> str:
    """A number of things, such as 1 row or 2,000 rows."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def counted(reasons: Mapping[str, int]) -> str:
    """Counts by reason, in one line."""
    return ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())


@contextmanager
def reading(place: Path | str) -> Iterator[None]:
    """Raise DataError, with the place, if reading fails inside: of a text, an archive or a picture."""
    try:
        yield
    except UNREADABLE as error:
        raise unreadable(place, error) from error


def unreadable(place: Path | str, error: Exception) -> DataError:
    """The error for a file whose reading raised one of UNREADABLE."""
    again = "; pack it again" if isinstance(error, BADLY_PACKED) else ""
    return DataError(f"{place}: cannot be read: {getattr(error, 'strerror', None) or error}{again}")


def open_binary(path: Path) -> IO[bytes]:
    """Open a file, and unpack a .gz. Raises DataError if it cannot be opened or is empty."""
    with reading(path):
        file = cast(IO[bytes], (gzip.open if path.suffix == ".gz" else open)(path, "rb"))
        if file.read(1):
            file.seek(0)
            return file
    file.close()
    raise DataError(f"{path}: the file is empty")


class Lines:
    """The lines of a text file, numbered from 1. After a broken row, reading can go back to the row's second line.

    Raises DataError for a file in another encoding, also with `on_bad_row=skip`, and names the encoding that decodes
    it. In a file of the right encoding, `undecodable` describes a damaged line.
    """

    def __init__(self, path: Path | str, file: IO[bytes] | None = None, encoding: str | None = None) -> None:
        """With `file`, `path` is only its name for messages. `encoding` is None if no key of the configuration sets
        it."""
        self.path, self.number = path, 0
        self.encoding, self._has_key = encoding or UTF8, encoding is not None
        self.undecodable, self.undecodable_at = "", 0
        """The problem of the first line since `mark` that cannot be decoded, and the number of that line."""
        self._file = open_binary(Path(path)) if file is None else file
        if not keeps_lines(self.encoding):
            self._file = io.BytesIO(self._decoded().encode())
            self.encoding = UTF8
        self._offset = 0
        self._right_encoding = False
        """Whether most lines are known to be decodable."""
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
        if self.number == 1 and self.encoding == UTF8:
            if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise DataError(f"{self.path}: not UTF-8: {advice(raw, self._has_key)}")
            if raw.startswith(b"\xef\xbb\xbf"):
                raw, self._offset = raw[3:], self._offset + 3
        try:
            return raw.decode(self.encoding)
        except UnicodeDecodeError as error:
            if not self.undecodable:
                found = f"byte 0x{raw[error.start]:02x} at offset {self._offset + error.start} of the file"
                self.undecodable, self.undecodable_at = f"{found}; {self._advice(found)}", self.number
            return raw.decode(self.encoding, errors="replace")
        finally:
            self._offset += len(raw)

    def _decoded(self) -> str:
        with self._file as file, reading(self.path):
            raw = file.read()
        try:
            return raw.decode(self.encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise not_decodable(self.path, raw, error) from error

    def _advice(self, found: str) -> str:
        """Advice on a damaged line. Raises DataError if the file has another encoding, which is decided once from the
        lines around the first damaged one."""
        if not self._right_encoding:
            at = self._file.tell()
            begin = max(0, at - SAMPLE // 2)
            with reading(self.path):
                self._file.seek(begin)
                sample = self._file.read(SAMPLE)
                self._file.seek(at)
            if begin:
                sample = sample[sample.find(b"\n") + 1 :]
            if is_wrong(sample, self.encoding):
                place = line_of(self.path, self.number)
                raise DataError(f"{place}: {self.problem}: {found}; {advice(sample, self._has_key)}")
            self._right_encoding = True
        return "other lines are right, so this one is damaged; fix or remove it"

    def decoded(self, bad: BadRows) -> Iterator[tuple[str, str]]:
        """(place, text without its line end) of each line; damaged lines are bad rows."""
        for line in self:
            place, problem = line_of(self.path, self.number), self.undecodable
            self.mark()
            if problem:
                bad(place, self.problem, problem)
            else:
                yield place, line.rstrip("\r\n")

    @property
    def problem(self) -> str:
        """The name of the problem `undecodable`."""
        return f"not {self.encoding.upper()}"

    def mark(self) -> None:
        """Begin a row with the next line."""
        self._row, self.undecodable = [], ""

    def rewind(self) -> None:
        """Go back to the line after the first of this row."""
        rest = self._row[1:]
        self._again += reversed(rest)
        self.number -= len(rest)
        self._offset -= sum(map(len, rest))
        self.mark()

    def peek(self) -> str:
        """The next line that is not blank; iterating gives it again."""
        line = next((line for line in self if line.strip()), "")
        self._again += reversed(self._row)
        self.number, self._offset = self.number - len(self._row), 0
        self.mark()
        return line


def advice(sample: bytes, has_key: bool = True) -> str:
    """How to read a file of another encoding, from some of its bytes. `has_key`: a key can set the encoding."""
    found = proposal(sample)
    return f"the file is probably {found}: {f'set {KEY}={found}, or ' if has_key else ''}save it as UTF-8"


def not_decodable(path: Path | str, raw: bytes, error: UnicodeDecodeError) -> DataError:
    """The error for a whole file that cannot be decoded."""
    place = line_of(path, raw.count(b"\n", 0, error.start) + 1)
    found = f"byte 0x{raw[error.start]:02x} at offset {error.start} of the file"
    return DataError(f"{place}: not {error.encoding.upper()}: {found}; {advice(raw[:SAMPLE])}")


def decode_file(path: Path | str, raw: bytes, bad: BadRows) -> str | None:
    """The text of a file that is one example, or None if it is damaged, which is reported. Raises DataError if the file
    has another encoding."""
    try:
        return raw.decode("utf-8-sig" if bad.encoding == UTF8 else bad.encoding)
    except UnicodeDecodeError as error:
        refused = not_decodable(path, raw, error)
        if is_wrong(raw, bad.encoding):
            raise refused from error
        place, problem, detail = str(refused).split(": ", 2)
        bad(place, problem, detail.partition(";")[0])
        return None


def read_lines(path: Path | str, file: IO[bytes] | None = None, encoding: str | None = None) -> list[str]:
    """The lines of a text, split only at line feeds, without their ends; the arguments are those of `Lines`. Raises
    DataError, with the line, for a file that is not text."""
    found = []
    with Lines(path, file, encoding) as lines:
        for place, line in lines.decoded(NeverSkipped()):
            if "\0" in line:
                raise DataError(f"{place}: NUL byte: the file is binary or damaged")
            found.append(line)
    return found


def parsed_lines(path: Path, parse: Callable[[str], Row]) -> list[Row | None]:
    """`parse` of each line of a file, None for a blank line. Raises DataError with the line."""
    found: list[Row | None] = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            found.append(parse(line) if line.strip() else None)
        except DataError as error:
            raise DataError(f"{line_of(path, number)}: {error}") from None
    return found


def csv_rows(lines: Lines, delimiter: str, bad: BadRows) -> Iterator[tuple[int, list[str]]]:
    """(number of the first line, fields) of each row that is not blank. A quoted field may have line breaks."""
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
            bad(line_of(lines.path, lines.undecodable_at), lines.problem, lines.undecodable)
        elif fields[1:] or any(map(str.strip, fields)):
            yield start, fields


def _long_fields(reader: Iterator[list[str]]) -> list[str]:
    """The next row, with fields of up to FIELD_LIMIT letters. The limit of `csv`, which holds for the whole process, is
    restored."""
    before = csv.field_size_limit(FIELD_LIMIT)
    try:
        return next(reader)
    finally:
        csv.field_size_limit(before)


def json_rows(path: Path, columns: Sequence[str], hint: str, bad: BadRows) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of each line that is not blank; every object has all `columns`."""
    with Lines(path, encoding=bad.encoding) as lines:
        if lines.peek().lstrip().startswith("["):
            raise DataError(
                f"{path}: holds one json array; json lines are expected, one object per line (`jq -c '.[]'` makes them)"
            )
        for place, line in lines.decoded(bad):
            if not line.strip():
                continue
            try:
                record = parse_json(line)
            except NotJson as error:
                at = f" at letter {error.position + 1} of the line" if error.position is not None else ""
                bad(place, error.problem, f"{error.detail}{at}")
                continue
            if not isinstance(record, dict):
                bad(place, "not a json object", f"found {line.strip()[:40]!r}")
            elif missing := [column for column in columns if column not in record]:
                bad(place, "missing column", missing_column(missing[0], record, hint))
            else:
                yield lines.number, record


class NotJson(ValueError):
    """The error for a text that is not JSON, or that has values which cannot be stored."""

    def __init__(self, problem: str, detail: str, position: int | None = None) -> None:
        """`problem` and `detail` as for `BadRows`; `position` counts from 0, and is None if it is unknown."""
        super().__init__(f"{problem}: {detail}")
        self.problem, self.detail, self.position = problem, detail, position


SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str) -> Any:
    """The value of a JSON text. Raises NotJson for another text, deep nesting, numbers of thousands of digits, and half
    of a surrogate pair, which no file can store."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise NotJson("not json", error.msg, error.pos) from error
    except RecursionError as error:
        raise NotJson("not json", "lists or objects are nested too deeply") from error
    except ValueError as error:
        raise NotJson("not json", "a whole number has too many digits") from error
    if SURROGATE.search(text):
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x}"
            raise NotJson("incomplete character", f"found {half} without the other half of its pair") from error
    return found


def guarded(read: Callable[Concatenate[Path, P], Iterator[Row]]) -> Callable[Concatenate[Path, P], Iterator[Row]]:
    """Decorates a reader: errors that its checks do not foresee become a DataError that names the file."""

    @wraps(read)
    def rows(path: Path, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[Row]:
        try:
            yield from read(path, *args, **kwargs)
        except ZooError:
            raise
        except UNREADABLE as error:
            raise unreadable(path, error) from error
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise DataError(f"{path}: the file does not have the expected layout ({reason})") from error

    return rows


def missing_column(column: str, found: Iterable[str], hint: str = "") -> str:
    """The message for a column that a table does not have."""
    found = [str(name) for name in found]
    return f"no column {column!r}; found: {', '.join(map(repr, found))}{or_nearest(column, found)}{hint}"
