"""Stories with questions, before their words are numbered, and the words of their sentences and answers.

As in the paper (Sukhbaatar et al. 2015), case and punctuation are dropped, and a list of words as an answer
(`milk,football`) is one entry.
"""

import unicodedata
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from zoo.data.text.tokenization import Tokens

Tokenizer = Literal["whitespace", "characters"]
"""Blanks separate words, or each letter is a word, for writing without blanks."""
PUNCTUATION = ".,;:!?\"'()[]"
"""ASCII marks that are dropped at both ends of a word. Other marks, e.g. `#` in `#5`, belong to the word."""


@dataclass(frozen=True)
class Line:
    """A line of a story in bAbI's format: a statement, or, if it has an answer, a question about earlier statements."""

    text: str
    """As written: `Mary moved to the bathroom.`, `Where is Mary?`."""
    answer: str | None = None
    """A word, or words with commas between them, `milk,football`."""
    supporting: tuple[int, ...] = ()
    """Numbers of the lines that the answer follows from, in the order of the reasoning. All lines are numbered, from
    1."""
    place: str = field(default="", compare=False)
    """File and line, for messages."""


@dataclass(frozen=True)
class Story:
    """The lines of one story, and the number of its bAbI task."""

    lines: tuple[Line, ...]
    task: int
    statements: tuple[str, ...] = ()
    """For a line of json, which has a single question: the sentences that lines about the same story share."""

    @property
    def asked(self) -> int:
        """The number of its questions."""
        return sum(line.answer is not None for line in self.lines)


class Shown(NamedTuple):
    """A question and its story in words as they are written, each in the position of its id."""

    sentences: list[list[str]]
    question: list[str]


def split_words(sentence: str, tokenizer: Tokenizer = "whitespace") -> Tokens:
    """The words of a sentence; punctuation on its own belongs to the word before it."""
    shown: list[str] = []
    forms: list[str] = []
    tokens = unicodedata.normalize("NFC", sentence).split()
    for token in tokens if tokenizer == "whitespace" else "".join(tokens):
        if form := without_marks(token).lower():
            shown.append(token)
            forms.append(form)
        elif shown:
            shown[-1] += token if tokenizer == "characters" else f" {token}"
    return Tokens(shown, forms)


def without_marks(word: str) -> str:
    """A word without the punctuation at both of its ends, in any script."""
    kept = [place for place, letter in enumerate(word) if not _is_mark(letter)]
    return word[kept[0] : kept[-1] + 1] if kept else ""


def _is_mark(letter: str) -> bool:
    return letter in PUNCTUATION if letter.isascii() else unicodedata.category(letter).startswith("P")


def answer_form(answer: str) -> str:
    """An answer as the vocabulary has it; empty if it has no word."""
    parts = (" ".join(split_words(part).forms) for part in answer.split(","))
    return ",".join(filter(None, parts))
