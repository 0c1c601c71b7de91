"""Tables with named columns: csv, tsv, json lines and parquet, each row with its file and line."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zoo.data.encodings import UTF8
from zoo.data.rows import (
    BadRows,
    Lines,
    NeverSkipped,
    csv_rows,
    guarded,
    json_rows,
    line_of,
    missing_column,
    open_binary,
    reading,
)
from zoo.errors import DataError

WHOLE = re.compile(r"^(-?\d+)\.0+$")
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")

TableRow = tuple[str, *tuple[Any, ...]]
"""The place of a row, for messages, and the values of its columns."""


def class_name(value: Any) -> str | None:
    """The label of a row as text, or None if the row has no label. 4, 4.0 and "4 " all give "4"."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or isinstance(value, list | dict):
        return None
    return WHOLE.sub(r"\1", str(value).strip()) or None


@guarded
def read_columns(path: Path, columns: tuple[str, ...], hint: str, bad: BadRows) -> Iterator[TableRow]:
    """(place, *values) of each row, for these named columns. Raises DataError for a missing column, with `hint` on the
    keys that name the columns."""
    readers = {".csv": _csv_table, ".tsv": _csv_table, ".parquet": _parquet_table}
    return readers.get(_kind_of_table(path), _json_table)(path, columns, hint, bad)


def columns_of(path: Path, encoding: str = UTF8) -> list[str]:
    """The names of a table's columns. Raises DataError if it is not a table."""
    kind = _kind_of_table(path)
    if kind == ".parquet":
        with reading(path):
            return list(pq.read_schema(path).names)
    if kind in (".csv", ".tsv"):
        with Lines(path, encoding=encoding) as lines:
            return _header(lines, delimiter_of(path, lines))[1]
    return list(next(json_rows(path, (), "", BadRows("skip", encoding)), (1, {}))[1])


def _kind_of_table(path: Path) -> str:
    kind = kind_of(path)
    if kind not in TABLES:
        raise DataError(f"{path}: unknown kind of file {kind!r}; {', '.join(TABLES)} are read")
    return kind


def is_table(path: Path) -> bool:
    """Whether `read_columns` reads files of this name."""
    return kind_of(path) in TABLES


def kind_of(path: Path) -> str:
    """The suffix that shows the format of a file, without .gz. A name such as `.csv` is nothing but a suffix."""
    _, dot, suffix = path.name.removesuffix(".gz").rpartition(".")
    return f"{dot}{suffix}".lower() if dot else ""


def _column(place: str, name: str, header: list[str], hint: str) -> int:
    if header.count(name) > 1:
        raise DataError(f"{place}: {header.count(name)} columns are called {name!r}")
    if name not in header:
        raise DataError(f"{place}: {missing_column(name, header, hint)}")
    return header.index(name)


def delimiter_of(path: Path, lines: Lines) -> str:
    """The sign between the fields of a table. Excel writes semicolons wherever the decimal sign is a comma."""
    return "\t" if kind_of(path) == ".tsv" else max(",;\t", key=lines.peek().count)


def _header(lines: Lines, delimiter: str) -> tuple[int, list[str]]:
    number, names = next(csv_rows(lines, delimiter, NeverSkipped()), (1, []))  # a broken header cannot be skipped
    return number, [name.strip() for name in names]


def _csv_table(path: Path, columns: tuple[str, ...], hint: str, bad: BadRows) -> Iterator[TableRow]:
    with Lines(path, encoding=bad.encoding) as lines:
        delimiter = delimiter_of(path, lines)
        number, header = _header(lines, delimiter)
        chosen = [_column(line_of(path, number), column.strip(), header, hint) for column in columns]
        for number, fields in csv_rows(lines, delimiter, bad):
            place = line_of(path, number)
            if len(fields) != len(header):
                bad(
                    place,
                    "wrong number of fields",
                    f"found {len(fields)}, the header has {len(header)}; a text with {delimiter!r} needs quotes",
                )
            else:
                yield place, *(fields[at] for at in chosen)


def _json_table(path: Path, columns: tuple[str, ...], hint: str, bad: BadRows) -> Iterator[TableRow]:
    for number, record in json_rows(path, columns, hint, bad):
        yield line_of(path, number), *(record[column] for column in columns)


def _parquet_table(path: Path, columns: tuple[str, ...], hint: str, bad: BadRows) -> Iterator[TableRow]:
    open_binary(path).close()
    try:
        file = pq.ParquetFile(path)
        for column in columns:
            if column not in file.schema_arrow.names:
                raise DataError(f"{path}: {missing_column(column, file.schema_arrow.names, hint)}")
        number = 0
        for batch in file.iter_batches(1000, columns=list(columns)):
            for found in zip(*(batch.column(column).to_pylist() for column in columns), strict=True):
                number += 1
                yield f"{path}, row {number}", *found
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{path}: cannot be read as parquet: {error}") from error
