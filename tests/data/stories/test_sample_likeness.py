"""The generated stories are like the official ones: the same words, and distributions about as far from them as the
official training and test sets are from each other."""

from pathlib import Path

import pytest

from tests.data.stories.likeness import KINDS, NUMBERS, distance, statistics, vocabulary
from tests.data.stories.solver import Asked, read
from zoo.data.stories.babi import NAMES, file_name, write_story
from zoo.data.stories.samples.babi import questions

COUNT = 4000
STATISTICS = (*NUMBERS, *KINDS)
SLACK = 1.5
"""Times the natural distance: two hundred comparisons have to lie below it at once."""


@pytest.fixture(scope="module")
def official(shared_data: Path) -> dict[int, list[str]]:
    """The text of the training and of the test set of each task, 1,000 questions each."""
    folder = shared_data / "babi" / "tasks_1-20_v1-2" / "en"
    if not folder.is_dir():
        pytest.skip("no bAbI beside the clone (../shared/data/babi)")
    names = {task: [folder / file_name(task, split) for split in ("train", "test")] for task in NAMES}
    return {task: [path.read_text(encoding="ascii") for path in paths] for task, paths in names.items()}


@pytest.fixture(scope="module")
def natural(official) -> dict[str, float]:
    """By statistic, the largest distance of any task's training set from its test set: what is left to chance."""
    found = dict.fromkeys(STATISTICS, 0.0)
    for texts in official.values():
        train, test = (statistics(read(text)) for text in texts)
        for name in STATISTICS:
            found[name] = max(found[name], distance(name, train[name], test[name]))
    return found


def generated(task: int) -> list[Asked]:
    return read("".join(map(write_story, questions(task, COUNT, seed=0, split="train"))))


@pytest.mark.parametrize("task", NAMES)
def test_a_task_is_like_the_official_one(task, official, natural):
    real, made = read("".join(official[task])), generated(task)
    assert vocabulary(made) == vocabulary(real)
    a, b = statistics(made), statistics(real)
    apart = {name: distance(name, a[name], b[name]) for name in STATISTICS}
    assert {name: gap for name, gap in apart.items() if gap > SLACK * natural[name]} == {}


def test_the_tolerances_tell_a_task_from_the_others(official, natural):
    """Every other task, taken for this one, would be found by its words or by one of the statistics."""
    found = {task: read(texts[1]) for task, texts in official.items()}
    shapes = {task: statistics(questions) for task, questions in found.items()}
    terms = {task: vocabulary(questions) for task, questions in found.items()}
    for a in NAMES:
        for b in range(1, a):
            apart = any(distance(n, shapes[a][n], shapes[b][n]) > SLACK * natural[n] for n in STATISTICS)
            assert apart or terms[a] != terms[b], (a, b)
