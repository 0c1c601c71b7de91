"""Pictures or clips with captions of your own: a folder of them and a table of captions."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from zoo.data.captions.files import IMAGES, Medium, captioned_files
from zoo.data.captions.module import CaptionData
from zoo.data.captions.options import CaptionColumns
from zoo.data.captions.readers import CaptionedFile, read_table
from zoo.data.corpus import OwnFiles
from zoo.data.readers import TABLES, columns_of, is_table, read_columns
from zoo.data.rows import BadRows, visible
from zoo.data.sources import SPLITS, Source, find_splits, split_of
from zoo.errors import DataError

LAYOUT = (
    f"a table ({', '.join(TABLES)}) with a column of {{0}} files and one of captions, any number of rows per {{0}}, or "
    "its folder, or a folder of tables called train, test and perhaps val; the {0}s beside it or in data.{0}s"
)
HINT = " (the keys are data.columns.file, data.columns.caption and data.columns.split)"


class IgnoredRows(BadRows):
    """Ignores bad rows, which a second reading of the same file reports."""

    def __call__(self, place: str, problem: str, detail: str = "") -> None:
        return


class CaptionTable(OwnFiles, CaptionData):
    """Captions from a table at `path`. Splits that neither a column nor a table names are drawn by `split.seed`, by
    image or by clip."""

    layout = LAYOUT.format(IMAGES.noun)
    medium: Medium = IMAGES

    def __init__(
        self,
        *,
        files: str | None = None,
        columns: Mapping[str, Any] | CaptionColumns | None = None,
        **rest: Any,
    ) -> None:
        """`files` is the folder of the images or clips, or its parent; None: the folder of the table. `columns` names
        the columns of the table. `batches` is `pictures` by default."""
        rest.setdefault("batches", "pictures")
        super().__init__(**rest)
        self.files = files
        self.columns = CaptionColumns.of(columns)

    def open_files(self, path: Path) -> Source:
        tables = self._tables(path)
        texts = [table for part in tables.values() for table in part]
        columns = {table: [self.columns.file, self.columns.caption] for table in texts}
        splits = list(tables)
        if splits == ["train"]:
            found = {table: self._split_column(table) for table in texts}
            columns = {table: [*columns[table], *([name] if name else [])] for table, (name, _) in found.items()}
            named = {split for _, some in found.values() for split in some}
            if named:
                if not all(name for name, _ in found.values()):
                    named.add("train")  # for the rows of a table without the column
                splits = [split for split in SPLITS if split in named]
                if "train" not in named:
                    name, _ = found[texts[0]]
                    raise DataError(f"{texts[0]}: no row has train in column {name!r}; expected at least one")
        read = partial(_captions, tables, columns)
        facts = {"columns": vars(self.columns), "tables": {name: list(map(str, part)) for name, part in tables.items()}}
        return self.captioned(path, texts, read, splits, facts)

    def captioned(self, path: Path, texts: Sequence[Path], read: Any, splits: Sequence[str], facts: Any) -> Source:
        """The source of the files that tables describe."""
        picture, medium = self.picture, self.medium
        return captioned_files(path, texts, read, splits, picture, facts, images=self.files, medium=medium)

    def _tables(self, path: Path) -> dict[str, list[Path]]:
        if path.is_file():
            if not is_table(path):
                raise DataError(f"{path}: unknown kind of file {path.suffix!r}; expected: {self.layout}")
            return {"train": [path]}
        tables = [file for file in visible(path) if file.is_file() and is_table(file)]
        if len(tables) == 1:
            return {"train": tables}
        if found := find_splits(path, TABLES):
            return {split: found[split] for split in SPLITS if split in found}
        if named := [file for file in tables if file.name.lower().startswith("captions.")]:
            return {"train": named[:1]}
        listing = f"several tables, {', '.join(file.name for file in tables[:8])}" if tables else "no table"
        raise DataError(f"{path}: found {listing}; expected: {self.layout}")

    def _split_column(self, table: Path) -> tuple[str | None, set[str]]:
        """The name of the column of splits, and the splits in it. An empty column `split` is ignored."""
        given, encoding = self.columns.split, self.loader.encoding
        names = columns_of(table, encoding)
        name = given or next((name for name in names if name.lower() == "split"), None)
        if name is None:
            return None, set()
        rows = read_columns(table, (name,), HINT, IgnoredRows(encoding=encoding))
        values = {str(value or "").strip() for _, value in rows}
        return name if given or values - {""} else None, {split for split in map(split_of, values) if split}


def _captions(
    tables: Mapping[str, Sequence[Path]], columns: Mapping[Path, Sequence[str]], bad: BadRows
) -> Iterator[CaptionedFile]:
    for split, some in tables.items():
        for table in some:
            yield from (one._replace(split=one.split or split) for one in read_table(table, columns[table], HINT, bad))
