"""Your own trees in brackets, or labelled texts on which trees are built."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Literal, Required, Unpack

from zoo.data.corpus import OwnFiles
from zoo.data.readers import TABLES, class_name, is_table, read_columns
from zoo.data.rows import BadRows
from zoo.data.sources import Source, file_source, find_splits
from zoo.data.text.options import check_language
from zoo.data.trees.brackets import read_trees
from zoo.data.trees.builder import SPACY, builds
from zoo.data.trees.module import LabelledTreeArguments, TreeData
from zoo.data.trees.tree import Labelled, flat
from zoo.errors import ConfigError, DataError
from zoo.values import hold

BRACKETS = (".txt", ".ptb", ".mrg", ".tree", ".trees")
LAYOUT = (
    f"a file of trees in brackets, one per line ({', '.join(BRACKETS)}), or of texts with labels "
    f"({', '.join(TABLES)}), or a folder with such files called train, test and perhaps val"
)
COLUMNS_HINT = " (the keys are data.text_column and data.label_column)"


class OwnTreeArguments(LabelledTreeArguments):
    """The arguments of `OwnTrees` besides its own."""

    path: Required[str]


class OwnTrees(OwnFiles, TreeData):
    """Trees from `path` with any labels; only the root needs one. Splits without a file are drawn by `split.seed`."""

    name = "trees"
    layout = LAYOUT

    def __init__(
        self,
        *,
        text_column: str = "text",
        label_column: str = "label",
        polarity: Sequence[int] | None = None,
        **rest: Unpack[OwnTreeArguments],
    ) -> None:
        """Name the columns of a table; `polarity` is -1, 0 or 1 for each class that is negative, neutral or positive,
        in the order of their names."""
        super().__init__(**rest)
        self.text_column, self.label_column = text_column, label_column
        hold("data.polarity", polarity, list[Literal[-1, 0, 1]] | None)
        self.polarity = tuple(polarity or ())
        self.inside = self.trees.startswith(SPACY)

    def open_files(self, path: Path) -> Source | None:
        bracketed = path.is_file() and path.name.lower().removesuffix(".gz").endswith(BRACKETS)
        if files := {"train": [path]} if bracketed else _splits(path, BRACKETS):
            return file_source(path, files, read_trees, "trees")
        tables = {"train": [path]} if is_table(path) else _splits(path, TABLES)
        if not tables:
            return None
        if not builds(self.trees):
            raise ConfigError(
                f"{path}: these texts have no trees, and data.trees={self.trees} reads given trees; "
                "data.trees=balanced, left, right or spacy:MODEL builds trees on them"
            )
        check_language(self.text.tokenizer, self.text.language)
        source = file_source(path, tables, self._read_table, "texts")
        return replace(source, identity={**source.identity, "columns": [self.text_column, self.label_column]})

    def _read_table(self, path: Path, bad: BadRows) -> Iterator[Labelled]:
        columns = (self.text_column, self.label_column)
        for place, text, label in read_columns(path, columns, COLUMNS_HINT, bad):
            words = self.builder.words(text if isinstance(text, str) else "")
            name = class_name(label)
            if not words:
                bad(place, "no text", f"column {self.text_column!r} holds {text!r}")
            elif name is None:
                bad(place, "no label", f"column {self.label_column!r} holds {label!r}")
            else:
                yield Labelled(flat(words, name), place)


def _splits(folder: Path, suffixes: Sequence[str]) -> dict[str, list[Path]]:
    """The files of one kind by split; empty without a folder or without training files. Raises DataError if a split has
    files of the other kind."""
    found = find_splits(folder, suffixes) if folder.is_dir() else {}
    if found:
        every = find_splits(folder, [*BRACKETS, *TABLES])
        if other := [file for files in every.values() for file in files if file not in chain(*found.values())]:
            raise DataError(
                f"{other[0]}: found trees in brackets and tables in one folder, beside {found['train'][0].name}; "
                f"expected all splits of one kind: {LAYOUT}"
            )
    return found
