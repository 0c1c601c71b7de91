"""The formats of stories with questions. Each reader streams stories, and names file and line of what it cannot use."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zoo.data.readers import kind_of
from zoo.data.rows import BadRows, Lines, NeverSkipped, beginning, guarded, json_rows, line_of, parsed_lines
from zoo.data.stories.story import Line, Story, answer_form, split_words
from zoo.data.text.sentences import OTHER_ENDS
from zoo.errors import DataError, cut

JSON_LINES = (".jsonl", ".ndjson", ".json")
KINDS = (".txt", *JSON_LINES)  # Suffixes of the files that `read_stories` reads
NUMBERED = re.compile(r"\s*(\d{1,9})(?:\s+(.*))?", re.DOTALL)
SENTENCE = re.compile(r"(?<=[.!?])\s+")
QUESTION_MARKS = ("?", "？", "؟", "፧", "\u037e")  # ASCII, Chinese and Japanese, Arabic, Ethiopic, Greek
QUESTION_COLUMNS = ("story", "question", "answer")
BABI = "expected `NUMBER text`, for a question with a tab, its answer, a tab and the numbers of its supporting lines"
SUPPORTING = "expected the numbers of statements before the question, with blanks between them"
ANSWER = "expected a word, or words with commas between them"
TYPED = "expected sentences that end in a full stop and, last, a question that ends in a question mark"


@dataclass(frozen=True)
class StoryQuestion:
    """A user's question: a story, sentence by sentence, the oldest first, and a question about it."""

    sentences: list[str]
    question: str


def read_stories(path: Path, task: int, bad: BadRows) -> Iterator[Story]:
    """The stories of a file in bAbI's format, or of json lines. Raises DataError for files with another suffix."""
    if (kind := kind_of(path)) not in KINDS:
        raise DataError(f"{path}: unknown kind of file {kind!r}; expected {', '.join(KINDS)}")
    return read_json(path, task, bad) if kind in JSON_LINES else read_babi(path, task, bad)


class StoryBuilder:
    """A story that is read line by line, by the numbers of its lines.

    A line that cannot be used keeps its number. If it may have been a statement, all later questions of its story are
    left out, because the statement is missing in their story.
    """

    def __init__(self, task: int, bad: BadRows, *, answered: bool = True) -> None:
        """Without `answered`, answers may be missing."""
        self.task, self.bad, self.answered = task, bad, answered
        self.number = 0
        self._lines: list[Line] = []
        self._kept: dict[int, int] = {}
        """For the number of each statement its number among the lines that are kept."""
        self._broken = False

    def finished(self) -> Iterator[Story]:
        """The story, if it has a question."""
        story = Story(tuple(self._lines), self.task)
        if story.asked:
            yield story

    def broken(self, place: str, problem: str, detail: str, *, number: int | None = None) -> None:
        """Add an unreadable line, with its own `number` or the next one."""
        self.number = self.number + 1 if number is None else number
        self._broken = True
        self.bad(place, problem, detail)

    def statement(self, place: str, text: str) -> None:
        if not split_words(text).forms:
            return self.broken(place, "no text", f"found {text!r}, expected a sentence")
        self.number += 1
        self._lines.append(Line(text, place=place))
        self._kept[self.number] = len(self._lines)
        return None

    def question(self, place: str, text: str, answer: str | None, supporting: Sequence[str] = ()) -> None:
        """Add a question; `supporting` are numbers of lines, as written. `answer` is None if the line has none."""
        self.number += 1
        if self._broken:
            self.bad(place, "question after a broken line of its story")
        elif not split_words(text).forms:
            self.bad(place, "no text", f"found {text!r}, expected a question")
        elif not self._kept:
            self.bad(place, "question about an empty story", "no statement comes before it in its story")
        elif answer is None and self.answered:
            self.bad(place, "question without an answer", "expected a tab and the answer after the question")
        elif answer is not None and not answer_form(answer):
            self.bad(place, "empty answer", f"found {answer!r}, {ANSWER}")
        elif problem := next(filter(None, map(self._unsupported, supporting)), None):
            self.bad(place, *problem)
        else:
            lines = tuple(self._kept[int(number)] for number in supporting)
            self._lines.append(Line(text, answer or "", lines, place))

    def _unsupported(self, written: str) -> tuple[str, str] | None:
        """The problem with the number of a supporting line, if there is one."""
        if not (written.isascii() and written.isdigit() and len(written) < 10):
            return "supporting line is not a number", f"found {written!r}, {SUPPORTING}"
        number = int(written)
        if number >= self.number:
            return "supporting line points forward", f"line {number} is not before {self.number}; {SUPPORTING}"
        if number < 1:
            return "supporting line points at nothing", f"there is no line {number}; {SUPPORTING}"
        if number not in self._kept:
            return "supporting line points at a question", f"line {number} is a question; {SUPPORTING}"
        return None


# Files


@guarded
def read_babi(path: Path, task: int, bad: BadRows, *, answered: bool = True) -> Iterator[Story]:
    """bAbI's format (Weston et al. 2015): `NUMBER text`, and number 1 begins a story. A question has a tab, its answer,
    a tab and the numbers of the lines that it follows from; without `answered` these may be missing."""
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
                yield from story.finished()
                story = StoryBuilder(task, bad, answered=answered)
            if undecodable:
                story.broken(place, lines.problem, undecodable, number=number)
            elif "\0" in line:
                story.broken(place, "NUL byte", "the file is binary or damaged", number=number)
            elif number is None:
                story.broken(place, "no line number", f"found {beginning(line.strip())}, {BABI}")
            elif number != story.number + 1:
                or_one = ", or 1 at the beginning of a story" if story.number else ""
                detail = f"found {number}, expected {story.number + 1}{or_one}"
                story.broken(place, "line numbers are not consecutive", detail, number=number)
            else:
                _line(story, place, text)
    yield from story.finished()


def _line(story: StoryBuilder, place: str, text: str) -> None:
    text, *fields = text.split("\t")
    if len(fields) > 2:
        story.broken(place, "too many tabs", f"found {len(fields)}, {BABI}")
    elif fields:
        story.question(place, text.strip(), fields[0].strip(), fields[1].split() if fields[1:] else ())
    elif text.rstrip().endswith(QUESTION_MARKS):
        story.question(place, text.strip(), None)
    else:
        story.statement(place, text.strip())


@guarded
def read_json(path: Path, task: int, bad: BadRows) -> Iterator[Story]:
    """Json lines, each a question: `story`, a list of sentences, `question`, `answer`, and perhaps `supporting`, the
    positions in that list, from 0, of the sentences that the answer follows from."""
    for number, record in json_rows(path, QUESTION_COLUMNS, "", bad):
        place = line_of(path, number)
        if problem := next(_problems(record), None):
            bad(place, *problem)
            continue
        lines = tuple(Line(sentence, place=place) for sentence in record["story"])
        at = tuple(position + 1 for position in record.get("supporting") or ())
        asked = Line(record["question"], str(record["answer"]), at, place)
        yield Story((*lines, asked), task, tuple(record["story"]))


def _problems(record: dict[str, Any], *, answered: bool = True) -> Iterator[tuple[str, str]]:
    """The problems with a record. Only the first one is meaningful. Without `answered` an answer may be missing."""
    story, question, answer, supporting = map(record.get, (*QUESTION_COLUMNS, "supporting"))
    if not isinstance(story, list) or not all(isinstance(sentence, str) for sentence in story):
        yield "no story", f"column 'story' has {_shown(story)}, expected a list of sentences"
    elif not story:
        yield "question about an empty story", "column 'story' is an empty list"
    elif empty := [at for at, sentence in enumerate(story) if not split_words(sentence).forms]:
        yield "no text", f"sentence {empty[0]} of the story is {story[empty[0]]!r}"
    if not isinstance(question, str) or not split_words(question).forms:
        yield "no question", f"column 'question' has {_shown(question)}, expected a sentence"
    if not answered:
        return
    if isinstance(answer, bool) or not isinstance(answer, str | int | float) or not answer_form(str(answer)):
        yield "empty answer", f"column 'answer' has {_shown(answer)}, {ANSWER}"
    places = [] if supporting is None else supporting
    expected = f"expected a list of positions in the story, from 0 to {len(record['story']) - 1}"
    if not isinstance(places, list) or not all(type(at) is int for at in places):
        yield "supporting is not a list of numbers", f"found {_shown(supporting)}, {expected}"
    elif outside := [at for at in places if not 0 <= at < len(record["story"])]:
        yield "supporting points at nothing", f"found {outside[0]}, {expected}"


def _shown(value: Any) -> str:
    return cut(repr(value.strip() if isinstance(value, str) else value))


# Questions of a user


def parse_line(text: str) -> StoryQuestion:
    """A story and a question about it in one line: `Mary went to the kitchen. John left. Where is Mary?`. Raises
    DataError if one of the two is missing."""
    parts = [part for block in OTHER_ENDS.split(text.strip()) for part in SENTENCE.split(block.strip())]
    *sentences, question = list(filter(None, parts)) or [""]
    if not question.endswith(QUESTION_MARKS):
        raise DataError(f"{beginning(text.strip())}: no question at the end; {TYPED}")
    if asked := [sentence for sentence in sentences if sentence.endswith(QUESTION_MARKS)]:
        raise DataError(f"{beginning(text.strip())}: {asked[0]!r} is a question before the end; {TYPED}")
    return checked(StoryQuestion(sentences, question), beginning(text.strip()))


def checked(asked: StoryQuestion, place: str) -> StoryQuestion:
    """Return the question. Raises DataError if the question or its story is empty."""
    if not any(split_words(sentence).forms for sentence in asked.sentences):
        raise DataError(f"{place}: the story is empty: no sentence comes before the question; {TYPED}")
    if not split_words(asked.question).forms:
        raise DataError(f"{place}: no question; {TYPED}")
    return asked


def read_file(path: Path) -> list[StoryQuestion | None]:
    """The questions of a file, with or without their answers: in bAbI's format, as json lines, or one line for a story
    and its question, with None for a blank line. Raises DataError, with the line, for what cannot be read."""
    bad = NeverSkipped()
    if kind_of(path) in JSON_LINES:
        found: list[StoryQuestion | None] = []
        for number, record in json_rows(path, QUESTION_COLUMNS[:2], "", bad):
            for problem in _problems(record, answered=False):
                bad(line_of(path, number), *problem)
            found.append(StoryQuestion(record["story"], record["question"]))
        return found
    with Lines(path) as lines:
        numbered = NUMBERED.fullmatch(lines.peek().rstrip("\r\n"))
    if numbered and int(numbered[1]) == 1 and numbered[2]:
        return [asked for story in read_babi(path, 0, bad, answered=False) for asked in questions_of(story)]
    return parsed_lines(path, parse_line)


def questions_of(story: Story) -> Iterator[StoryQuestion]:
    """Each question of a story with the statements before it."""
    statements: list[str] = []
    for line in story.lines:
        if line.answer is None:
            statements.append(line.text)
        else:
            yield StoryQuestion(list(statements), line.text)
