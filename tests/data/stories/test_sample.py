"""The generated stories as a sample: their streams, the cut, and the official text."""

from collections import Counter
from itertools import islice

import pytest

from tests.data.stories.solver import read
from zoo.data.stories.babi import NAMES, file_name, write_story
from zoo.data.stories.samples.babi import questions, stories
from zoo.data.stories.story import Line, Story

TASKS = pytest.mark.parametrize("task", NAMES)


def first(task: int, count: int, *, seed: int = 3, split: str = "train") -> list[Story]:
    return list(islice(stories(task, seed=seed, split=split), count))


def asked(story: Story) -> int:
    return sum(line.answer is not None for line in story.lines)


@TASKS
def test_a_story_depends_on_seed_split_task_and_number_alone(task):
    few, many = first(task, 3), first(task, 12)
    assert many[:3] == few
    one, other = stories(task, seed=3, split="train"), stories(task, seed=4, split="test")
    assert [(next(one), next(other))[0] for _ in range(12)] == many  # two at once do not disturb each other


@TASKS
def test_stories_of_other_seeds_and_splits_are_others(task):
    texts = [
        {write_story(story) for story in first(task, 50, seed=seed, split=split)}
        for seed, split in ((3, "train"), (4, "train"), (3, "val"), (3, "test"))
    ]
    for a in range(4):
        assert len(texts[a]) >= 45
        for b in range(a):
            # A story of tasks 4 and 17 is so short that now and then one comes twice.
            assert len(texts[a] & texts[b]) <= 5


@TASKS
def test_as_many_questions_as_were_asked_for(task):
    whole = first(task, 60)
    for count in (0, 1, 7, 50):
        found = list(questions(task, count, seed=3, split="train"))
        assert sum(map(asked, found)) == count
        assert found[:-1] == whole[: len(found[:-1])]
        if found:
            last, full = found[-1], whole[len(found) - 1]
            assert last.lines == full.lines[: len(last.lines)]
            assert last.lines[-1].answer is not None and last.task == task


@TASKS
def test_support_stands_before_the_question_and_is_said(task):
    for story in first(task, 100):
        for place, line in enumerate(story.lines):
            if line.answer is None:
                assert line.text.endswith(".") and not line.supporting
                continue
            assert line.text.endswith("?") and line.supporting
            assert len(set(line.supporting)) == len(line.supporting)
            assert all(1 <= number <= place for number in line.supporting)
            assert all(story.lines[number - 1].answer is None for number in line.supporting)


def test_a_wrong_task_or_count_is_said():
    with pytest.raises(ValueError, match=r"tasks are 1 to 20; got 21"):
        next(stories(21, seed=0, split="train"))
    with pytest.raises(ValueError, match=r"0 or more; got -1"):
        next(questions(1, -1, seed=0, split="train"))


def test_official_text():
    lines = (
        Line("Mary got the milk there."),
        Line("Mary moved to the hallway."),
        Line("Where is the milk?", "hallway", (1, 2)),
    )
    assert write_story(Story(lines, 2)) == (
        "1 Mary got the milk there.\n2 Mary moved to the hallway.\n3 Where is the milk? \thallway\t1 2\n"
    )
    assert write_story(Story((Line("Is it?", "no", (1,)),), 17)) == "1 Is it?\tno\t1\n"
    assert file_name(2, "test") == "qa2_two-supporting-facts_test.txt"


@TASKS
def test_an_official_file_is_written_as_it_was_read(task, shared_data):
    path = official(shared_data, "en", task, "test")
    text = path.read_text(encoding="ascii")
    lines: list[list[Line]] = []
    for row in text.splitlines():
        number, rest = row.split(" ", 1)
        if number == "1":
            lines.append([])
        said, *question = rest.split("\t")
        support = tuple(map(int, question[1].split())) if question else ()
        lines[-1].append(Line(said.rstrip(), question[0] if question else None, support))
    assert "".join(write_story(Story(tuple(story), task)) for story in lines) == text


def official(shared_data, folder: str, task: int, split: str):
    path = shared_data / "babi" / "tasks_1-20_v1-2" / folder / file_name(task, split)
    if not path.is_file():
        pytest.skip(f"no {path.name} of {folder} beside the clone (../shared/data/babi)")
    return path


@TASKS
def test_answers_cannot_be_guessed(task):
    """The most frequent answer is no more frequent than it is officially: half of yes and no, a sixth of rooms."""
    most = {6: 0.55, 7: 0.55, 8: 0.4, 9: 0.68, 10: 0.5, 17: 0.58, 18: 0.58}
    answers = Counter(
        question.answer for question in read("".join(map(write_story, questions(task, 1000, seed=0, split="train"))))
    )
    assert answers.most_common(1)[0][1] / answers.total() <= most.get(task, 0.35)
