"""What was written to a sequence on the terminal, wrong bits marked where the truth is known."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

if TYPE_CHECKING:
    from zoo.tasks.algorithmic import BitPrediction

WIDTH, MARK, WRONG = 100, "^", "bold red underline"


class BitsText:
    """A prediction for `print` and for a console of `rich`: wrong bits are red, or, where there is no colour, have a
    mark below."""

    def __init__(self, prediction: BitPrediction) -> None:
        self.prediction = prediction

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        colour = console.color_system is not None and not console.no_color
        yield Text("\n").join(lines(self.prediction, min(options.max_width, WIDTH), colour=colour))

    def __str__(self) -> str:
        """Without colour."""
        return "".join(f"{line.plain.rstrip()}\n" for line in lines(self.prediction, WIDTH, colour=False))


def wrong_letters(word: str, true: str) -> list[bool]:
    """True at the letters of a written word that are not those of the true one."""
    if len(word) != len(true):
        return [True] * len(word)
    return [letter != other for letter, other in zip(word, true, strict=True)]


def verdict(prediction: BitPrediction) -> str:
    """How many bits are wrong, in words; nothing where the truth is not known."""
    errors = prediction.error_bits
    if errors is None:
        return ""
    count = f"{prediction.probabilities.size:,}"
    return f"all {count} bits are right" if not errors else f"{errors:,} of {count} bits are wrong"


def lines(prediction: BitPrediction, width: int, *, colour: bool) -> Iterator[Text]:
    """As many words a line as there is room for, and what is wrong with them."""
    line, marks = Text(), ""
    for word, true in zip_longest(prediction.written, prediction.truth or ()):
        if line and len(line) + len(prediction.separator) + len(word) > width:
            yield from _marked(line, marks, colour)
            line, marks = Text(), ""
        if line:
            line, marks = line.append(prediction.separator), marks + " " * len(prediction.separator)
        for letter, wrong in zip(word, wrong_letters(word, word if true is None else true), strict=True):
            line.append(letter, WRONG if wrong else None)
            marks += MARK if wrong else " "
    yield from _marked(line, marks, colour)
    if said := verdict(prediction):
        yield Text(said, "dim")


def _marked(line: Text, marks: str, colour: bool) -> Iterator[Text]:
    yield line
    if MARK in marks and not colour:
        yield Text(marks.rstrip())
