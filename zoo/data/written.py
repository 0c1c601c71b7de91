"""A sample written as files of your own: a folder for each split, and a table that names them."""

import csv
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from zoo.data.rows import BadRows
from zoo.data.sources import Source
from zoo.errors import DataError


def write_files(
    folder: Path,
    source: Source,
    bad: BadRows,
    *,
    table: str,
    column: str,
    suffix: str,
    write: Callable[[Path, Any], None],
    texts: Callable[[Any], tuple[str, ...]],
) -> list[Path]:
    """Write each row of a source as SPLIT/NUMBER.suffix, and a row of the table for each of its texts. Returns the
    table and the folders. Raises DataError, and writes nothing, if the folder is not empty or an error occurs.

    Args:
        table: the name of the table, whose columns are `file`, `column` and `split`.
        write: writes the file of a row.
        texts: the texts of a row.
    """
    try:
        if folder.exists() and any(folder.iterdir()):
            raise DataError(f"{folder}: is not empty, and stays as it is; give a new folder")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as made:
            inside = Path(made) / folder.name
            inside.mkdir()
            with (inside / table).open("w", encoding="utf-8", newline="") as file:
                lines = csv.writer(file, lineterminator="\n")
                lines.writerow(("file", column, "split"))
                for split, read in source.splits.items():
                    (inside / split).mkdir()
                    for number, row in enumerate(read(bad), 1):
                        name = f"{split}/{number:06d}{suffix}"
                        write(inside / name, row)
                        lines.writerows((name, text, split) for text in texts(row))
            os.replace(inside, folder)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written: {error.strerror}") from error
    return [folder / table, *(folder / split for split in source.splits)]
