"""The twenty bAbI tasks: their numbers and names, their official files, and the text in these."""

from zoo.data.stories.samples.babi import GENERATORS
from zoo.data.stories.story import Story

NAMES = {task: generate.__name__.replace("_", "-") for task, generate in GENERATORS.items()}
"""The name of each task in the names of its files."""
BLANK_BEFORE_ANSWER = frozenset({1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})
"""Tasks whose official files have a blank between the question mark and the tab."""


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
