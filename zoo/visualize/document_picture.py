"""A classified document as a picture: a bar for the weight of each sentence, a box for that of each word. Its parts
serve other pictures of texts with weights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import BoxStyle
from matplotlib.path import Path as Outline
from matplotlib.text import Text

from zoo.visualize.document_weighing import WEIGHINGS, sentence_strengths, word_strengths
from zoo.visualize.drawing import BLUE, DPI, FAINT, INK, LINE, ORANGE, RIGHT, SOFT, WRONG, missing_letters_unsaid
from zoo.visualize.fonts import families
from zoo.visualize.printable import shown

if TYPE_CHECKING:
    from zoo.tasks.classification import DocumentPrediction

SENTENCE, CLASS, TRACK = "#d6456b", "#8a94a3", "#f0f2f5"

# inches
WIDTH = 9.0
MARGIN = 0.35
TEXT_LEFT = 1.65
BAR_LEFT, BAR_WIDTH, BAR_HEIGHT = 0.72, 0.7, 0.11
LINE_HEIGHT, BOX_HEIGHT = 0.27, 0.215
SENTENCE_GAP = 0.09
CLASS_HEIGHT, CLASS_BAR, MOST_CLASSES = 0.185, 1.1, 6

ROUND = BoxStyle.Round(pad=0, rounding_size=0.045)
DOTTED = (0, (1.0, 1.6))


class Placed(NamedTuple):
    """A word at `left` inches of `line` of its sentence, `width` inches wide."""

    word: str
    number: int
    line: int
    left: float
    width: float


class Letters:
    """The fonts of a picture, from the families that have its letters, and how wide they draw a text, in inches."""

    def __init__(self, families: tuple[str, ...]) -> None:
        names = list(families)
        self.normal = FontProperties(family=names, size=10.5)
        self.small = FontProperties(family=names, size=8.5)
        self.small_bold = FontProperties(family=names, size=8.5, weight="bold")
        self.large = FontProperties(family=names, size=15, weight="bold")
        self._widths: dict[tuple[str, int], float] = {}

    def width(self, text: str, font: FontProperties | None = None) -> float:
        """As the Agg canvas will draw it; each text is measured once."""
        font = font or self.normal
        if (text, id(font)) not in self._widths:
            if len(self._widths) > 100_000:
                self._widths.clear()
            self._widths[text, id(font)] = _renderer().get_text_width_height_descent(text, font, False)[0] / DPI
        return self._widths[text, id(font)]

    def cut(self, text: str, most: float, font: FontProperties | None = None) -> str:
        """`text` fit to be shown, shortened by an ellipsis where it is wider than `most` inches."""
        text = shown(text[:400])  # wider than any line: a word of 100,000 letters need not be measured
        if self.width(text, font) <= most:
            return text
        fits, too_long = 0, len(text)
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            fits, too_long = (middle, too_long) if self.width(text[:middle] + "…", font) <= most else (fits, middle)
        return text[:fits] + "…"


@cache
def letters_of(families: tuple[str, ...]) -> Letters:
    """Those of the families, and what they have measured before."""
    return Letters(families)


@cache
def _renderer() -> Any:
    return FigureCanvasAgg(Figure(dpi=DPI)).get_renderer()


class Sheet:
    """What is drawn on a picture, kept by its kind: of each kind a single collection is made, as one artist a shape
    takes most of the time. A collection's gid is its kind."""

    def __init__(self, figure: Figure, axes: Axes, letters: Letters) -> None:
        self.figure, self.axes, self.letters = figure, axes, letters
        self._boxes: dict[str, list[tuple[Outline, Any]]] = defaultdict(list)
        self._lines: dict[str, list[tuple[float, float, float]]] = defaultdict(list)

    def write(
        self,
        x: float,
        y: float,
        text: str,
        font: FontProperties | None = None,
        color: str = INK,
        *,
        right: bool = False,
    ) -> None:
        """`text` from `x` on, or up to it, on the baseline `y`."""
        font, side, place = font or self.letters.normal, "right" if right else "left", self.axes.transData
        text_there = Text(
            x, y, text, fontproperties=font, color=color, va="baseline", ha=side, parse_math=False, transform=place
        )
        self.figure.add_artist(text_there)  # axes would cut each out along their edge

    def box(self, kind: str, left: float, top: float, width: float, height: float, color: Any) -> None:
        """A filled box; those of words have round corners."""
        box = (left, top, width, height)
        outline = ROUND(*box, mutation_size=1.0) if kind == "words" else _rectangle(*box)
        self._boxes[kind].append((outline, color))

    def line(self, kind: str, left: float, right: float, y: float) -> None:
        """A line from `left` to `right`."""
        self._lines[kind].append((left, right, y))

    def finish(self) -> None:
        """Adds what was kept, in the order in which the kinds came up."""
        for kind, boxes in self._boxes.items():
            outlines, colors = zip(*boxes, strict=True)
            made = PathCollection(outlines, facecolors=colors, edgecolors="none", transform=self.axes.transData)
            made.set_gid(kind)
            self.axes.add_collection(made, autolim=False)
        for kind, lines in self._lines.items():
            color, width, style = STROKES[kind]
            ends = [((left, y), (right, y)) for left, right, y in lines]
            drawn = LineCollection(ends, colors=color, linewidths=width, linestyles=[style], capstyle="butt")
            drawn.set_gid(kind)
            self.axes.add_collection(drawn, autolim=False)


STROKES: dict[str, tuple[str, float, Any]] = {
    "rules": (LINE, 0.8, "solid"),
    "evidence": (ORANGE, 1.7, "solid"),
    "unknown": (FAINT, 1.3, DOTTED),
}
"""Colour, width and style of each kind of line."""


def _rectangle(left: float, top: float, width: float, height: float) -> Outline:
    right, bottom = left + width, top + height
    return Outline([(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], closed=True)


def document_figure(
    prediction: DocumentPrediction,
    true_label: str | None = None,
    evidence: Sequence[Sequence[bool]] | None = None,
    *,
    weighing: str = "paper",
    max_lines: int = 30,
) -> Figure:
    """The picture, `WIDTH` inches wide and as high as the text needs, at most `max_lines` lines of it.

    `evidence` is True at the words that decided the label; they are underlined. A dotted line is under words that the
    network does not know. `weighing` is a key of `WEIGHINGS`.
    No pyplot, so drawing needs no display and leaves no state behind.
    """
    with missing_letters_unsaid():
        letters = letters_of(families(_texts(prediction, true_label)))
        rows = layout(prediction, letters, max_lines)
        classes = likeliest(prediction)
        header = max(0.75, len(classes) * CLASS_HEIGHT) + 0.25
        body = sum(LINE_HEIGHT * (1 + row[-1].line if row else 1) + SENTENCE_GAP for row in rows) + SENTENCE_GAP
        note = left_out(prediction, rows)
        height = MARGIN + header + body + 0.62 + (LINE_HEIGHT if note else 0.0)
        figure = Figure(figsize=(WIDTH, height), dpi=DPI, facecolor="white")
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(height, 0))
        axes.set_axis_off()
        sheet = Sheet(figure, axes, letters)
        draw_header(sheet, prediction, true_label, classes)
        y = draw_sentences(sheet, prediction, rows, evidence, weighing, MARGIN + header)
        sheet.write(TEXT_LEFT, y + 0.22, note, letters.small, SOFT)
        draw_legend(sheet, prediction, rows, weighing, evidence is not None, height - 0.3)
        sheet.finish()
    return figure


def _texts(prediction: DocumentPrediction, true_label: str | None) -> Iterator[str]:
    """All that may be written of a document."""
    yield from prediction.probabilities
    yield "✓✗…" + (true_label or "")
    for sentence in prediction.sentences:
        yield from (shown(word[:400]) for word in sentence.words)


def layout(prediction: DocumentPrediction, letters: Letters, max_lines: int) -> list[list[Placed]]:
    """The words of the sentences that fit into `max_lines` lines; the last one shown may be cut."""
    space = letters.width("n n") - 2 * letters.width("n") + 0.02
    rows: list[list[Placed]] = []
    left_over = max_lines
    for sentence in prediction.sentences:
        if left_over <= 0:
            break
        row: list[Placed] = []
        line, left = 0, TEXT_LEFT
        for number, word in enumerate(sentence.words):
            word = letters.cut(word, WIDTH - MARGIN - TEXT_LEFT)
            width = letters.width(word)
            if left > TEXT_LEFT and left + width > WIDTH - MARGIN:
                line, left = line + 1, TEXT_LEFT
            if line == left_over:
                break
            row.append(Placed(word, number, line, left, width))
            left += width + space
        rows.append(row)
        left_over -= 1 + (row[-1].line if row else 0)
    return rows


def left_out(prediction: DocumentPrediction, rows: list[list[Placed]]) -> str:
    """What the picture does not show, in words; empty where it shows all."""
    if not prediction.sentences:
        return "(no words)"
    cut = len(prediction.sentences[len(rows) - 1].words) - len(rows[-1])
    missing = prediction.sentences[len(rows) :]
    parts = []
    if cut:
        parts.append(f"{cut:,} more word{'s' * (cut > 1)} of this sentence")
    if missing:
        parts.append(f"{len(missing):,} more sentence{'s' * (len(missing) > 1)}")
        weights = [sentence.weight for sentence in missing if sentence.weight is not None]
        if weights:
            parts[-1] += f" with {sum(weights):.2f} of the attention"
    return "… " + " and ".join(parts) if parts else ""


def likeliest(prediction: DocumentPrediction, most: int = MOST_CLASSES) -> list[tuple[str, float]]:
    """All classes in their order, or the likeliest where there are more than `most`."""
    rows = list(prediction.probabilities.items())
    return rows if len(rows) <= most else sorted(rows, key=lambda row: -row[1])[:most]


def draw_header(
    sheet: Sheet,
    prediction: DocumentPrediction,
    true_label: str | None,
    classes: list[tuple[str, float]],
    *,
    said: str = "predicted",
    truth: str = "true class",
) -> None:
    """What the network says, under the caption `said`, what is true, and the probabilities of `classes`."""
    letters = sheet.letters
    sheet.write(MARGIN, MARGIN + 0.1, said, letters.small, SOFT)
    sheet.write(MARGIN, MARGIN + 0.41, letters.cut(prediction.label, 5.0, letters.large), letters.large)
    under = f"probability {prediction.probabilities[prediction.label]:.2f}"
    sheet.write(MARGIN, MARGIN + 0.68, under, letters.small, SOFT)
    if true_label is not None:
        right = true_label == prediction.label
        verdict = f"{'✓' if right else '✗'} {truth} {letters.cut(true_label, 3.5, letters.small_bold)}"
        x = MARGIN + letters.width(under, letters.small) + 0.2
        sheet.write(x, MARGIN + 0.68, verdict, letters.small_bold, RIGHT if right else WRONG)
    bar_left = WIDTH - MARGIN - CLASS_BAR - 0.4
    for k, (name, probability) in enumerate(classes):
        y = MARGIN + 0.1 + k * CLASS_HEIGHT
        chosen = name == prediction.label
        font, color = (letters.small_bold, INK) if chosen else (letters.small, SOFT)
        sheet.write(bar_left - 0.1, y, letters.cut(name, 1.7, font), font, color, right=True)
        sheet.box("tracks", bar_left, y - 0.09, CLASS_BAR, 0.1, TRACK)
        sheet.box("classes", bar_left, y - 0.09, CLASS_BAR * probability, 0.1, INK if chosen else CLASS)
        sheet.write(WIDTH - MARGIN, y, f"{probability:.2f}", font, color, right=True)


def draw_sentences(
    sheet: Sheet,
    prediction: DocumentPrediction,
    rows: list[list[Placed]],
    evidence: Sequence[Sequence[bool]] | None,
    weighing: str,
    y: float,
) -> float:
    """Draws the rows from `y` down and returns where they end."""
    strengths, bars = word_strengths(prediction, weighing), sentence_strengths(prediction)
    for s, row in enumerate(rows):
        sentence = prediction.sentences[s]
        sheet.line("rules", MARGIN, WIDTH - MARGIN, y)
        y += SENTENCE_GAP / 2
        baseline = y + 0.185
        if bars is not None:
            weight, top = f"{sentence.weight:.2f}", baseline - 0.105
            color = FAINT if weight == "0.00" else SOFT
            sheet.write(BAR_LEFT - 0.1, baseline, weight, sheet.letters.small, color, right=True)
            sheet.box("tracks", BAR_LEFT, top, BAR_WIDTH, BAR_HEIGHT, TRACK)
            sheet.box("sentences", BAR_LEFT, top, BAR_WIDTH * bars[s], BAR_HEIGHT, SENTENCE)
        for placed in row:
            strength = strengths[s][placed.number] if strengths else 0.0
            _draw_word(sheet, placed, baseline + placed.line * LINE_HEIGHT, strength)
        if evidence is not None:
            _underline(sheet, "evidence", row, evidence[s], baseline + 0.052)
        if sentence.unknown:
            unknown = [number in sentence.unknown for number in range(len(sentence.words))]
            _underline(sheet, "unknown", row, unknown, baseline + 0.075)
        y += LINE_HEIGHT * (1 + row[-1].line if row else 1) + SENTENCE_GAP / 2
    sheet.line("rules", MARGIN, WIDTH - MARGIN, y)
    return y


def _draw_word(sheet: Sheet, placed: Placed, baseline: float, strength: float) -> None:
    if strength > 0.01:
        left, width = placed.left - 0.035, placed.width + 0.07
        sheet.box("words", left, baseline - 0.155, width, BOX_HEIGHT, tint(strength))
    sheet.write(placed.left, baseline, placed.word)


def _underline(sheet: Sheet, kind: str, row: list[Placed], marked: Sequence[bool], y: float) -> None:
    """A line under each marked word, drawn through to the next one where that is marked too; `y` is that of the first
    line of the row."""
    for placed, following in zip(row, [*row[1:], None], strict=True):
        if not marked[placed.number]:
            continue
        right = placed.left + placed.width
        if following is not None and following.line == placed.line and marked[following.number]:
            right = following.left
        sheet.line(kind, placed.left, right, y + placed.line * LINE_HEIGHT)


def tint(strength: float) -> tuple[float, ...]:
    """The colour behind a word."""
    return tuple(1 + (c - 1) * strength for c in to_rgb(BLUE))


def draw_legend(
    sheet: Sheet,
    prediction: DocumentPrediction,
    rows: list[list[Placed]],
    weighing: str,
    underlined: bool,
    y: float,
    *,
    evidence: str = "decided the true class",
) -> None:
    """What bars, boxes and lines stand for; `evidence` says it of the words that are `underlined`."""
    x, small = MARGIN, sheet.letters.small
    has_words = word_strengths(prediction, weighing) is not None
    has_sentences = sentence_strengths(prediction) is not None

    def explain(text: str, sample: float) -> None:
        """`text` behind a sample of so many inches."""
        nonlocal x
        sheet.write(x + sample, y, text, small, SOFT)
        x += sample + sheet.letters.width(text, small) + 0.35

    if prediction.sentences and not has_sentences and not has_words:
        explain("the network has no attention weights", 0.0)
    if has_sentences:
        sheet.box("legend", x, y - 0.095, 0.3, 0.1, SENTENCE)
        explain("sentence weight", 0.38)
    if has_words:
        for i in range(40):
            sheet.box("legend", x + i * 0.02, y - 0.115, 0.021, 0.14, tint((i + 1) / 40))
        explain("word weight" if weighing == "word" else f"word weight ({WEIGHINGS[weighing].title})", 0.88)
    if underlined:
        sheet.line("evidence", x, x + 0.3, y - 0.03)
        explain(evidence, 0.38)
    if any(placed.number in prediction.sentences[s].unknown for s, row in enumerate(rows) for placed in row):
        sheet.line("unknown", x, x + 0.3, y - 0.03)
        explain("unknown to the network", 0.38)
