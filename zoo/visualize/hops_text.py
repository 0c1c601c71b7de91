"""An answer on the terminal: the likeliest answers, and the story with what each hop attended to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.style import Style
from rich.table import Table
from rich.text import Text

from zoo.visualize.hops_weighing import chosen, empty, left_out, strongest
from zoo.visualize.printable import shown
from zoo.visualize.shading import shade

if TYPE_CHECKING:
    from zoo.tasks.answering import AnswerPrediction

MOST_SENTENCES = 20
VISIBLE = 0.1


class HopsText:
    """A prediction for `print` and for a console of `rich`: a column for each hop, in which the weight of its strongest
    sentence is bold, or, where there is no colour, starred."""

    def __init__(self, prediction: AnswerPrediction) -> None:
        self.prediction = prediction

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Group(*_parts(self.prediction, colour=console.color_system is not None and not console.no_color))

    def __str__(self) -> str:
        """Without colour, in lines of at most 100 characters."""
        console = Console(width=100, color_system=None, force_terminal=False, legacy_windows=False)
        with console.capture() as capture:
            console.print(self)
        return "".join(line.rstrip() + "\n" for line in capture.get().splitlines())


def _parts(prediction: AnswerPrediction, *, colour: bool) -> list[RenderableType]:
    others = {name: share for name, share in prediction.alternatives.items() if name != prediction.answer}
    verdict = Text.assemble((shown(prediction.answer), "bold"), f"  {prediction.probability:.2f}")
    if others:
        said = ", ".join(f"{shown(name)} {share:.2f}" for name, share in others.items())
        verdict.append(f"   ({said})", "dim")
    kept = chosen(prediction, MOST_SENTENCES)
    parts: list[RenderableType] = [verdict, Text(), _story(prediction, kept, colour)]
    if note := left_out(prediction, kept):
        parts.append(Text(f"... {note}", "dim"))
    return parts


def _story(prediction: AnswerPrediction, kept: list[int], colour: bool) -> Table:
    best, hops = strongest(prediction), prediction.hops
    table = Table.grid(padding=(0, 1))
    for _ in hops:
        table.add_column(no_wrap=True, justify="right")
    table.add_column(ratio=1)
    if hops:
        table.add_row(*(Text(f"hop {number}", "dim") for number in range(1, len(hops) + 1)), "")
    for number in kept:
        weights = (_weight(hop[number], number == first, colour) for hop, first in zip(hops, best, strict=True))
        table.add_row(*weights, Text(shown(prediction.sentences[number])))
    if (rest := empty(prediction)) is not None:
        table.add_row(*(_weight(weight, False, colour) for weight in rest), Text("(empty memory)", "dim"))
    table.add_row(*("" for _ in hops), Text(shown(prediction.question), "bold"))
    return table


def _weight(weight: float, best: bool, colour: bool) -> Text:
    written = f"{weight:.2f}"
    if not colour:
        return Text(f"*{written}" if best else f" {written}")
    style = Style(bold=best)
    if weight >= VISIBLE:
        style += shade(weight)
    return Text(f" {written}", style)
