"""The embedded bAbI sample: stories of all twenty tasks in the official form, from a small simulated world.

Its unit is the story, as in the official files. Each split has an endless stream for each task, so that no story occurs
in two splits:

- `questions(task, count, seed=..., split=...)`: the first stories of a stream, the last of them cut after the question
  that completes `count`. Data modules read these, and `zoo data --write` writes them (`write_story`).
- `stories(task, seed=..., split=...)`: the stream itself; story k depends on seed, split, task and k alone.

Grammar, words, probabilities of events and choice of questions are those of the official files (v1.2, English), but
none of their text is included. Two cases without a valid answer are left out: `either in the park or the park` (task
10), and the question what one person gave another if there were two gifts, except for the last (task 5). Task 18
chooses its questions nearly as the official files do.

Source: Weston et al., Towards AI-Complete Question Answering: A Set of Prerequisite Toy Tasks, 2015,
https://arxiv.org/abs/1502.05698.
"""

import random
from collections.abc import Callable, Iterator
from itertools import count as from_

from zoo.data.stories.samples import carrying, compass, moving, reasoning, whereabouts
from zoo.data.stories.samples.story_writer import StoryWriter
from zoo.data.stories.story import Story

GENERATORS: dict[int, Callable[[StoryWriter], None]] = {
    1: moving.single_supporting_fact,
    2: carrying.two_supporting_facts,
    3: carrying.three_supporting_facts,
    4: compass.two_arg_relations,
    5: carrying.three_arg_relations,
    6: carrying.yes_no_questions,
    7: carrying.counting,
    8: carrying.lists_sets,
    9: whereabouts.simple_negation,
    10: whereabouts.indefinite_knowledge,
    11: moving.basic_coreference,
    12: moving.conjunction,
    13: moving.compound_coreference,
    14: whereabouts.time_reasoning,
    15: reasoning.basic_deduction,
    16: reasoning.basic_induction,
    17: compass.positional_reasoning,
    18: reasoning.size_reasoning,
    19: compass.path_finding,
    20: reasoning.agents_motivations,
}
"""Task number -> function that generates one story of the task, from its first line to its last question. Its name is
that of the task in the names of the official files."""


def questions(task: int, count: int, *, seed: int, split: str) -> Iterator[Story]:
    """The first stories of the stream, with `count` questions in all.

    The last story is cut after the question that completes `count`. Raises ValueError for a count below 0.
    """
    if count < 0:
        raise ValueError(f"count is the number of questions, 0 or more; got {count}")
    left = count
    for story in stories(task, seed=seed, split=split):
        asked = [place for place, line in enumerate(story.lines) if line.answer is not None]
        if left <= len(asked):
            if left:
                yield Story(story.lines[: asked[left - 1] + 1], task)
            return
        yield story
        left -= len(asked)


def stories(task: int, *, seed: int, split: str) -> Iterator[Story]:
    """The endless stream of a task's stories. Raises ValueError for an unknown task number."""
    if task not in GENERATORS:
        raise ValueError(f"the bAbI tasks are 1 to {max(GENERATORS)}; got {task}")
    for index in from_():
        writer = StoryWriter(random.Random(f"babi {seed} {split} {task} {index}"))
        GENERATORS[task](writer)
        yield Story(tuple(writer.lines), task)
