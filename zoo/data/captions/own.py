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
from zoo.data.listed import columns_and_splits, tables_of
from zoo.data.readers import TABLES
from zoo.data.rows import BadRows
from zoo.data.sources import Source
from zoo.errors import DataError

LAYOUT = (
    f"a table ({', '.join(TABLES)}) with a column of {{0}} files and one of captions, any number of rows per {{0}}, or "
    "its folder, or a folder of tables called train, test and perhaps val; the {0}s beside it or in data.{0}s"
)
HINT = " (the keys are data.columns.file, data.columns.caption and data.columns.split)"


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
        names, given = (self.columns.file, self.columns.caption), self.columns.split
        columns, splits = columns_and_splits(tables, names, given, HINT, self.loader.encoding)
        read = partial(_captions, tables, columns)
        facts = {"columns": vars(self.columns), "tables": {name: list(map(str, part)) for name, part in tables.items()}}
        return self.captioned(path, texts, read, splits, facts)

    def captioned(self, path: Path, texts: Sequence[Path], read: Any, splits: Sequence[str], facts: Any) -> Source:
        """The source of the files that tables describe."""
        picture, medium = self.picture, self.medium
        return captioned_files(path, texts, read, splits, picture, facts, images=self.files, medium=medium)

    def _tables(self, path: Path) -> dict[str, list[Path]]:
        if found := tables_of(path, self.layout, "captions."):
            return found
        problem = f"unknown kind of file {path.suffix!r}" if path.is_file() else "found no table"
        raise DataError(f"{path}: {problem}; expected: {self.layout}")


def _captions(
    tables: Mapping[str, Sequence[Path]], columns: Mapping[Path, Sequence[str]], bad: BadRows
) -> Iterator[CaptionedFile]:
    for split, some in tables.items():
        for table in some:
            yield from (one._replace(split=one.split or split) for one in read_table(table, columns[table], HINT, bad))
