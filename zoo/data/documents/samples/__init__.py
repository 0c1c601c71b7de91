"""Seeded generators of documents whose evidence is known."""

from collections.abc import Callable, Container, Iterable, Sequence
from typing import NamedTuple


class Document(NamedTuple):
    """One generated document."""

    sentences: list[list[str]]  # The lower-case words of each sentence, punctuation among them
    evidence: list[list[bool]]  # True at the words that decided the label
    label: int


Pattern = Sequence[str]
"""Words and slots of a sentence. A slot is a name in braces."""


def patterns(lines: Iterable[str]) -> tuple[Pattern, ...]:
    """The pattern of each line, in which blanks separate words and slots."""
    return tuple(tuple(line.split()) for line in lines)


def filled(pattern: Pattern, fill: Callable[[str], list[str]], marked: Container[str]) -> tuple[list[str], list[bool]]:
    """The words of a sentence, and a mask that is True at the words of the slots `marked`. `fill` gives the words of a
    slot."""
    parts = [(part[1:-1], fill(part[1:-1])) if part.startswith("{") else ("", [part]) for part in pattern]
    return [word for _, words in parts for word in words], [slot in marked for slot, words in parts for _ in words]
