"""Tables that list the files of a data set, such as sounds or clips, perhaps with a column of splits."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from zoo.data.readers import TABLES, columns_of, is_table, read_columns
from zoo.data.rows import BadRows, visible
from zoo.data.sources import SPLITS, find_splits, split_of
from zoo.errors import DataError


class IgnoredRows(BadRows):
    """Ignores bad rows, which a second reading of the same file reports."""

    def __call__(self, place: str, problem: str, detail: str = "") -> None:
        return


def tables_of(path: Path, layout: str, preferred: str = "") -> dict[str, list[Path]]:
    """The tables of each split at `path`: one table, the only one of a folder, those that are called train, val and
    test, or one whose name begins with `preferred`. Empty without a table; raises DataError for others, with the
    expected `layout`."""
    if not path.is_dir():
        return {"train": [path]} if is_table(path) else {}
    tables = [file for file in visible(path) if file.is_file() and is_table(file)]
    if len(tables) == 1:
        return {"train": tables}
    if found := find_splits(path, TABLES):
        return {split: found[split] for split in SPLITS if split in found}
    if named := [file for file in tables if preferred and file.name.lower().startswith(preferred)]:
        return {"train": named[:1]}
    if tables:
        names = ", ".join(file.name for file in tables[:8])
        raise DataError(f"{path}: found several tables, {names}; expected: {layout}")
    return {}


def columns_and_splits(
    tables: Mapping[str, Sequence[Path]], columns: tuple[str, ...], given: str | None, hint: str, encoding: str
) -> tuple[dict[Path, tuple[str, ...]], list[str]]:
    """The columns that are read of each of some `tables`, and the splits of all rows. Unless names of tables give the
    splits, a column of splits is added: `given`, or `split` if it is there and not empty. Raises DataError if rows name
    other splits, and not train."""
    texts = [table for some in tables.values() for table in some]
    if list(tables) != ["train"]:
        return dict.fromkeys(texts, columns), list(tables)
    found = {table: _split_column(table, given, hint, encoding) for table in texts}
    named = {split for name, some in found.values() for split in (some if name else {"train"})}
    if named and "train" not in named:
        table, (name, _) = next(iter(found.items()))
        raise DataError(f"{table}: no row has train in column {name!r}; expected at least one")
    read = {table: (*columns, name) if name else columns for table, (name, _) in found.items()}
    return read, [split for split in SPLITS if split in (named or {"train"})]


def _split_column(table: Path, given: str | None, hint: str, encoding: str) -> tuple[str | None, set[str]]:
    """The name of the column of splits, and the splits in it."""
    name = given or next((name for name in columns_of(table, encoding) if name.lower() == "split"), None)
    if name is None:
        return None, set()
    rows = read_columns(table, (name,), hint, IgnoredRows(encoding=encoding))
    values = {str(value or "").strip() for _, value in rows}
    return name if given or values - {""} else None, {split for split in map(split_of, values) if split}
