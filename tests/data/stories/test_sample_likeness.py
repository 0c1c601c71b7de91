"""The generated stories are like the official ones: the same words, and distributions about as far from them as the
official training and test sets are from each other."""

import re
from collections import Counter
from itertools import chain, pairwise
from pathlib import Path

import pytest

from tests.data.stories.solver import Asked, asked
from tests.data.stories.tiny import real
from zoo.data.rows import BadRows
from zoo.data.stories.babi import NAMES
from zoo.data.stories.readers import read_babi
from zoo.data.stories.samples.babi import questions
from zoo.data.stories.story import Story

NUMBERS = ("statements before a question", "words of a statement", "questions of a story", "supporting facts",
           "statements since the newest support", "statements since the oldest support")  # fmt: skip
KINDS = ("answers", "verbs and other small words", "order of the supporting facts", "a question repeats the last one",
         "there at the end, of what is not a way")  # fmt: skip
COUNT = 4000
STATISTICS = (*NUMBERS, *KINDS)
SLACK = 1.5
"""Times the natural distance: two hundred comparisons have to lie below it at once."""


def words(text: str) -> list[str]:
    """Words of a sentence as a network reads them."""
    return re.findall(r"[a-z]+", text.lower())


def vocabulary(questions: list[Asked]) -> dict[str, set[str]]:
    """The words of statements and questions, and the single answers that lists consist of."""
    found: dict[str, set[str]] = {"statements": set(), "questions": set(), "answers": set()}
    for question in questions:
        found["questions"] |= set(words(question.text))
        found["answers"] |= set(question.answer.split(","))
        for _, text in question.statements:
            found["statements"] |= set(words(text))
    return found


def statistics(questions: list[Asked]) -> dict[str, Counter]:
    """Histograms of a task's questions by the names of `NUMBERS` and `KINDS`."""
    found: dict[str, Counter] = {name: Counter() for name in (*NUMBERS, *KINDS)}
    stories: dict[int, list[Asked]] = {}
    for question in questions:
        stories.setdefault(question.story, []).append(question)
        numbers = [number for number, _ in question.statements]
        since = [len(numbers) - 1 - numbers.index(number) for number in question.supporting]
        order = sorted(question.supporting)
        found["statements before a question"][len(numbers)] += 1
        found["supporting facts"][len(since)] += 1
        found["statements since the newest support"][min(since)] += 1
        found["statements since the oldest support"][max(since)] += 1
        found["answers"][question.answer] += 1
        if len(order) <= 3:
            found["order of the supporting facts"][tuple(map(order.index, question.supporting))] += 1
    for story in list(stories.values())[:-1]:  # the last one may be cut
        found["questions of a story"][len(story)] += 1
        for before, after in pairwise(story):
            found["a question repeats the last one"][before.text == after.text] += 1
        for _, text in story[-1].statements:
            found["words of a statement"][len(text.split())] += 1
            found["verbs and other small words"].update(words(text))
            if " to the " not in text:
                found["there at the end, of what is not a way"][text.endswith(" there.")] += 1
    return found


def distance(name: str, a: Counter, b: Counter) -> float:
    """From 0, the same, to 1: of numbers the largest difference of the two distribution functions (Kolmogorov and
    Smirnov's), of kinds half the sum of the differences of their shares."""
    total_a, total_b = sum(a.values()), sum(b.values())
    if not total_a and not total_b:
        return 0.0
    keys = sorted(set(a) | set(b), key=lambda key: (isinstance(key, str), key))
    gaps = [a[key] / total_a - b[key] / total_b for key in keys]
    if name in KINDS:
        return sum(map(abs, gaps)) / 2
    return max(abs(sum(gaps[: end + 1])) for end in range(len(gaps)))


@pytest.fixture(scope="module")
def official(shared_data: Path) -> dict[int, list[list[Story]]]:
    """The stories of the training and of the test set of each task, 1,000 questions each."""
    splits = ("train", "test")
    return {task: [list(read_babi(real(shared_data, task, one), task, BadRows())) for one in splits] for task in NAMES}


@pytest.fixture(scope="module")
def natural(official) -> dict[str, float]:
    """By statistic, the largest distance of any task's training set from its test set: what is left to chance."""
    found = dict.fromkeys(STATISTICS, 0.0)
    for splits in official.values():
        train, test = (statistics(asked(stories)) for stories in splits)
        for name in STATISTICS:
            found[name] = max(found[name], distance(name, train[name], test[name]))
    return found


@pytest.mark.parametrize("task", NAMES)
def test_a_task_is_like_the_official_one(task, official, natural):
    found, made = asked(chain(*official[task])), asked(questions(task, COUNT, seed=0, split="train"))
    assert vocabulary(made) == vocabulary(found)
    a, b = statistics(made), statistics(found)
    apart = {name: distance(name, a[name], b[name]) for name in STATISTICS}
    assert {name: gap for name, gap in apart.items() if gap > SLACK * natural[name]} == {}
