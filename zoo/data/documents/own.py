"""Documents of your own: a table with a column of texts and one of labels, or a folder of text files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.data.documents.module import DocumentData
from zoo.data.documents.options import DocumentTextOptions, OwnSplitOptions
from zoo.data.documents.sources import DocumentSource, folder_source, table_source
from zoo.data.options import LoaderOptions
from zoo.data.readers import TABLES, is_table
from zoo.data.sources import existing, find_splits
from zoo.errors import ConfigError, DataError

LAYOUT = (
    f"a file ({', '.join(TABLES)}) with named columns, a folder with such files called train, test and perhaps val, "
    "or a folder or .zip of class folders with text files (pos/*.txt, neg/*.txt)"
)


class OwnDocuments(DocumentData):
    """Documents from `path`. Labels are names or numbers. Splits that are neither files nor folders of their own are
    drawn by `split.seed`."""

    name = "documents"
    noun = "documents"

    def __init__(
        self,
        *,
        path: str,
        text_column: str = "text",
        label_column: str = "label",
        split: Mapping[str, Any] | OwnSplitOptions | None = None,
        text: Mapping[str, Any] | DocumentTextOptions | None = None,
        vectors: str | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """`path` is one of LAYOUT; the columns are those of a table; the rest as in `DocumentData`."""
        self.own_split = OwnSplitOptions.of(split)
        super().__init__(
            text=text,
            split=self.own_split,
            vectors=vectors,
            loader=loader,
        )
        self.path = path
        self.text_column = text_column
        self.label_column = label_column

    def open_source(self) -> DocumentSource:
        if not self.path:
            raise ConfigError(f"data.path is empty; expected: {LAYOUT}")
        path = existing(self.path, "data.path", LAYOUT)
        if files := self._tables(path):
            for split, other in self.own_split.named().items():
                files[split] = [
                    existing(
                        other, f"data.split.{split}", "a share between 0 and 1, or a file of the kind of data.path"
                    )
                ]
            return table_source(path, files, self.text_column, self.label_column, self.noun)
        found = folder_source(path, self.noun, patterns=self.own_split.named())
        if found is None:
            raise DataError(f"{path}: no documents found; expected: {LAYOUT}")
        return found

    def _tables(self, path: Path) -> dict[str, list[Path]]:
        if path.is_dir():
            return find_splits(path, TABLES)
        if is_table(path):
            return {"train": [path]}
        if path.suffix.lower() != ".zip":
            raise DataError(f"{path}: unknown kind of file {path.suffix!r}; expected: {LAYOUT}")
        return {}
