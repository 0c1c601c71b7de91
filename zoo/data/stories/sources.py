"""Where stories come from: official files, the hub, files of one's own, or a generator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows
from zoo.data.sources import SPLITS, Source, download, identity
from zoo.data.stories.readers import StoryBuilder, Told, read_stories
from zoo.data.stories.samples import babi
from zoo.data.stories.tasks import file_name
from zoo.errors import DataError

NOUN = "questions"
WORDS = {"train": ("train",), "val": ("valid", "val"), "test": ("test",)}
"""What the names of the official files call each split."""
HUB = "facebook/babi_qa"
HUB_REVISION = "refs/convert/parquet"
"""Where the hub keeps as parquet what is a script, which `datasets` no longer runs."""
HUB_SPLITS = {"train": "train", "val": "validation", "test": "test"}


@dataclass(frozen=True)
class StorySource(Source):
    """Stories: its readers give `Told`."""

    tasks: Mapping[int, str]
    """The names of the tasks that the questions are of, by the numbers that the stories have."""
    drawn: Literal["last", "questions", "stories"]
    """What of the training questions becomes a split that is missing: the last of them, some of them, or all those of
    some stories."""
    every_answer: bool
    """The vocabulary holds the answers of all splits. Else one that training lacks is an error."""


def babi_source(folder: Path, tasks: Sequence[int]) -> StorySource:
    """The official files of some tasks in one folder. Raises DataError where one is missing."""
    files: dict[str, list[Path]] = {}
    for split in SPLITS:
        found = {task: _file(folder, task, split) for task in tasks}
        missing = [task for task, file in found.items() if file is None]
        if missing and (split != "val" or len(missing) < len(tasks)):
            raise DataError(
                f"{folder / file_name(missing[0], WORDS[split][0])}: there is no such file; {_there(folder, split)}"
            )
        if not missing:
            files[split] = [file for file in found.values() if file is not None]

    def read(split: str, bad: BadRows) -> Iterator[Told]:
        for task, file in zip(tasks, files[split], strict=True):
            yield from read_stories(file, task, bad)

    return StorySource(
        place=str(folder),
        description=f"path: {folder}, {named(tasks)}, {{count}} {NOUN}",
        identity={"files": {name: [identity(part) for part in parts] for name, parts in files.items()}},
        splits={split: partial(read, split) for split in files},
        **protocol(tasks),
    )


def protocol(tasks: Sequence[int]) -> dict[str, Any]:
    """What the papers on bAbI agree on: validation is cut off the end of one task's training questions, or drawn from
    those of several; the vocabulary is one of all splits' answers, of which a list may be tested alone."""
    return {
        "tasks": {task: f"qa{task}" for task in tasks},
        "drawn": "last" if len(tasks) == 1 else "questions",
        "every_answer": True,
    }


def sample_stories(options: SampleOptions, tasks: Sequence[int]) -> StorySource:
    """Generated stories of some tasks; the sizes of `options` are questions of each."""

    def read(split: str, bad: BadRows) -> Iterator[Told]:
        for task in tasks:
            made = babi.questions(task, getattr(options, split), seed=options.seed, split=split)
            for number, story in enumerate(made, 1):
                place = f"the sample, {split}, task {task}, story {number}"
                yield Told(story, tuple(f"{place}, line {line}" for line in range(1, len(story.lines) + 1)))

    # What is generated follows from the code and the word lists beside it.
    code = sha256(b"".join(file.read_bytes() for file in sorted(Path(babi.__file__).parent.glob("*.py"))))
    return StorySource(
        place="the sample",
        description=f"sample: {{count}} generated {NOUN}, {named(tasks)}, seed {options.seed}",
        identity={"sample": code.hexdigest(), **vars(options)},
        splits={split: partial(read, split) for split in SPLITS},
        **protocol(tasks),
    )


def named(tasks: Sequence[int]) -> str:
    """`task 1`, `tasks 1, 2, 5-20`."""
    runs: list[list[int]] = []
    for task in tasks:
        if runs and task == runs[-1][-1] + 1:
            runs[-1].append(task)
        else:
            runs.append([task])
    words = [f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return f"task{'s' if len(tasks) > 1 else ''} {', '.join(words)}"


def _file(folder: Path, task: int, split: str) -> Path | None:
    return next((file for word in WORDS[split] for file in sorted(folder.glob(f"qa{task}_*{word}.txt"))), None)


def _there(folder: Path, split: str) -> str:
    there = [task for task in range(1, 21) if _file(folder, task, split)]
    found = f"there are those of {named(there)}" if there else "there is none of any task"
    return f"{found} (the key is data.tasks)"


def hub_source(subset: str, tasks: Sequence[int]) -> StorySource:
    """bAbI on the Hugging Face hub, kept in the cache of `datasets`; `subset` is `en`, `en-10k`, ..."""

    def read(split: str, bad: BadRows) -> Iterator[Told]:
        for task in tasks:
            configuration = f"{subset}-qa{task}"
            found = download(HUB, split, ("story",), data_dir=configuration, revision=HUB_REVISION)
            for number, record in enumerate(found, 1):
                yield from _hub_story(record["story"], task, f"{HUB}, {configuration}, {split}, row {number}", bad)

    return StorySource(
        place=f"{HUB}, {subset}",
        description=f"hub: {HUB}, {subset}, {named(tasks)}, {{count}} {NOUN}",
        identity={"hub": HUB, "subset": subset, "tasks": list(tasks)},
        splits={split: partial(read, HUB_SPLITS[split]) for split in SPLITS if split != "val" or "valid" in subset},
        **protocol(tasks),
    )


def _hub_story(lines: Any, task: int, place: str, bad: BadRows) -> Iterator[Told]:
    """A row of the hub: the lines of a story, each with id, text, supporting_ids and answer; a statement has none."""
    columns = lines if isinstance(lines, Mapping) else {key: [line[key] for line in lines] for key in lines[0]}
    story = StoryBuilder(task, bad)
    rows = zip(columns["id"], columns["text"], columns["answer"], columns["supporting_ids"], strict=True)
    for number, text, answer, supporting in rows:
        where = f"{place}, line {number}"
        if answer:
            story.question(where, text.strip(), answer, [str(at) for at in supporting])
        else:
            story.statement(where, text.strip())
    yield from story.told()


def own_source(path: Path, files: Mapping[str, Sequence[Path]]) -> StorySource:
    """Files of one's own, in bAbI's format or json lines."""

    def read(parts: Sequence[Path], bad: BadRows) -> Iterator[Told]:
        return (told for part in parts for told in read_stories(part, 0, bad))

    return StorySource(
        place=str(path),
        description=f"path: {path}, {{count}} {NOUN}",
        identity={"files": {name: [identity(part) for part in parts] for name, parts in files.items()}},
        splits={name: partial(read, files[name]) for name in SPLITS if name in files},
        tasks={0: "stories"},
        drawn="stories",
        every_answer=False,
    )
