"""A classified document on the terminal: class, probabilities, and the text with its sentence and word weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from zoo.visualize.document_weighing import sentence_strengths, word_strengths
from zoo.visualize.printable import shown
from zoo.visualize.shading import shade

if TYPE_CHECKING:
    from zoo.tasks.classification import AttendedSentence, DocumentPrediction

BAR = 20  # cells of a full probability bar
SENTENCE_BAR = 8
MOST_CLASSES = 10
UNKNOWN = "(?)"
"""Behind a word that the network does not know."""
VISIBLE, MARKED, STRONG = 0.1, 0.25, 0.6


class DocumentText:
    """A prediction for `print` and for a console of `rich`: words shaded where there is colour, else *marked* and, the
    strongest, **marked**.

    (?) stands behind words that the network does not know.
    """

    def __init__(self, prediction: DocumentPrediction) -> None:
        self.prediction = prediction

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        colour = console.color_system is not None and not console.no_color
        yield Group(*_parts(self.prediction, colour=colour, ascii_only=options.ascii_only))

    def __str__(self) -> str:
        """Without colour, in lines of at most 100 characters."""
        console = Console(width=100, color_system=None, force_terminal=False, legacy_windows=False)
        with console.capture() as capture:
            console.print(self)
        return "".join(line.rstrip() + "\n" for line in capture.get().splitlines())


def _parts(prediction: DocumentPrediction, *, colour: bool, ascii_only: bool) -> list[RenderableType]:
    probability = prediction.probabilities[prediction.label]
    verdict = Text.assemble((shown(prediction.label), "bold"), f"  {probability:.2f}")
    return [verdict, probabilities(prediction, ascii_only), Text(), sentences(prediction, colour, ascii_only)]


def probabilities(prediction: DocumentPrediction, ascii_only: bool, noun: str = "classes") -> Table:
    """A bar for each class, or for the likeliest of many."""
    rows = list(prediction.probabilities.items())
    left_out = 0
    if len(rows) > MOST_CLASSES:
        left_out = len(rows) - MOST_CLASSES
        rows = sorted(rows, key=lambda row: -row[1])[:MOST_CLASSES]
    table = Table.grid(padding=(0, 1))
    table.add_column()
    table.add_column(no_wrap=True)
    for name, probability in rows:
        style = "bold" if name == prediction.label else ""
        table.add_row(
            Text("  " + shown(name), style), f"{probability:.2f}", Text(_bar(probability, BAR, ascii_only), "blue")
        )
    if left_out:
        table.add_row(Text(f"  and {left_out} more {noun}", "dim"))
    return table


def sentences(
    prediction: DocumentPrediction, colour: bool, ascii_only: bool, weighing: str = "paper"
) -> RenderableType:
    """The text, a row for each sentence with its weight; `weighing` is a key of `WEIGHINGS`."""
    if not prediction.sentences:
        return Text("(no words)", "dim")
    bars, strengths = sentence_strengths(prediction), word_strengths(prediction, weighing)
    table = Table.grid(padding=(0, 1))
    if bars is not None:
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, min_width=SENTENCE_BAR)
    table.add_column(ratio=1)
    for s, sentence in enumerate(prediction.sentences):
        text = _words(sentence, strengths[s] if strengths else None, colour)
        if bars is None:
            table.add_row(text)
        else:
            table.add_row(f"{sentence.weight:.2f}", Text(_bar(bars[s], SENTENCE_BAR, ascii_only), "red"), text)
    return table


def _words(sentence: AttendedSentence, strengths: list[float] | None, colour: bool) -> Text:
    text = Text()
    open_mark = ""
    for i, word in enumerate(sentence.words):
        strength = strengths[i] if strengths else 0.0
        mark = "" if colour else "**" if strength >= STRONG else "*" if strength >= MARKED else ""
        if mark != open_mark:
            text.append(open_mark)
        text.append(" " if i else "")
        text.append(mark if mark != open_mark else "")
        text.append(shown(word), shade(strength) if colour and strength >= VISIBLE else None)
        if i in sentence.unknown:
            text.append(UNKNOWN, "dim")
        open_mark = mark
    text.append(open_mark)
    return text


def _bar(strength: float, cells: int, ascii_only: bool) -> str:
    if ascii_only:
        return "#" * round(strength * cells)
    eighths = round(strength * cells * 8)
    return "█" * (eighths // 8) + ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
