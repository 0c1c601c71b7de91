"""Stories with questions of your own: files in bAbI's format, or json lines."""

from pathlib import Path
from typing import ClassVar, Required, Unpack

import datasets
import numpy as np

from zoo.data.corpus import OwnFiles
from zoo.data.options import OwnSplitOptions
from zoo.data.readers import kind_of
from zoo.data.sources import Source, existing, file_source, find_splits
from zoo.data.stored import draw_splits, values_of
from zoo.data.stories.module import StoryArguments, StoryData
from zoo.data.stories.readers import KINDS, read_stories

LAYOUT = (
    "a file in bAbI's format (.txt) or of json lines (.jsonl) with story, question and answer, or a folder with such "
    "files called train, test and perhaps val"
)


class OwnStoryArguments(StoryArguments, total=False):
    """The arguments of `OwnStories`."""

    path: Required[str]


class OwnStories(OwnFiles, StoryData):
    """Stories from `path`. Splits without files of their own are drawn by `split.seed`, whole stories at a time."""

    name = "stories"
    layout = LAYOUT
    split_options = OwnSplitOptions
    split: OwnSplitOptions
    every_answer: ClassVar[bool] = False
    task_names: ClassVar[dict[int, str]] = {0: "stories"}  # type: ignore[misc]

    def __init__(self, **rest: Unpack[OwnStoryArguments]) -> None:
        super().__init__(**rest)

    def draw(self, raw: dict[str, datasets.Dataset], source: Source) -> dict[str, datasets.Dataset]:
        stories = np.fromiter(values_of(raw["train"], "story_number"), np.int64)
        return draw_splits(raw, self.split, source.place, "stories", groups=stories)

    def open_files(self, path: Path) -> Source | None:
        files = find_splits(path, KINDS) if path.is_dir() else {"train": [path]} if kind_of(path) in KINDS else {}
        if not files:
            return None
        for split, other in self.split.named().items():
            files[split] = [existing(other, f"data.split.{split}", "a share between 0 and 1, or a file of stories")]
        return file_source(path, files, lambda file, bad: read_stories(file, 0, bad), "questions")
