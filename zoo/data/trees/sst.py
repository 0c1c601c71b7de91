"""The Stanford Sentiment Treebank: sentences of film reviews with a class at every node of their parses.

Socher et al. 2013, https://aclanthology.org/D13-1170; https://nlp.stanford.edu/sentiment: 8,544 sentences for training,
1,101 for validation and 2,210 for the test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack, get_args

from zoo.data.cache import write_new
from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.rows import BadRows
from zoo.data.sources import ReadOnce, Source, file_source, find_splits, hub_source, identity, sample_source
from zoo.data.trees.brackets import read_tree, read_trees, written
from zoo.data.trees.module import LabelledTreeArguments, TreeData
from zoo.data.trees.samples import sentiment
from zoo.data.trees.sst_files import FILES, read_raw
from zoo.data.trees.tree import Labelled
from zoo.errors import one_of

Classes = Literal["fine", "binary"]
NAMES = ("very negative", "negative", "neutral", "positive", "very positive")
FINE = {str(number): name for number, name in enumerate(NAMES)}
BINARY = {"0": "negative", "1": "negative", "2": "neutral", "3": "positive", "4": "positive"}
HUB, HUB_REVISION = "stanfordnlp/sst", "refs/convert/parquet"
"""The repository has a folder for each configuration, with a folder for each split, but no list of them."""
HUB_SPLITS = {"train": "train", "val": "validation", "test": "test"}
FILES_WRITTEN = {"train": "train.txt", "val": "dev.txt", "test": "test.txt"}
LAYOUT = f"a folder with train.txt, dev.txt and test.txt, one tree per line, or with {', '.join(FILES)}"


class SSTArguments(CorpusArguments, LabelledTreeArguments, total=False):
    """The arguments of `SST` besides `classes`."""


class SST(Corpus, TreeData):
    """Film reviews with a sentiment at every node. A path is the folder of the official files, in brackets
    (trainDevTestTrees_PTB.zip) or raw (stanfordSentimentTreebank.zip).

    `classes=fine` has five classes. `classes=binary` has negative and positive, and neutral for nodes below the root,
    which a network has to know; trees that are neutral as a whole are left out.
    """

    name = "sst"
    layout = LAYOUT

    def __init__(self, *, classes: Classes = "fine", **rest: Unpack[SSTArguments]) -> None:
        """`classes` is described above."""
        super().__init__(**rest)
        if one_of("data.classes", classes, get_args(Classes)) == "fine":
            self.class_names, self.polarity = FINE, (-1, -1, 0, 1, 1)
        else:
            self.class_names, self.polarity, self.neutral = BINARY, (-1, 0, 1), "neutral"

    def write(self, folder: Path) -> list[Path]:
        bad, splits = self.bad_rows(), self.open_source().splits
        return write_new(
            folder, {FILES_WRITTEN[name]: (f"{written(row.tree)}\n" for row in splits[name](bad)) for name in splits}
        )

    def open_sample(self) -> Source:
        return sample_source(sentiment.generate, self.sample, "trees")

    def open_hub(self) -> Source:
        def read(record: Mapping[str, Any], place: str, bad: BadRows) -> Iterator[Labelled]:
            return read_tree(record["ptb_tree"], place, bad)

        which = {"data_dir": "ptb", "revision": HUB_REVISION}
        return hub_source(HUB, HUB_SPLITS, ("ptb_tree",), read, "trees", **which)

    def open_files(self, path: Path) -> Source | None:
        if not path.is_dir():
            return None
        if all((path / name).is_file() for name in FILES):
            return Source(
                place=str(path),
                description=f"path: {path}, raw, {{count}} trees",
                identity={"files": [identity(path / name) for name in FILES]},
                splits=ReadOnce(partial(read_raw, path)).splits(),
            )
        files = find_splits(path, [".txt"])
        return file_source(path, files, read_trees, "trees") if files else None
