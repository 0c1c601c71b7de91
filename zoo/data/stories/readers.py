"""The formats of stories with questions: each reader streams stories and names file and line of whatever it cannot
use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from zoo.data.readers import kind_of
from zoo.data.rows import BadRows, Lines, guarded, json_rows, line_of, read_lines
from zoo.data.stories.story import Line, Story
from zoo.data.stories.words import answer_form, split_words
from zoo.errors import DataError

JSON_LINES = (".jsonl", ".ndjson", ".json")
KINDS = (".txt", *JSON_LINES)
"""Suffixes of the files that `read_stories` reads."""
NUMBERED = re.compile(r"\s*(\d{1,9})(?:\s+(.*))?", re.DOTALL)
SENTENCE = re.compile(r"(?<=[.!?])\s+")
QUESTION_COLUMNS = ("story", "question", "answer")
BABI = "`NUMBER text` a line, a question with a tab, its answer, a tab and the numbers of its supporting lines"
TYPED = "sentences that end in a full stop and, last, a question that ends in a question mark"


class Told(NamedTuple):
    """A story as it stands in its file."""

    story: Story
    places: tuple[str, ...]
    """File and line of each of its lines, for messages."""


@dataclass(frozen=True)
class StoryQuestion:
    """What a user asks: a story, sentence by sentence, the oldest first, and a question about it."""

    sentences: list[str]
    question: str


def read_stories(path: Path, task: int, bad: BadRows) -> Iterator[Told]:
    """The stories of a file in bAbI's format, or of json lines, as its name says. Raises DataError for other files."""
    if (kind := kind_of(path)) not in KINDS:
        raise DataError(f"{path}: unknown kind of file {kind!r}; {', '.join(KINDS)} are read")
    return read_json(path, task, bad) if kind in JSON_LINES else read_babi(path, task, bad)


class StoryBuilder:
    """A story that is read line by line, by the numbers that its lines have.

    A line that cannot be used keeps its number. Where it may have been a statement, whatever is asked behind it in its
    story is left out too: nobody knows what was told.
    """

    def __init__(self, task: int, bad: BadRows, *, answered: bool = True) -> None:
        """Without `answered` a question needs no answer."""
        self.task, self.bad, self.answered = task, bad, answered
        self.number = 0
        self._lines: list[Line] = []
        self._places: list[str] = []
        self._kept: dict[int, int] = {}
        """For the number of each statement the one that it has among the lines that are kept."""
        self._broken = False

    def told(self) -> Iterator[Told]:
        """The story, where anything is asked in it."""
        if any(line.answer is not None for line in self._lines):
            yield Told(Story(tuple(self._lines), self.task), tuple(self._places))

    def broken(self, place: str, problem: str, detail: str, *, number: int | None = None) -> None:
        """A line, by its own `number` or else the next, of which nothing is known."""
        self.number = self.number + 1 if number is None else number
        self._broken = True
        self.bad(place, problem, detail)

    def statement(self, place: str, text: str) -> None:
        """The next line."""
        if not split_words(text).forms:
            return self.broken(place, "no text", f"found {text!r}; a sentence is expected")
        self.number += 1
        self._keep(place, Line(text))
        self._kept[self.number] = len(self._lines)
        return None

    def question(self, place: str, text: str, answer: str | None, supporting: Sequence[str] = ()) -> None:
        """The next line; `supporting` are numbers of lines, as written. Without an answer it is None."""
        self.number += 1
        if self._broken:
            self.bad(place, "question behind a broken line of its story")
        elif not split_words(text).forms:
            self.bad(place, "no text", f"found {text!r}; a question is expected")
        elif not self._kept:
            self.bad(place, "question about an empty story", "no statement stands before it in its story")
        elif answer is None and self.answered:
            self.bad(place, "question without an answer", "a tab and the answer are expected behind the question")
        elif answer is not None and not answer_form(answer):
            self.bad(place, "empty answer", f"found {answer!r}; a word, or words with commas between, are expected")
        elif problem := next(filter(None, map(self._unsupported, supporting)), None):
            self.bad(place, *problem)
        else:
            self._keep(place, Line(text, answer or "", tuple(self._kept[int(number)] for number in supporting)))

    def _keep(self, place: str, line: Line) -> None:
        self._lines.append(line)
        self._places.append(place)

    def _unsupported(self, written: str) -> tuple[str, str] | None:
        """What is wrong with the number of a supporting line, if anything."""
        expected = "the numbers of statements before the question are expected, with blanks between"
        if not (written.isascii() and written.isdigit() and len(written) < 10):
            return "supporting line is no number", f"found {written!r}; {expected}"
        number = int(written)
        if number >= self.number:
            return "supporting line points forward", f"line {number} does not stand before {self.number}; {expected}"
        if number < 1:
            return "supporting line points at nothing", f"there is no line {number}; {expected}"
        if number not in self._kept:
            return "supporting line points at a question", f"line {number} is a question; {expected}"
        return None


# Files


@guarded
def read_babi(path: Path, task: int, bad: BadRows, *, answered: bool = True) -> Iterator[Told]:
    """bAbI's format (Weston et al. 2015): `NUMBER text`, of which number 1 begins a story; a question has a tab, its
    answer, a tab and the numbers of the lines that it follows from. Without `answered` it needs none of these."""
    story = StoryBuilder(task, bad, answered=answered)
    with Lines(path, encoding=bad.encoding) as lines:
        for line in lines:
            place, undecodable = line_of(path, lines.number), lines.undecodable
            lines.mark()
            if not line.strip():
                continue
            found = NUMBERED.fullmatch(line.rstrip("\r\n"))
            number, text = (int(found[1]), found[2] or "") if found else (None, "")
            if number == 1:
                yield from story.told()
                story = StoryBuilder(task, bad, answered=answered)
            if undecodable:
                story.broken(place, "not UTF-8", undecodable, number=number)
            elif "\0" in line:
                story.broken(place, "NUL byte", "the file is binary or damaged", number=number)
            elif number is None:
                story.broken(place, "no line number", f"found {shortened(line)}; {BABI} are expected")
            elif number != story.number + 1:
                or_one = ", or 1 where a story begins" if story.number else ""
                detail = f"found {number}; {story.number + 1} is expected{or_one}"
                story.broken(place, "line numbers do not run on", detail, number=number)
            else:
                _line(story, place, text)
    yield from story.told()


def _line(story: StoryBuilder, place: str, text: str) -> None:
    """A line of bAbI's format behind its number."""
    text, *fields = text.split("\t")
    if len(fields) > 2:
        story.broken(place, "too many tabs", f"found {len(fields)}; {BABI} are expected")
    elif fields:
        story.question(place, text.strip(), fields[0].strip(), fields[1].split() if fields[1:] else ())
    elif text.rstrip().endswith("?"):
        story.question(place, text.strip(), None)
    else:
        story.statement(place, text.strip())


@guarded
def read_json(path: Path, task: int, bad: BadRows) -> Iterator[Told]:
    """Json lines, each a question: `story`, a list of sentences, `question`, `answer`, and perhaps `supporting`, the
    places in that list, from 0, of the sentences that the answer follows from."""
    for number, record in json_rows(path, QUESTION_COLUMNS, "", bad):
        place = line_of(path, number)
        answer, supporting = record["answer"], record.get("supporting")
        if problem := _not_told(record) or _not_answered(answer) or _not_supported(supporting, record["story"]):
            bad(place, *problem)
            continue
        lines = [Line(sentence) for sentence in record["story"]]
        asked = Line(record["question"], str(answer), tuple(at + 1 for at in supporting or ()))
        yield Told(Story((*lines, asked), task), (place,) * (len(lines) + 1))


Problem = tuple[str, str] | None


def _not_told(record: dict[str, Any]) -> Problem:
    story, question = record["story"], record["question"]
    if not isinstance(story, list) or not all(isinstance(sentence, str) for sentence in story):
        return "no story", f"column 'story' holds {shortened(story)}; a list of sentences is expected"
    if not story:
        return "question about an empty story", "column 'story' is an empty list"
    if empty := [at for at, sentence in enumerate(story) if not split_words(sentence).forms]:
        return "no text", f"sentence {empty[0]} of the story is {story[empty[0]]!r}"
    if not isinstance(question, str) or not split_words(question).forms:
        return "no question", f"column 'question' holds {shortened(question)}; a sentence is expected"
    return None


def _not_answered(answer: Any) -> Problem:
    if isinstance(answer, bool) or not isinstance(answer, str | int | float) or not answer_form(str(answer)):
        found = f"column 'answer' holds {shortened(answer)}"
        return "empty answer", f"{found}; a word, or words with commas between, are expected"
    return None


def _not_supported(supporting: Any, story: Sequence[str]) -> Problem:
    if supporting is None:
        return None
    expected = f"a list of places in the story is expected, from 0 to {len(story) - 1}"
    if not isinstance(supporting, list) or not all(type(at) is int for at in supporting):
        return "supporting is no list of numbers", f"found {shortened(supporting)}; {expected}"
    if outside := [at for at in supporting if not 0 <= at < len(story)]:
        return "supporting points at nothing", f"found {outside[0]}; {expected}"
    return None


def shortened(value: Any) -> str:
    """A value for a message."""
    written = repr(value.strip() if isinstance(value, str) else value)
    return written if len(written) <= 60 else f"{written[:60]}..."


# What a user asks


def parse_line(text: str) -> StoryQuestion:
    """A story and a question about it in one line: `Mary went to the kitchen. John left. Where is Mary?`. Raises
    DataError where one of the two is missing."""
    *sentences, question = filter(None, SENTENCE.split(text.strip())) if text.strip() else [""]
    if not question.endswith("?"):
        raise DataError(f"{shortened(text)}: no question at the end; expected: {TYPED}")
    if asked := [sentence for sentence in sentences if sentence.endswith("?")]:
        raise DataError(f"{shortened(text)}: {asked[0]!r} is asked before the end; expected: {TYPED}")
    return checked(StoryQuestion(sentences, question), shortened(text))


def checked(asked: StoryQuestion, place: str) -> StoryQuestion:
    """What is asked, if there is a story and a question. Raises DataError."""
    if not any(split_words(sentence).forms for sentence in asked.sentences):
        raise DataError(f"{place}: the story is empty: no sentence stands before the question; expected: {TYPED}")
    if not split_words(asked.question).forms:
        raise DataError(f"{place}: no question; expected: {TYPED}")
    return asked


class Unskipped(BadRows):
    """Raises a DataError for a row that cannot be used, and proposes no key of the configuration: there is none."""

    def __call__(self, place: str, problem: str, detail: str = "") -> None:
        raise DataError(f"{place}: {problem}" + (f": {detail}" if detail else ""))


def read_file(path: Path) -> list[StoryQuestion | None]:
    """The questions of a file, with or without their answers: in bAbI's format, as json lines, or with a story and its
    question a line, where a blank one is None. Raises DataError, with the line, for what cannot be read."""
    if kind_of(path) in JSON_LINES:
        records = json_rows(path, QUESTION_COLUMNS[:2], "", Unskipped())
        return [_asked(record, line_of(path, number)) for number, record in records]
    with Lines(path) as lines:
        numbered = NUMBERED.fullmatch(lines.peek().rstrip("\r\n"))
    if numbered and int(numbered[1]) == 1 and numbered[2]:
        return [asked for told in read_babi(path, 0, Unskipped(), answered=False) for asked in questions_of(told.story)]
    found: list[StoryQuestion | None] = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            found.append(parse_line(line) if line.strip() else None)
        except DataError as error:
            raise DataError(f"{line_of(path, number)}: {error}") from None
    return found


def questions_of(story: Story) -> Iterator[StoryQuestion]:
    """Each question of a story with the statements that stand before it."""
    told: list[str] = []
    for line in story.lines:
        if line.answer is None:
            told.append(line.text)
        else:
            yield StoryQuestion(list(told), line.text)


def _asked(record: dict[str, Any], place: str) -> StoryQuestion:
    if problem := _not_told(record):
        raise DataError(f"{place}: {problem[0]}: {problem[1]}")
    return StoryQuestion(record["story"], record["question"])
