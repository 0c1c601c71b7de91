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
from functools import partial
from itertools import count as from_
from typing import Any

from zoo.data.stories.samples import carrying, compass, moving, reasoning
from zoo.data.stories.samples.story_writer import HOUSEHOLD, RECEIVERS, TRADERS, StoryWriter
from zoo.data.stories.story import Story

Generator = Callable[[StoryWriter], None]


def _things(people: tuple[str, ...], ask: Callable[..., Any], *about: carrying.Kind, **options: Any) -> Generator:
    return partial(carrying.tell, people=people, ask=ask, about=about, **options)


GENERATORS: dict[str, Generator] = {
    "single-supporting-fact": moving.arrivals,
    "two-supporting-facts": _things(HOUSEHOLD, carrying.where_is_thing, "get", "drop"),
    "three-supporting-facts": _things(HOUSEHOLD, carrying.where_was_thing, "get", "drop", gets_there=carrying.THERE),
    "two-arg-relations": compass.two_arg_relations,
    "three-arg-relations": _things(TRADERS, carrying.who_gave, "give", giving=True),
    "yes-no-questions": _things(HOUSEHOLD, carrying.is_person_there, "go"),
    "counting": _things(RECEIVERS, carrying.how_many, "get", "drop", "give", giving=True),
    "lists-sets": _things(HOUSEHOLD, carrying.what_carried, "get", "drop"),
    "simple-negation": moving.simple_negation,
    "indefinite-knowledge": moving.indefinite_knowledge,
    "basic-coreference": partial(moving.arrivals, pronouns=True),
    "conjunction": partial(moving.arrivals, pairs=True),
    "compound-coreference": partial(moving.arrivals, pairs=True, pronouns=True),
    "time-reasoning": moving.time_reasoning,
    "basic-deduction": reasoning.basic_deduction,
    "basic-induction": reasoning.basic_induction,
    "positional-reasoning": compass.positional_reasoning,
    "size-reasoning": reasoning.size_reasoning,
    "path-finding": compass.path_finding,
    "agents-motivations": reasoning.agents_motivations,
}
"""Name of each task in the names of the official files, in the order of their numbers -> function that generates one
story of it, from its first line to its last question."""
NAMES = dict(enumerate(GENERATORS, 1))  # Task number -> name


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
    if task not in NAMES:
        raise ValueError(f"the bAbI tasks are 1 to {len(NAMES)}; got {task}")
    for index in from_():
        writer = StoryWriter(random.Random(f"babi {seed} {split} {task} {index}"))
        GENERATORS[NAMES[task]](writer)
        yield Story(tuple(writer.lines), task)
