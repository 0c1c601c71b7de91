"""The Stanford Sentiment Treebank: sentences of film reviews with a class at every node of their parses.

Socher et al. 2013, https://aclanthology.org/D13-1170; https://nlp.stanford.edu/sentiment: 8,544 sentences for training,
1,101 for validation and 2,210 for the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal, Unpack, get_args

from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.rows import BadRows
from zoo.data.sources import SPLITS, ReadOnce, Source, download, file_source, find_splits, identity, sample_source
from zoo.data.trees.brackets import parse, read_trees
from zoo.data.trees.module import LabelledTreeArguments, TreeData
from zoo.data.trees.row import Labelled
from zoo.data.trees.samples import sentiment
from zoo.data.trees.sst_files import FILES, read_raw
from zoo.data.trees.writing import write_trees
from zoo.errors import one_of

Classes = Literal["fine", "binary"]
NAMES = ("very negative", "negative", "neutral", "positive", "very positive")
FINE = {str(number): name for number, name in enumerate(NAMES)}
BINARY = {"0": "negative", "1": "negative", "2": "neutral", "3": "positive", "4": "positive"}
HUB, HUB_REVISION = "stanfordnlp/sst", "refs/convert/parquet"
"""The repository has a folder for each configuration, with a folder for each split, but no list of them."""
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
        return write_trees(self.open_source(), folder, BadRows(self.loader.on_bad_row))

    def open_sample(self) -> Source:
        return sample_source(sentiment.generate, self.sample, "trees")

    def open_hub(self) -> Source:
        return Source(
            place=HUB,
            description=f"hub: {HUB}, {{count}} trees",
            identity={"hub": HUB},
            splits={split: partial(_read_hub, split) for split in SPLITS},
        )

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


def _read_hub(split: str, bad: BadRows) -> Iterator[Labelled]:
    name = {"val": "validation"}.get(split, split)
    for number, record in enumerate(download(HUB, name, ("ptb_tree",), data_dir="ptb", revision=HUB_REVISION), 1):
        place = f"{HUB}, {name}, row {number}"
        try:
            tree = parse(record["ptb_tree"])
        except ValueError as error:
            bad(place, "bad tree", str(error))
        else:
            yield Labelled(tree, place)
