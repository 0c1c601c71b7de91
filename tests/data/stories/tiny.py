"""Small files of stories, and a slow loop over them to compare with."""

import random
from pathlib import Path
from typing import Any

from zoo.data.rows import BadRows
from zoo.data.stories.babi import file_name
from zoo.data.stories.readers import read_babi
from zoo.data.stories.words import answer_form, split_words

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
    folder.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        for split, count in (("train", train), ("test", 5), *([("valid", 3)] if valid else [])):
            (folder / file_name(task, split)).write_text(text(100 * task + count, count))
    return folder


def read_slowly(file: Path) -> list[dict[str, Any]]:
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
                found.append(
                    {
                        "story": [split_words(sentence).forms for sentence in story],
                        "shown": [sentence.split() for sentence in story],
                        "question": split_words(line.text).forms,
                        "answer": answer_form(line.answer),
                        "supporting": {number[at] for at in line.supporting},
                    }
                )
    return found


def prepared(data: Any) -> Any:
    """`data`, ready to serve."""
    data.prepare_data()
    data.setup()
    return data


def questions(data: Any, split: str, batch: Any = None) -> list[dict[str, Any]]:
    """The questions of a batch, or of a whole split, as `read_slowly` gives them, read back from the ids."""
    words = data.encoder.vocabulary.words
    part = data.part(split)
    batch = data._collate(part.__getitems__(list(range(len(part))))) if batch is None else batch
    found = []
    for b in range(len(batch)):
        real = int(batch.sentence_mask[b].sum())
        story = [
            [words[n] for n, there in zip(row.tolist(), mask.tolist(), strict=True) if there]
            for row, mask in zip(batch.words[b][:real], batch.word_mask[b][:real], strict=True)
        ]
        one = {
            "story": story,
            "question": [words[n] for n in batch.question[b][batch.question_mask[b]].tolist()],
            "answer": words[int(batch.answer[b])],
        }
        if batch.supporting is not None:
            one["supporting"] = set(batch.supporting[b].nonzero().flatten().tolist())
        if batch.text is not None:
            one["shown"] = batch.text[b].sentences
        found.append(one)
    return found
