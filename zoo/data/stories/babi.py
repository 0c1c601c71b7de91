"""The bAbI tasks: twenty kinds of questions about a small world, each a test of one kind of reasoning.

Weston et al. 2015, https://arxiv.org/abs/1502.05698: for each task 1,000 questions to train on and 1,000 to test
(`en`), or 10,000 and 1,000 (`en-10k`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Unpack

import datasets
from annotated_types import Ge, Le
from pydantic import Field

from zoo.arguments import Natural
from zoo.data.cache import write_new
from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.options import Options, Part
from zoo.data.rows import BadRows
from zoo.data.sources import HUB_SPLITS, SPLITS, Source, download, identity, path_source
from zoo.data.stored import draw_splits
from zoo.data.stories.module import StoryData
from zoo.data.stories.readers import StoryBuilder, read_stories
from zoo.data.stories.samples import babi
from zoo.data.stories.samples.babi import NAMES
from zoo.data.stories.story import Story
from zoo.errors import ConfigError, DataError

ARCHIVE = "tasks_1-20_v1-2"
OFFICIAL = {"train": "train", "val": "valid", "test": "test"}
"""Names of the splits in the names of the official files."""
HUB = "facebook/babi_qa"
HUB_REVISION = "refs/convert/parquet"
"""The revision that has parquet files: the main one has a script, which `datasets` no longer runs."""
BLANK_BEFORE_ANSWER = frozenset({1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})
"""Tasks whose official files have a blank between the question mark and the tab."""
Task = Annotated[int, Ge(1), Le(20)]
Tasks = Task | Annotated[list[Task], Field(min_length=1)] | Literal["all"]
"""One, some, or all of the twenty tasks."""


@dataclass(frozen=True)
class HoldOutOptions(Options):
    """The training questions that become the validation set. Data with validation files ignore these options."""

    group: ClassVar[str] = "split"

    val: Part = 0.1
    """The share of the questions: the last ones of a single task; a random draw from several tasks."""
    seed: Natural = 1
    """The seed of that draw. It is not the seed of a run, so that runs with different seeds are validated on the same
    questions."""

    def advice(self, missing: Sequence[str], noun: str) -> str:
        return f"use more {noun}, or set a smaller share as data.split.val"


class BabiArguments(CorpusArguments, total=False):
    """The arguments of `Babi` besides those of its own."""

    replacement: bool


class Babi(Corpus, StoryData):
    """Questions of one, some or all of the tasks. `source` is `sample`, `hub`, or a path: the official folder, or any
    with qa*_train.txt and qa*_test.txt.

    As in the papers on bAbI, the last training questions of one task validate, or a draw from those of several tasks,
    unless there are qa*_valid.txt. The vocabulary has the answers of all splits: a list may occur in the test alone.
    """

    name = "babi"
    layout = f"the folder {ARCHIVE} with the folder of data.set, or files such as qa1_single-supporting-fact_train.txt"
    split_options = HoldOutOptions
    every_answer: ClassVar[bool] = True

    def __init__(self, *, tasks: Tasks = 1, set: str = "en", **rest: Unpack[BabiArguments]) -> None:
        """`tasks` are numbers, or `all`; `set` is the folder of the archive, or the part of the hub: `en`, `en-10k`,
        ...; the sizes of the sample count for each task."""
        super().__init__(**rest)
        self.numbers = _numbers(tasks)
        self.task_names = {task: f"qa{task}" for task in self.numbers}
        self.set = set

    def draw(self, raw: dict[str, datasets.Dataset], source: Source) -> dict[str, datasets.Dataset]:
        return draw_splits(raw, self.split, source.place, self.row_noun, last=len(self.numbers) == 1)

    def open_sample(self) -> Source:
        def read(split: str, bad: BadRows) -> Iterator[Story]:
            size = getattr(self.sample, split)
            for task in self.numbers:
                yield from babi.questions(task, size, seed=self.sample.seed, split=split)

        # The generated stories follow from the code and the word lists next to it.
        code = sha256(b"".join(file.read_bytes() for file in sorted(Path(babi.__file__).parent.glob("*.py"))))
        return Source(
            place="the sample",
            description=f"sample: {{count}} generated questions, {named(self.numbers)}, seed {self.sample.seed}",
            identity={"sample": code.hexdigest(), **vars(self.sample)},
            splits={split: partial(read, split) for split in SPLITS},
        )

    def open_hub(self) -> Source:
        def read(split: str, bad: BadRows) -> Iterator[Story]:
            for task in self.numbers:
                part = f"{self.set}-qa{task}"
                found = download(HUB, split, ("story",), data_dir=part, revision=HUB_REVISION)
                for number, record in enumerate(found, 1):
                    yield from _hub_story(record["story"], task, f"{HUB}, {part}, {split}, row {number}", bad)

        splits = [split for split in SPLITS if split != "val" or "valid" in self.set]
        return Source(
            place=f"{HUB}, {self.set}",
            description=f"hub: {HUB}, {self.set}, {named(self.numbers)}, {{count}} questions",
            identity={"hub": HUB, "subset": self.set, "tasks": self.numbers},
            splits={split: partial(read, HUB_SPLITS[split]) for split in splits},
        )

    def open_files(self, path: Path) -> Source | None:
        folders = (path, path / self.set, path / ARCHIVE / self.set)
        folder = next((one for one in folders if [*one.glob("qa*_*train.txt"), *one.glob("qa*_*test.txt")]), None)
        if folder is None:
            return None
        files: dict[str, dict[int, Path]] = {}
        for split in SPLITS:
            found = {task: file for task in self.numbers if (file := _file(folder, task, split))}
            missing = [task for task in self.numbers if task not in found]
            if missing and (split != "val" or found):
                there = [task for task in range(1, 21) if _file(folder, task, split)]
                some = f"the files of {named(there)} are there" if there else "there is no file of any task"
                raise DataError(
                    f"{folder / file_name(missing[0], OFFICIAL[split])}: file not found; {some} (set data.tasks)"
                )
            if found:
                files[split] = found

        def read(parts: Mapping[int, Path], bad: BadRows) -> Iterator[Story]:
            for task, file in parts.items():
                yield from read_stories(file, task, bad)

        splits = {split: partial(read, parts) for split, parts in files.items()}
        stamps = {split: list(map(identity, parts.values())) for split, parts in files.items()}
        return path_source(folder, f"questions of {named(self.numbers)}", splits, files=stamps)

    def write(self, folder: Path) -> list[Path]:
        """Write the stories as official files. Raises DataError if one of them exists or cannot be written; then none
        is written."""
        source, bad = self.open_source(), self.bad_rows()
        written: dict[str, list[str]] = {
            file_name(task, OFFICIAL[split]): [] for split in source.splits for task in self.numbers
        }
        for split, read in source.splits.items():
            for story in read(bad):
                written[file_name(story.task, OFFICIAL[split])].append(write_story(story))
        return write_new(folder, written)


def _numbers(tasks: Tasks) -> list[int]:
    """The tasks in their order. Raises ConfigError if one is named twice."""
    if tasks == "all":
        return list(range(1, 21))
    chosen = [tasks] if isinstance(tasks, int) else sorted(int(task) for task in tasks)
    if twice := [task for task in chosen if chosen.count(task) > 1]:
        raise ConfigError(f"data.tasks={tasks}: task {twice[0]} is listed twice")
    return chosen


def _file(folder: Path, task: int, split: str) -> Path | None:
    """The file of a task and a split; validation may also be called val."""
    names = ("valid", "val") if split == "val" else (split,)
    return next((file for name in names for file in sorted(folder.glob(f"qa{task}_*{name}.txt"))), None)


def _hub_story(lines: Any, task: int, place: str, bad: BadRows) -> Iterator[Story]:
    """A row of the hub: the lines of a story, each with id, text, supporting_ids and answer, which is empty for a
    statement."""
    columns = lines if isinstance(lines, Mapping) else {key: [line[key] for line in lines] for key in lines[0]}
    story = StoryBuilder(task, bad)
    rows = zip(columns["id"], columns["text"], columns["answer"], columns["supporting_ids"], strict=True)
    for number, text, answer, supporting in rows:
        where = f"{place}, line {number}"
        if answer:
            story.question(where, text.strip(), answer, [str(at) for at in supporting])
        else:
            story.statement(where, text.strip())
    yield from story.finished()


def file_name(task: int, split: str) -> str:
    """The official file of a task and a split, `train` or `test`: `qa1_single-supporting-fact_train.txt`."""
    return f"qa{task}_{NAMES[task]}_{split}.txt"


def named(tasks: list[int]) -> str:
    """The numbers of some tasks in words: `task 1`, `tasks 1, 2, 5-20`."""
    runs: list[list[int]] = []
    for task in tasks:
        if runs and task == runs[-1][-1] + 1:
            runs[-1].append(task)
        else:
            runs.append([task])
    words = [f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return f"task{'s' if len(tasks) > 1 else ''} {', '.join(words)}"


def write_story(story: Story) -> str:
    """The lines of a story as they are in an official file, each with its line end: `1 Mary moved to the bathroom.`,
    `3 Where is Mary? <tab>bathroom<tab>1`; blanks separate the supporting lines. A file is stories in sequence: each
    begins with the number 1."""
    blank = " " if story.task in BLANK_BEFORE_ANSWER else ""
    lines = []
    for number, line in enumerate(story.lines, 1):
        text = f"{number} {line.text}"
        if line.answer is not None:
            text += f"{blank}\t{line.answer}\t{' '.join(map(str, line.supporting))}"
        lines.append(text + "\n")
    return "".join(lines)
