"""The bAbI tasks: twenty kinds of questions about a small world, each a test of one kind of reasoning.

Weston et al. 2015, https://arxiv.org/abs/1502.05698: 1,000 questions a task to train on and 1,000 to test (`en`), or
10,000 and 1,000 (`en-10k`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.data.options import LoaderOptions, SampleOptions
from zoo.data.sources import existing
from zoo.data.stories.module import StoryData
from zoo.data.stories.options import HoldOutOptions, StoryTextOptions, Tasks
from zoo.data.stories.sources import StorySource, babi_source, hub_source, sample_stories
from zoo.data.stories.tasks import file_name
from zoo.data.stories.writing import write_story
from zoo.data.writing import write_new
from zoo.errors import ConfigError, DataError

ARCHIVE = "tasks_1-20_v1-2"
OFFICIAL = {"train": "train", "val": "valid", "test": "test"}
"""What the names of the files call each split."""
LAYOUT = f"the folder {ARCHIVE}, or one with files such as qa1_single-supporting-fact_train.txt"


class Babi(StoryData):
    """Questions of one, some or all of the tasks. `source`: `sample`, `hub`, or a path: the official folder, or any
    with qa*_train.txt and qa*_test.txt. Validation is what qa*_valid.txt hold or else a part of training."""

    name = "babi"

    def __init__(
        self,
        *,
        source: str | None = "sample",
        tasks: Tasks = 1,
        set: str = "en",
        sample: Mapping[str, Any] | SampleOptions | None = None,
        split: Mapping[str, Any] | HoldOutOptions | None = None,
        text: Mapping[str, Any] | StoryTextOptions | None = None,
        replacement: bool = False,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """`tasks` are numbers, or `all`; `set` is the folder of the archive, or its part of the hub: `en`, `en-10k`,
        ...; `sample` the sizes of the sample, for each task; the rest as in `StoryData`."""
        super().__init__(
            split=HoldOutOptions.of(split),
            text=text,
            replacement=replacement,
            loader=loader,
        )
        self.source = source
        self.numbers = _numbers(tasks)
        self.set = set
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> StorySource:
        if not self.source:
            raise ConfigError(f"data.source is not set; expected: sample, hub, or the path of {LAYOUT}")
        if self.source == "sample":
            return sample_stories(self.sample, self.numbers)
        if self.source == "hub":
            return hub_source(self.set, self.numbers)
        path = existing(self.source, "data.source", f"sample, hub, or the path of {LAYOUT}")
        return babi_source(self._folder_of(path), self.numbers)

    def write(self, folder: Path) -> list[Path]:
        """Write the stories, wherever they come from, as official files. Raises DataError where one is there already,
        or cannot be written; no part of one is left then."""
        source, bad = self.open_source(), self.bad_rows()
        written: dict[tuple[str, int], list[str]] = {
            (split, task): [] for split in source.splits for task in self.numbers
        }
        for split, read in source.splits.items():
            for told in read(bad):
                written[split, told.story.task].append(write_story(told.story))
        return write_new(folder, {file_name(task, OFFICIAL[split]): text for (split, task), text in written.items()})

    def _folder_of(self, path: Path) -> Path:
        folders = [path, path / self.set, path / ARCHIVE / self.set]
        for folder in folders:
            if any(folder.glob("qa*_*train.txt")) or any(folder.glob("qa*_*test.txt")):
                return folder
        inside = sorted(part.name for part in path.iterdir())[:8] if path.is_dir() else []
        found = f"found {', '.join(inside)}" if inside else "there is nothing"
        raise DataError(
            f"{path}: no files qa*_train.txt, here or in {self.set} (data.set): {found}; expected: {LAYOUT}; or take "
            "data.source=sample"
        )


def _numbers(tasks: Tasks) -> list[int]:
    """The tasks in their order. Raises ConfigError where one is named twice."""
    if tasks == "all":
        return list(range(1, 21))
    chosen = [tasks] if isinstance(tasks, int) else sorted(int(task) for task in tasks)
    if twice := [task for task in chosen if chosen.count(task) > 1]:
        raise ConfigError(f"data.tasks={tasks}: task {twice[0]} stands there twice")
    return chosen
