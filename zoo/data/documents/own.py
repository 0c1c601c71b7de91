"""Documents of your own: a table with a column of texts and one of labels, or a folder of text files."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar, Unpack

from pydantic import Field

from zoo.data.corpus import OwnFiles
from zoo.data.documents.module import DocumentData
from zoo.data.documents.readers import folder_source, read_table
from zoo.data.options import OwnSplitOptions, Part
from zoo.data.readers import TABLES, is_table
from zoo.data.sources import Source, existing, file_source, find_splits
from zoo.data.text.vectored import VectorArguments
from zoo.errors import DataError

LAYOUT = (
    f"a file ({', '.join(TABLES)}) with named columns, a folder with such files called train, test and perhaps val, "
    "or a folder or .zip of class folders with text files (pos/*.txt, neg/*.txt)"
)
Table = Annotated[str, Field(pattern=r"\S", description="the path of a table")]
Pattern = Annotated[str, Field(pattern=r"\S", description="a pattern of file names")]


@dataclass(frozen=True)
class DocumentSplitOptions(OwnSplitOptions):
    """Shares for documents of your own. `val` and `test` may also be the path of a second table or, for class folders,
    a pattern of file names, such as `cv9*`."""

    another: ClassVar[str] = "a file of its own (of class folders: a pattern of file names)"

    val: Part | Table | Pattern = 0.1
    test: Part | Table | Pattern = 0.1


class OwnDocumentArguments(VectorArguments):
    """The arguments of `OwnDocuments` besides the columns."""

    path: str


class OwnDocuments(OwnFiles, DocumentData):
    """Documents from `path`. Labels are names or numbers. `split.seed` draws the splits without a file or folder."""

    name = "documents"
    layout = LAYOUT
    split_options = DocumentSplitOptions
    split: DocumentSplitOptions

    def __init__(
        self, *, text_column: str = "text", label_column: str = "label", **rest: Unpack[OwnDocumentArguments]
    ) -> None:
        """The columns are those of a table."""
        super().__init__(**rest)
        self.text_column, self.label_column = text_column, label_column

    def open_files(self, path: Path) -> Source | None:
        if files := self._tables(path):
            for split, other in self.split.named().items():
                expected = "a share between 0 and 1, or a file of the kind of data.path"
                files[split] = [existing(other, f"data.split.{split}", expected)]
            columns = self.text_column, self.label_column
            source = file_source(path, files, lambda part, bad: read_table(part, *columns, bad), self.nouns.examples)
            return replace(source, identity={**source.identity, "columns": columns})
        return folder_source(path, self.nouns.examples, patterns=self.split.named())

    def _tables(self, path: Path) -> dict[str, list[Path]]:
        if path.is_dir():
            return find_splits(path, TABLES)
        if is_table(path):
            return {"train": [path]}
        if path.suffix.lower() != ".zip":
            raise DataError(f"{path}: unknown kind of file {path.suffix!r}; expected: {LAYOUT}")
        return {}
