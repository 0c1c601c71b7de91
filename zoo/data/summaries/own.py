"""Articles and summaries of your own: a table with a column of texts and one of summaries, or a folder of files."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Unpack

from zoo.data.corpus import OwnFiles
from zoo.data.options import OwnSplitOptions
from zoo.data.readers import TABLES, is_table
from zoo.data.sources import Source, existing, file_source, find_splits
from zoo.data.summaries.module import SummaryArguments, SummaryData
from zoo.data.summaries.readers import NOUN, folder_source, read_pair, read_table
from zoo.errors import ConfigError

HINT = " (the keys are data.text_column and data.summary_column)"
SUFFIX = ".txt"
LAYOUT = (
    f"a table ({', '.join(TABLES)}) with named columns, a folder with such files called train, test and perhaps val, or "
    f"a folder with NAME{SUFFIX} and NAME.summary of each article, perhaps in folders called train, val and test"
)


class OwnSummaryArguments(SummaryArguments):
    """The arguments of `OwnSummaries` besides the columns."""

    path: str


class OwnSummaries(OwnFiles, SummaryData):
    """Articles from `path`. In json lines and parquet a text may be a list of sentences, and the summary a list of
    several. `split.seed` draws the splits without a file or folder."""

    name = "articles"
    layout = LAYOUT
    split_options = OwnSplitOptions
    split: OwnSplitOptions

    def __init__(
        self, *, text_column: str = "text", summary_column: str = "summary", **rest: Unpack[OwnSummaryArguments]
    ) -> None:
        """The columns are those of a table."""
        super().__init__(**rest)
        self.columns = text_column, summary_column

    def open_files(self, path: Path) -> Source | None:
        files = find_splits(path, TABLES) if path.is_dir() else {"train": [path]} if is_table(path) else {}
        if not files:
            if self.split.named():
                raise ConfigError(f"{path}: data.split.{next(iter(self.split.named()))} names a file, and only tables "
                                  "have a file for a split; use a share between 0 and 1")
            return folder_source(path, partial(read_pair, summary=lambda text: text.with_suffix(".summary")), SUFFIX)
        for split, other in self.split.named().items():
            files[split] = [existing(other, f"data.split.{split}", "a share between 0 and 1, or a table")]
        source = file_source(path, files, lambda part, bad: read_table(part, self.columns, HINT, bad), NOUN)
        return replace(source, identity={**source.identity, "columns": self.columns})
