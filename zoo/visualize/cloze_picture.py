"""A cloze question as a picture: the answer among the candidates, the query, and the document with its attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from zoo.visualize.cloze_texts import WEIGHING, document_of, evidence_of, query_of
from zoo.visualize.document_picture import (
    CLASS_HEIGHT,
    LINE_HEIGHT,
    MARGIN,
    SENTENCE_GAP,
    TEXT_LEFT,
    WIDTH,
    Placed,
    Sheet,
    draw_header,
    draw_legend,
    draw_sentences,
    layout,
    left_out,
    letters_of,
    likeliest,
)
from zoo.visualize.drawing import DPI, SOFT, missing_letters_unsaid
from zoo.visualize.fonts import families
from zoo.visualize.printable import shown

if TYPE_CHECKING:
    from zoo.tasks.cloze import ClozePrediction

MOST_CANDIDATES = 10
QUERY_LINES, DOCUMENT_LINES = 6, 40
"""Lines at most."""


def cloze_figure(
    prediction: ClozePrediction, truth: str | None = None, evidence: tuple[bool, ...] | None = None
) -> Figure:
    """The picture, as wide as a document's and as high as the texts need, up to a number of lines.

    Words of `evidence` (a mark for each word of the document) are underlined. No pyplot, so drawing needs no display.
    """
    document, query = document_of(prediction), query_of(prediction)
    with missing_letters_unsaid():
        letters = letters_of(families(_texts(prediction, truth)))
        asked, rows = layout(query, letters, QUERY_LINES), layout(document, letters, DOCUMENT_LINES)
        candidates, note = likeliest(document, MOST_CANDIDATES), left_out(document, rows)
        top = MARGIN + max(0.75, len(candidates) * CLASS_HEIGHT) + 0.25
        height = top + _height(asked) + 0.15 + _height(rows) + 0.62 + (LINE_HEIGHT if note else 0.0)
        figure = Figure(figsize=(WIDTH, height), dpi=DPI, facecolor="white")
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(height, 0))
        axes.set_axis_off()
        sheet = Sheet(figure, axes, letters)
        draw_header(sheet, document, truth, candidates, said="in the blank", truth="true answer")
        sheet.write(MARGIN, top + 0.23, "query", letters.small, SOFT)
        y = draw_sentences(sheet, query, asked, None, WEIGHING, top) + 0.15
        told = None if evidence is None else evidence_of(prediction, evidence)
        y = draw_sentences(sheet, document, rows, told, WEIGHING, y)
        sheet.write(TEXT_LEFT, y + 0.22, note, letters.small, SOFT)
        draw_legend(sheet, document, rows, WEIGHING, told is not None, height - 0.3, evidence="tells the answer")
        sheet.finish()
    return figure


def _height(rows: list[list[Placed]]) -> float:
    return sum(LINE_HEIGHT * (1 + row[-1].line if row else 1) + SENTENCE_GAP for row in rows) + SENTENCE_GAP


def _texts(prediction: ClozePrediction, truth: str | None) -> Iterator[str]:
    """All that may be written."""
    yield from prediction.probabilities
    yield "✓✗…" + (truth or "")
    yield from (shown(word[:400]) for word in (*prediction.query.words, *prediction.document.words))
