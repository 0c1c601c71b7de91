"""Parallel text of your own: two files with corresponding lines, or a table with a column for each side."""

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any, Unpack, cast

from zoo.data.pairs.module import PairData
from zoo.data.pairs.options import OwnPairSplitOptions, OwnPairTextOptions, PairColumns, PairTextOptions
from zoo.data.pairs.sources import NOUN, line_source, read_pair_table, read_tsv
from zoo.data.readers import TABLES, is_table, kind_of
from zoo.data.sources import Source, existing, file_source, find_splits
from zoo.data.table_data import TableArguments
from zoo.errors import ConfigError, DataError

TEXT = "a text file, one sentence per line, .gz or not"
LAYOUT = (
    f"a table ({', '.join(TABLES)}; a .tsv without header has a source and a target in each line), or a folder of "
    "tables called train, test and perhaps val"
)
HINT = " (the keys are data.columns.source and data.columns.target)"


class Parallel(PairData):
    """Pairs from `source_path` and `target_path`, or from the table `path`. `split.seed` draws the splits without files
    of their own."""

    name = "parallel"

    text_options = OwnPairTextOptions
    split_options = OwnPairSplitOptions
    split: OwnPairSplitOptions

    def __init__(
        self,
        *,
        source_path: str | None = None,
        target_path: str | None = None,
        path: str | None = None,
        columns: Mapping[str, Any] | PairColumns | None = None,
        **rest: Unpack[TableArguments],
    ) -> None:
        """`path` is one of LAYOUT, `columns` names its two columns; `text` also names the languages."""
        super().__init__(**rest)
        own = cast(OwnPairTextOptions, self.text)
        self.text = PairTextOptions(**{field.name: getattr(own, field.name) for field in fields(PairTextOptions)})
        self.languages = own.source_language, own.target_language
        self.source_path, self.target_path, self.path = source_path, target_path, path
        self.columns = PairColumns.of(columns)

    def open_source(self) -> Source:
        if bool(self.source_path) != bool(self.target_path) or bool(self.path) == bool(self.source_path):
            given = {"source_path": self.source_path, "target_path": self.target_path, "path": self.path}
            found = ", ".join(f"data.{key}={value}" for key, value in given.items() if value) or "none of them"
            raise ConfigError(
                f"set data.source_path=FILE and data.target_path=FILE, or data.path=TABLE alone; found {found}"
            )
        return self._table() if self.path else self._lines()

    def _lines(self) -> Source:
        assert self.source_path is not None and self.target_path is not None
        paths = {"train": (self.source_path, self.target_path), **self.split.files(2)}
        files = {}
        for split, sides in paths.items():
            keys = ("data.source_path", "data.target_path") if split == "train" else (f"data.split.{split}",) * 2
            source, target = (existing(path, key, TEXT) for path, key in zip(sides, keys, strict=True))
            files[split] = source, target
        return line_source(" and ".join(map(str, files["train"])), files)

    def _table(self) -> Source:
        path = existing(self.path or "", "data.path", LAYOUT)
        files = find_splits(path, TABLES) if path.is_dir() else {"train": [path]}
        if not files or not all(is_table(part) for parts in files.values() for part in parts):
            raise DataError(f"{path}: no table of pairs; expected: {LAYOUT}")
        for split, (other,) in self.split.files(1).items():
            files[split] = [existing(other, f"data.split.{split}", "a share between 0 and 1, or a table")]
        columns = self.columns.names()
        for part in (part for parts in files.values() for part in parts):
            if columns is None and kind_of(part) != ".tsv":
                raise ConfigError(f"{part}: which columns? give data.columns.source=NAME and data.columns.target=NAME")
        read = read_tsv if columns is None else partial(read_pair_table, columns=columns, hint=HINT)
        source = file_source(path, files, read, NOUN)
        return replace(source, identity={**source.identity, "columns": columns})
