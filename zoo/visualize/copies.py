"""The block of a text that copies words of its source: each copied word is linked to its place, and the line under a
word shows how far the vocabulary wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b

from rich.console import RenderableType
from rich.text import Text

from zoo.printable import shown
from zoo.visualize.blocks import Block
from zoo.visualize.drawing import NORMAL, TINY, Drawing, Key, mixed
from zoo.visualize.letters import Letters
from zoo.visualize.renderers import figure, page, terminal

COPIED = Key(
    "words",
    "copied, with the number of its place",
    "A word with a colour was copied: it leads to its place in the source. The line under a word is p_gen, the share "
    "of the vocabulary: full where the vocabulary wrote the word, empty where it was copied.",
)
WIDTH, LINE, UNDER = 796, 30, 3  # Pixels of the block in a picture, of a line and of the line under a word
MOST_LINES = 24  # Lines of the source in a picture; the rest is left out with a note
GAP = 12  # Room between the words, with the number of a place


@dataclass(frozen=True)
class Copies(Block):
    """A text over its source."""

    words: Sequence[str]  # (T,) as they were written
    generate: Sequence[float]  # (T,) p_gen, or more for an end that is not shown
    place: Sequence[int | None]  # (T,) the source word that each was copied from
    source: Sequence[Sequence[str]]  # The words of each text of the source

    @property
    def attended(self) -> bool:
        return True

    @property
    def name(self) -> str:
        """A name for the links of a page, which differs between answers."""
        return blake2b("\n".join(map(" ".join, (self.words, *self.source))).encode(), digest_size=4).hexdigest()

    @property
    def numbers(self) -> dict[int, int]:
        """The number of each place in the source from which a word was copied, in the order of the places."""
        places = sorted({place for place in self.place if place is not None})
        return {place: number for number, place in enumerate(places, 1)}

    @property
    def texts(self) -> Iterator[list[tuple[str, int]]]:
        """The words of each text of the source, with their places."""
        begin = 0
        for words in self.source:
            yield [(word, begin + at) for at, word in enumerate(words)]
            begin += len(words)


page.html.register(Copies, partial(page.macro, "Copies"))


@terminal.lines.register
def _(block: Copies, screen: terminal.Screen) -> Iterator[RenderableType]:
    numbers = block.numbers
    yield Text()
    for row in (zip(block.words, block.place, strict=True), *block.texts):
        text = Text()
        for word, place in row:
            number = None if place is None else numbers.get(place)
            text.append(" " if text else "")
            text.append(shown(word), terminal.shade(0.6) if number and screen.colour else None)
            text.append(f"[{number}]" if number else "", "dim")
        yield text


@figure.fitted.register
def _(block: Copies, letters: Letters, room: float) -> Drawing:
    sheet, numbers, y = Drawing(max(room, WIDTH)), block.numbers, 0.0
    written = [(word, place) for word, place in zip(block.words, block.place, strict=True)]
    y += _row(sheet, letters, y, written, numbers, block.generate)
    sheet.line("rules", [(0, y), (sheet.width, y)])
    for text in block.texts:
        if y > LINE * MOST_LINES:
            sheet.notes.append("The rest of the source is left out.")
            break
        y += _row(sheet, letters, y, text, numbers)
    sheet.height = y
    return sheet


def _row(
    sheet: Drawing,
    letters: Letters,
    top: float,
    words: Sequence[tuple[str, int | None]],
    numbers: dict[int, int],
    generate: Sequence[float] = (),
) -> float:
    """Draw a text and return its height."""
    drawn = [letters.cut(word, sheet.width, NORMAL) for word, _ in words]
    widths, last = [letters.width(word, NORMAL) for word in drawn], 0
    for at, (line, left) in enumerate(figure.flow(widths, sheet.width - GAP, GAP)):
        base, place, last = top + 20 + line * LINE, words[at][1], line
        if place in numbers:
            sheet.box("words", left - 3, base - 15, widths[at] + 6, 20, 4, fill=mixed("card", "attention", 0.5))
            sheet.write(left + widths[at] + 4, base - 7, str(numbers[place]), TINY)
        if generate:
            sheet.box("bars", left, base + 6, widths[at], UNDER, fill=mixed("card", "ink", generate[at]))
        sheet.write(left, base, drawn[at], NORMAL, "ink")
    return LINE * (last + 1) if words else 0.0
