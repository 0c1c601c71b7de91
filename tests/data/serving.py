"""Helpers of the tests of data: files to read, data that are ready to serve, and the examples of a split."""

import csv
import gzip
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from zoo.data.rows import BadRows
from zoo.errors import DataError


def written(path: Path, content: str | bytes) -> Path:
    """A file with these bytes, or with this text, which is packed if the name ends in .gz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pack = gzip.compress if path.suffix == ".gz" else bytes
    path.write_bytes(content if isinstance(content, bytes) else pack(content.encode()))
    return path


def table(path: Path, rows: Iterable[Sequence[Any]], header: Sequence[str] = ("text", "label")) -> str:
    """The path of a csv file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return str(path)


def prepared(data: Any) -> Any:
    """`data`, ready to serve."""
    data.prepare_data()
    data.setup()
    return data


def batches(data: Any, split: str) -> list[Any]:
    return list(getattr(data, f"{split}_dataloader")())


def served(data: Any, split: str, *fields: str) -> list[Any]:
    """The values of these fields of a split's batches, example by example, in the order of the split."""
    rows = [
        row
        for batch in batches(data, split)
        for row in zip(batch.index.tolist(), *(getattr(batch, field) for field in fields), strict=True)
    ]
    found = [row[1:] for row in sorted(rows, key=lambda row: row[0])]
    return [row[0] for row in found] if len(fields) == 1 else found


def one_bad_row(read: Callable[[BadRows], Iterable[Any]], message: str) -> list[Any]:
    """The other rows of a file with a row that cannot be used. Reading stops there with this message, and with `skip`
    leaves this row out."""
    with pytest.raises(DataError) as error:
        list(read(BadRows()))
    assert str(error.value).startswith(message) and str(error.value).endswith("on_bad_row=skip leaves such rows out)")
    bad = BadRows("skip")
    rows = list(read(bad))
    assert bad.total == 1 and f": {next(iter(bad.problems))}" in str(error.value)
    return rows
