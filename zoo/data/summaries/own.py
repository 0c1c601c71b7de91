"""Articles and summaries of your own, in a table or a folder of files, or else the sample: `data=summaries`."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from zoo.data.corpus import OwnFiles
from zoo.data.options import OwnSplitOptions, SampleOptions
from zoo.data.readers import TABLES, is_table
from zoo.data.sources import Source, existing, file_source, find_splits
from zoo.data.summaries.generated import sample_articles
from zoo.data.summaries.module import SummaryArguments, SummaryData
from zoo.data.summaries.readers import NOUN, folder_source, read_pair, read_table
from zoo.values import refusal

HINT = " (the keys are data.text_column and data.summary_column)"
SUFFIX = ".txt"
LAYOUT = (
    f"a table ({', '.join(TABLES)}) with named columns, a folder with such files called train, test and perhaps val, "
    f"or a folder with NAME{SUFFIX} and NAME.summary of each article, perhaps in folders called train, val and test"
)


class Summaries(OwnFiles, SummaryData):
    """Articles from `path`, or the sample without one. In json lines and parquet a text may be a list of sentences, and
    the summary a list of several. `split.seed` draws the splits without a file or folder."""

    name = "summaries"
    layout = LAYOUT
    split_options = OwnSplitOptions
    split: OwnSplitOptions

    def __init__(
        self,
        *,
        path: str | None = None,
        text_column: str = "text",
        summary_column: str = "summary",
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[SummaryArguments],
    ) -> None:
        """`path` is a file or a folder, the columns are those of a table, and `sample` has the sizes of the sample."""
        super().__init__(path=path or "", **rest)
        self.columns = text_column, summary_column
        self.sample = SampleOptions.of(sample)

    def open_sample(self) -> Source:
        return sample_articles(self.sample)

    def open_files(self, path: Path) -> Source | None:
        files = find_splits(path, TABLES) if path.is_dir() else {"train": [path]} if is_table(path) else {}
        named = self.split.named()
        if not files:
            if named:
                expected = "a share between 0 and 1; only a table has a file for another split"
                raise refusal(f"data.split.{next(iter(named))}", next(iter(named.values())), expected)
            return folder_source(path, partial(read_pair, summary=lambda text: text.with_suffix(".summary")), SUFFIX)
        for split, other in named.items():
            files[split] = [existing(other, f"data.split.{split}", "a share between 0 and 1, or a table")]
        source = file_source(path, files, lambda part, bad: read_table(part, self.columns, HINT, bad), NOUN)
        return replace(source, identity={**source.identity, "columns": self.columns})
