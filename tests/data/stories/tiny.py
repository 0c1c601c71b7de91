"""Small files of stories, and a slow loop over them to compare with."""

import random
from pathlib import Path
from typing import Any

import pytest

from tests.data.serving import prepared, written
from zoo.data.rows import BadRows
from zoo.data.stories.babi import Babi, file_name
from zoo.data.stories.readers import read_babi
from zoo.data.stories.story import answer_form, split_words

PEOPLE, PLACES = ("Mary", "John", "Bill"), ("kitchen", "garden", "red room")


def text(seed: int, stories: int, *, asked: int = 2) -> str:
    """Stories of 1 to 5 statements and as many questions as are `asked`, in bAbI's format."""
    draw, lines = random.Random(seed), []
    for _ in range(stories):
        number, at = 0, dict[str, int]()
        where = dict[str, str]()
        for _ in range(asked):
            for _ in range(draw.randint(1, 3)):
                number += 1
                who, place = draw.choice(PEOPLE), draw.choice(PLACES)
                back = draw.choice(("went", "went back"))
                lines.append(f"{number} {who} {back} to the {place}.")
                at[who], where[who] = number, place
            number += 1
            who = draw.choice(list(at))
            lines.append(f"{number} Where is {who}? \t{where[who]}\t{at[who]}")
    return "\n".join(lines) + "\n"


def official(folder: Path, tasks: tuple[int, ...] = (1,), *, valid: bool = False, train: int = 10) -> Path:
    """A folder with the files of some tasks: `train` stories of two questions, 5 to test, and perhaps 3 to validate."""
    for task in tasks:
        for split, count in (("train", train), ("test", 5), *([("valid", 3)] if valid else [])):
            written(folder / file_name(task, split), text(100 * task + count, count))
    return folder


def read_slowly(file: Path, *, shown: bool = True) -> list[dict[str, Any]]:
    """Every question of a file with the statements before it, by a plain loop."""
    found = []
    for one in read_babi(file, 1, BadRows()):
        story: list[str] = []
        number = dict[int, int]()
        for place, line in enumerate(one.lines, 1):
            if line.answer is None:
                number[place] = len(story)
                story.append(line.text)
            else:
                question = {
                    "story": [split_words(sentence).forms for sentence in story],
                    "question": split_words(line.text).forms,
                    "answer": answer_form(line.answer),
                    "supporting": {number[at] for at in line.supporting},
                }
                found.append(question | ({"shown": [sentence.split() for sentence in story]} if shown else {}))
    return found


def real(shared: Path, task: int, split: str, folder: str = "en") -> Path:
    """A file of bAbI beside the clone; a test that needs it is skipped where there is none."""
    file = shared / "babi" / "tasks_1-20_v1-2" / folder / file_name(task, split)
    if not file.is_file():
        pytest.skip(f"no {file.name} of {folder} beside the clone (../shared/data/babi)")
    return file


def babi(folder: Path, **options: Any) -> Any:
    """The official files of a folder, ready to serve."""
    return prepared(Babi(source=str(folder), **options))


def whole(data: Any, split: str) -> Any:
    """A split as one batch, in its order."""
    part = data.part(split)
    return data._collate(part.__getitems__(list(range(len(part)))))


def questions(data: Any, split: str) -> list[dict[str, Any]]:
    """The questions of a split, as `read_slowly` gives them, read back from the ids."""
    batch, decode = whole(data, split), data.encoder.vocabulary.decode
    found = []
    for b in range(len(batch)):
        story = zip(batch.words[b], batch.word_mask[b], strict=True)
        one = {
            "story": [decode(row[mask].tolist()) for row, mask in story if mask.any()],
            "question": decode(batch.question[b][batch.question_mask[b]].tolist()),
            "answer": decode([int(batch.answer[b])])[0],
        }
        if batch.supporting is not None:
            one["supporting"] = set(batch.supporting[b].nonzero().flatten().tolist())
        if batch.text is not None:
            one["shown"] = batch.text[b].sentences
        found.append(one)
    return found
