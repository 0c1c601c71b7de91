"""An answer as a picture: the sentences of the story as rows, what each hop attended to as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle

from zoo.visualize.drawing import ATTENTION, DPI, FAINT, INK, ORANGE, RIGHT, SOFT, WRONG
from zoo.visualize.fonts import families
from zoo.visualize.hops_weighing import chosen, empty, left_out
from zoo.visualize.printable import shortened

if TYPE_CHECKING:
    from zoo.tasks.answering import AnswerPrediction

CELL_WIDTH, CELL, LETTER, MARGIN = 0.55, 0.25, 0.078, 0.25
"""Inches: the sides of a cell, the width of a letter, the edge."""
HEAD, FOOT = 0.95, 0.35
"""Inches above the cells, for question and answer, and below, for notes."""
LONGEST_SENTENCE, LONGEST_QUESTION, LONGEST_ANSWER, MOST_SENTENCES = 70, 90, 40, 40
DARK = 0.6
"""From this weight on white numbers read better than black ones."""
SHADES = LinearSegmentedColormap.from_list("attention", ATTENTION)


def hops_figure(
    prediction: AnswerPrediction, truth: str | None = None, supporting: Sequence[bool] | None = None
) -> Figure:
    """A grid with a row for each sentence, the oldest on top, and a column for each hop; the darker, the more
    attention.

    `supporting`, True at the sentences that the true answer follows from, are framed. What hops left to empty places of
    the memory is a row of its own. At most MOST_SENTENCES are shown. No pyplot, so drawing needs no display and leaves
    no state behind. Raises ValueError where there is no attention.
    """
    if not prediction.hops:
        raise ValueError("this network has no attention to draw")
    kept, rest, hops = chosen(prediction, MOST_SENTENCES, supporting), empty(prediction), prediction.hops
    rows = [shortened(prediction.sentences[number], LONGEST_SENTENCE) for number in kept]
    weights = [[hop[number] for hop in hops] for number in kept]
    if rest is not None:
        rows.append("(empty memory)")
        weights.append(rest)
    question = shortened(prediction.question, LONGEST_QUESTION)
    answer = shortened(prediction.answer, LONGEST_ANSWER)
    fonts = list(families([*rows, question, answer, truth or "", "✓✗"]))
    left = MARGIN + LETTER * max(map(len, rows), default=1)
    width = max(left + CELL_WIDTH * len(hops) + MARGIN, 2 * MARGIN + LETTER * len(question), 4.5)
    height = HEAD + CELL * max(len(rows), 1) + FOOT
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    box = (left / width, FOOT / height, CELL_WIDTH * len(hops) / width, CELL * max(len(rows), 1) / height)
    axes = figure.add_axes(box, xlim=(0, len(hops)), ylim=(max(len(rows), 1), 0))
    _cells(axes, weights)
    axes.set_xticks([x + 0.5 for x in range(len(hops))], [f"hop {n + 1}" for n in range(len(hops))], fontsize=8)
    axes.set_yticks([y + 0.5 for y in range(len(rows))], rows, fontsize=8)
    axes.tick_params(length=0, pad=3, top=True, labeltop=True, bottom=False, labelbottom=False, colors=INK)
    for label in axes.get_yticklabels():
        label.set(parse_math=False, fontfamily=fonts)
    framed = [] if supporting is None else [at for at, number in enumerate(kept) if supporting[number]]
    frames = PatchCollection(
        [Rectangle((0, at), len(hops), 1) for at in framed], facecolors="none", edgecolors=ORANGE, linewidths=1.6
    )
    axes.add_collection(frames, autolim=False)
    for side in axes.spines.values():
        side.set_color(FAINT)
    _head(figure, fonts, question, answer, prediction.probability, truth)
    framed_are = ["framed: what the true answer follows from"] if framed else []
    notes = [*framed_are, *filter(None, [left_out(prediction, kept)])]
    figure.text(MARGIN / width, 0.1 / height, "; ".join(notes), fontsize=7, color=SOFT)
    return figure


def _cells(axes: Axes, weights: Sequence[Sequence[float]]) -> None:
    if not weights:
        return
    axes.pcolormesh(weights, cmap=SHADES, vmin=0, vmax=1, edgecolors="white", linewidth=0.5)
    for y, row in enumerate(weights):
        for x, weight in enumerate(row):
            color = "white" if weight >= DARK else FAINT if weight < 0.005 else INK
            axes.text(x + 0.5, y + 0.5, f"{weight:.2f}", ha="center", va="center", fontsize=7, color=color)


def _head(figure: Figure, fonts: list[str], question: str, answer: str, probability: float, truth: str | None) -> None:
    """The question, and below it the answer with its probability and, where it is known, the true one."""
    width, height = figure.get_size_inches()
    x, font = MARGIN / width, FontProperties(family=fonts, size=9)
    bold = FontProperties(family=fonts, size=11, weight="bold")
    figure.text(x, 1 - 0.25 / height, question, fontproperties=font, color=INK, parse_math=False)
    said = figure.text(
        x, 1 - 0.5 / height, f"{answer}  {probability:.2f}", fontproperties=bold, color=INK, parse_math=False
    )
    if truth is not None:
        right = truth == answer
        verdict = "✓" if right else f"✗ true answer {shortened(truth, LONGEST_ANSWER)}"
        end = said.get_window_extent().x1 / DPI + 0.15
        figure.text(
            end / width,
            1 - 0.5 / height,
            verdict,
            fontproperties=bold,
            color=RIGHT if right else WRONG,
            parse_math=False,
        )
