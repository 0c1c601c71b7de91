"""Images with captions of your own: a folder of them and a table of captions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NotRequired, Required, Unpack

from zoo.data.corpus import OwnFiles
from zoo.data.images.files import FileSource
from zoo.data.images.module import ImageData, PictureArguments
from zoo.data.images.options import CaptionColumns
from zoo.data.images.readers import Described, read_table, table_columns
from zoo.data.readers import TABLES, is_table, read_columns
from zoo.data.rows import BadRows, visible
from zoo.data.sources import SPLITS, Source, find_splits
from zoo.errors import DataError

LAYOUT = (
    f"a table ({', '.join(TABLES)}) with a column of image files and one of captions, any number of rows an image, or "
    "the folder of one, or of tables called train, test and perhaps val; the images beside it or in data.images"
)
HINT = " (the keys are data.columns.file, data.columns.caption and data.columns.split)"


class Unsaid(BadRows):
    """For a first look at a file, of which what is wrong is said later."""

    def __call__(self, place: str, problem: str, detail: str = "") -> None:
        return


class OwnCaptionArguments(PictureArguments):
    """The arguments of `OwnCaptions` besides those of its own."""

    path: Required[str]
    grid: NotRequired[Sequence[int]]


class OwnCaptions(OwnFiles, ImageData):
    """Images from `path`. Splits that neither a column nor a table names are drawn by `split.seed`, by image."""

    name = "captions"
    layout = LAYOUT

    def __init__(
        self,
        *,
        images: str | None = None,
        columns: Mapping[str, Any] | CaptionColumns | None = None,
        batches: str = "pictures",
        **rest: Unpack[OwnCaptionArguments],
    ) -> None:
        """`images` is the folder of the images, or one above it; None: beside the table. `columns` names the columns of
        the table."""
        super().__init__(batches=batches, **rest)
        self.images = images
        self.columns = CaptionColumns.of(columns)

    def open_files(self, path: Path) -> Source:
        tables = self._tables(path)
        facts = {"columns": vars(self.columns), "tables": {split: list(map(str, tables[split])) for split in tables}}
        texts = [table for part in tables.values() for table in part]
        named = [self._columns(table) for table in texts]  # what is missing is said before anything is read
        splits: Sequence[str] = list(tables)
        if list(tables) == ["train"] and all(len(columns) == 3 for columns in named):
            told = {one.split for one in self._told(tables, Unsaid(encoding=self.loader.encoding))}
            splits = [split for split in SPLITS if split in told] or list(tables)
            if told and "train" not in told:
                raise DataError(f"{texts[0]}: column {named[0][2]!r} puts no image into train; expected some there")
        return FileSource(path, texts, partial(self._told, tables), splits, self.picture, self.images, facts).source()

    def _tables(self, path: Path) -> dict[str, list[Path]]:
        """The tables of each split."""
        if path.is_file():
            if not is_table(path):
                raise DataError(f"{path}: unknown kind of file {path.suffix!r}; expected: {LAYOUT}")
            return {"train": [path]}
        there = [file for file in visible(path) if file.is_file() and is_table(file)]
        if len(there) == 1:
            return {"train": there}
        if found := find_splits(path, TABLES):
            return {split: found[split] for split in SPLITS if split in found}
        if named := [file for file in there if file.name.lower().startswith("captions.")]:
            return {"train": named[:1]}
        listing = f"the tables {', '.join(file.name for file in there[:8])}: which one?" if there else "no table"
        raise DataError(f"{path}: found {listing}; expected: {LAYOUT}")

    def _columns(self, table: Path) -> list[str]:
        """The names of the columns that are read of a table: files, captions, and splits where it tells them."""
        found = table_columns(table, self.loader.encoding)
        split = self.columns.split or next((name for name in found if name.lower() == "split"), None)
        if split and self.columns.split is None and _blank(table, split, self.loader.encoding):
            split = None  # a form that nobody filled in
        return [self.columns.file, self.columns.caption, *([split] if split else [])]

    def _told(self, tables: Mapping[str, Sequence[Path]], bad: BadRows) -> Iterator[Described]:
        seen: dict[str, tuple[str, str]] = {}
        for split, table in ((split, table) for split, parts in tables.items() for table in parts):
            columns = self._columns(table)
            if len(tables) > 1:
                columns = columns[:2]  # which table it is in says of what split an image is
            for one in read_table(table, columns, HINT, bad):
                of, place = seen.setdefault(one.file, (split, one.place))
                if of != split:
                    bad(
                        one.place,
                        "one image in two splits",
                        f"{one.file!r} is of {split!r} here and of {of!r} in {place}",
                    )
                else:
                    yield one._replace(split=one.split or split)


def _blank(table: Path, column: str, encoding: str) -> bool:
    """Whether no row of a table says anything in a column."""
    return all(
        not str(value or "").strip() for _, value in read_columns(table, (column,), HINT, Unsaid(encoding=encoding))
    )
