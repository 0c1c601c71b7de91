"""A classified document as a picture: a bar for the weight of each sentence, a box for that of each word."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Rectangle

from zoo.visualize.weighing import WEIGHINGS, sentence_strengths, shown, word_strengths

if TYPE_CHECKING:
    from zoo.tasks.classification import DocumentPrediction

DPI = 150
INK, SOFT, FAINT, LINE = "#14181f", "#5b6472", "#7d8795", "#e3e7ed"
WORD, SENTENCE, CLASS, EVIDENCE = "#4a90f0", "#d6456b", "#8a94a3", "#d97706"
TRACK = "#f0f2f5"
RIGHT, WRONG = "#14713d", "#b3261e"

# inches
WIDTH = 9.0
MARGIN = 0.35
TEXT_LEFT = 1.65
BAR_LEFT, BAR_WIDTH, BAR_HEIGHT = 0.72, 0.7, 0.11
LINE_HEIGHT, BOX_HEIGHT = 0.27, 0.215
SENTENCE_GAP = 0.09
CLASS_HEIGHT, CLASS_BAR, MOST_CLASSES = 0.185, 1.1, 6

FONT = FontProperties(family="DejaVu Sans", size=10.5)
SMALL = FontProperties(family="DejaVu Sans", size=8.5)
SMALL_BOLD = FontProperties(family="DejaVu Sans", size=8.5, weight="bold")
LARGE = FontProperties(family="DejaVu Sans", size=15, weight="bold")


class _Placed(NamedTuple):
    """A word at `left` inches of `line` of its sentence, `width` inches wide."""

    word: str
    number: int
    line: int
    left: float
    width: float


class _Ruler:
    """Measures text in inches, as the Agg canvas will draw it."""

    def __init__(self, figure: Figure) -> None:
        self.renderer = FigureCanvasAgg(figure).get_renderer()

    def width(self, text: str, font: FontProperties = FONT) -> float:
        return self.renderer.get_text_width_height_descent(text, font, False)[0] / DPI

    def cut(self, text: str, most: float, font: FontProperties = FONT) -> str:
        """`text` fit to be shown, shortened by an ellipsis where it is wider than `most` inches."""
        text = shown(text[:400])  # wider than any line: a word of 100,000 letters need not be measured
        if self.width(text, font) <= most:
            return text
        fits, too_long = 0, len(text)
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            fits, too_long = (middle, too_long) if self.width(text[:middle] + "…", font) <= most else (fits, middle)
        return text[:fits] + "…"


def document_figure(
    prediction: DocumentPrediction,
    true_label: str | None = None,
    evidence: Sequence[Sequence[bool]] | None = None,
    *,
    weighing: str = "paper",
    max_lines: int = 30,
) -> Figure:
    """The picture, `WIDTH` inches wide and as high as the text needs, at most `max_lines` lines of it.

    `evidence` is True at the words that decided the label; they are underlined. `weighing` is a key of `WEIGHINGS`.
    No pyplot, so drawing needs no display and leaves no state behind.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="Glyph .* missing from"
        )  # drawn as a box: the text may hold any script
        figure = Figure(figsize=(WIDTH, 1), dpi=DPI, facecolor="white")
        ruler = _Ruler(figure)
        rows = _layout(prediction, ruler, max_lines)
        classes = _classes(prediction)
        header = max(0.75, len(classes) * CLASS_HEIGHT) + 0.25
        body = sum(LINE_HEIGHT * (1 + row[-1].line if row else 1) + SENTENCE_GAP for row in rows) + SENTENCE_GAP
        note = _left_out(prediction, rows)
        height = MARGIN + header + body + 0.62 + (LINE_HEIGHT if note else 0.0)
        figure.set_size_inches(WIDTH, height)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(height, 0))
        axes.set_axis_off()
        _draw_header(axes, ruler, prediction, true_label, classes)
        y = _draw_sentences(axes, prediction, rows, evidence, weighing, MARGIN + header)
        _write(axes, TEXT_LEFT, y + 0.22, note, SMALL, SOFT)
        _draw_legend(axes, ruler, prediction, weighing, evidence is not None, height - 0.3)
    return figure


def save_png(figure: Figure, path: Path | str) -> Path:
    """Writes `figure` to `path`, making its folder."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(path, dpi=figure.dpi, format="png")
    return path


def _layout(prediction: DocumentPrediction, ruler: _Ruler, max_lines: int) -> list[list[_Placed]]:
    """The words of the sentences that fit into `max_lines` lines; the last one shown may be cut."""
    space = ruler.width("n n") - 2 * ruler.width("n") + 0.02
    rows: list[list[_Placed]] = []
    left_over = max_lines
    for sentence in prediction.sentences:
        if left_over <= 0:
            break
        row: list[_Placed] = []
        line, left = 0, TEXT_LEFT
        for number, word in enumerate(sentence.words):
            word = ruler.cut(word, WIDTH - MARGIN - TEXT_LEFT)
            width = ruler.width(word)
            if left > TEXT_LEFT and left + width > WIDTH - MARGIN:
                line, left = line + 1, TEXT_LEFT
            if line == left_over:
                break
            row.append(_Placed(word, number, line, left, width))
            left += width + space
        rows.append(row)
        left_over -= 1 + (row[-1].line if row else 0)
    return rows


def _left_out(prediction: DocumentPrediction, rows: list[list[_Placed]]) -> str:
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


def _classes(prediction: DocumentPrediction) -> list[tuple[str, float]]:
    """All classes in their order, or the likeliest where there are many."""
    rows = list(prediction.probabilities.items())
    return rows if len(rows) <= MOST_CLASSES else sorted(rows, key=lambda row: -row[1])[:MOST_CLASSES]


def _write(
    axes: Axes, x: float, y: float, text: str, font: FontProperties = FONT, color: str = INK, *, right: bool = False
) -> None:
    axes.text(
        x, y, text, fontproperties=font, color=color, va="baseline", ha="right" if right else "left", parse_math=False
    )


def _draw_header(
    axes: Axes, ruler: _Ruler, prediction: DocumentPrediction, true_label: str | None, classes: list[tuple[str, float]]
) -> None:
    _write(axes, MARGIN, MARGIN + 0.1, "predicted", SMALL, SOFT)
    _write(axes, MARGIN, MARGIN + 0.41, ruler.cut(prediction.label, 5.0, LARGE), LARGE)
    under = f"probability {prediction.probabilities[prediction.label]:.2f}"
    _write(axes, MARGIN, MARGIN + 0.68, under, SMALL, SOFT)
    if true_label is not None:
        right = true_label == prediction.label
        verdict = f"{'✓' if right else '✗'} true class {ruler.cut(true_label, 3.5, SMALL_BOLD)}"
        x = MARGIN + ruler.width(under, SMALL) + 0.2
        _write(axes, x, MARGIN + 0.68, verdict, SMALL_BOLD, RIGHT if right else WRONG)
    bar_left = WIDTH - MARGIN - CLASS_BAR - 0.4
    for k, (name, probability) in enumerate(classes):
        y = MARGIN + 0.1 + k * CLASS_HEIGHT
        chosen = name == prediction.label
        font, color = (SMALL_BOLD, INK) if chosen else (SMALL, SOFT)
        _write(axes, bar_left - 0.1, y, ruler.cut(name, 1.7, font), font, color, right=True)
        axes.add_patch(Rectangle((bar_left, y - 0.09), CLASS_BAR, 0.1, color=TRACK, lw=0))
        bar = Rectangle((bar_left, y - 0.09), CLASS_BAR * probability, 0.1, color=INK if chosen else CLASS, lw=0)
        bar.set_gid(f"class {k}")
        axes.add_patch(bar)
        _write(axes, WIDTH - MARGIN, y, f"{probability:.2f}", font, color, right=True)


def _draw_sentences(
    axes: Axes,
    prediction: DocumentPrediction,
    rows: list[list[_Placed]],
    evidence: Sequence[Sequence[bool]] | None,
    weighing: str,
    y: float,
) -> float:
    """Draws the rows from `y` down and returns where they end."""
    strengths, bars = word_strengths(prediction, weighing), sentence_strengths(prediction)
    for s, row in enumerate(rows):
        axes.add_line(Line2D((MARGIN, WIDTH - MARGIN), (y, y), color=LINE, lw=0.8))
        y += SENTENCE_GAP / 2
        baseline = y + 0.185
        if bars is not None:
            weight = f"{prediction.sentences[s].weight:.2f}"
            _write(axes, BAR_LEFT - 0.1, baseline, weight, SMALL, FAINT if weight == "0.00" else SOFT, right=True)
            axes.add_patch(Rectangle((BAR_LEFT, baseline - 0.105), BAR_WIDTH, BAR_HEIGHT, color=TRACK, lw=0))
            bar = Rectangle((BAR_LEFT, baseline - 0.105), BAR_WIDTH * bars[s], BAR_HEIGHT, color=SENTENCE, lw=0)
            bar.set_gid(f"sentence {s}")
            axes.add_patch(bar)
        for placed in row:
            strength = strengths[s][placed.number] if strengths else 0.0
            _draw_word(axes, placed, baseline + placed.line * LINE_HEIGHT, strength, f"word {s} {placed.number}")
        if evidence is not None:
            _underline(axes, row, evidence[s], baseline, f"evidence {s}")
        y += LINE_HEIGHT * (1 + row[-1].line if row else 1) + SENTENCE_GAP / 2
    axes.add_line(Line2D((MARGIN, WIDTH - MARGIN), (y, y), color=LINE, lw=0.8))
    return y


def _draw_word(axes: Axes, placed: _Placed, baseline: float, strength: float, gid: str) -> None:
    if strength > 0.01:
        box = FancyBboxPatch(
            (placed.left - 0.035, baseline - 0.155),
            placed.width + 0.07,
            BOX_HEIGHT,
            boxstyle="round,pad=0,rounding_size=0.045",
            facecolor=_tint(strength),
            edgecolor="none",
        )
        box.set_gid(gid)
        axes.add_patch(box)
    _write(axes, placed.left, baseline, placed.word)


def _underline(axes: Axes, row: list[_Placed], evident: Sequence[bool], baseline: float, gid: str) -> None:
    """A line under each evident word, drawn through to the next one where that is evident too."""
    for placed, following in zip(row, [*row[1:], None], strict=True):
        if not evident[placed.number]:
            continue
        right, y = placed.left + placed.width, baseline + placed.line * LINE_HEIGHT + 0.052
        if following is not None and following.line == placed.line and evident[following.number]:
            right = following.left
        line = Line2D((placed.left, right), (y, y), color=EVIDENCE, lw=1.7, solid_capstyle="butt")
        line.set_gid(f"{gid} {placed.number}")
        axes.add_line(line)


def _tint(strength: float) -> tuple[float, ...]:
    return tuple(1 + (c - 1) * strength for c in to_rgb(WORD))


def _draw_legend(
    axes: Axes, ruler: _Ruler, prediction: DocumentPrediction, weighing: str, underlined: bool, y: float
) -> None:
    x = MARGIN
    has_sentences, has_words = (
        sentence_strengths(prediction) is not None,
        word_strengths(prediction, weighing) is not None,
    )
    if prediction.sentences and not has_sentences and not has_words:
        _write(axes, x, y, "the network has no attention weights", SMALL, SOFT)
        x += ruler.width("the network has no attention weights", SMALL) + 0.35
    if has_sentences:
        axes.add_patch(Rectangle((x, y - 0.095), 0.3, 0.1, color=SENTENCE, lw=0))
        _write(axes, x + 0.38, y, "sentence weight", SMALL, SOFT)
        x += 0.38 + ruler.width("sentence weight", SMALL) + 0.35
    if has_words:
        for i in range(40):
            axes.add_patch(Rectangle((x + i * 0.02, y - 0.115), 0.021, 0.14, color=_tint((i + 1) / 40), lw=0))
        way = WEIGHINGS[weighing]
        label = "word weight" if weighing == "word" else f"word weight ({way.title})"
        _write(axes, x + 0.88, y, label, SMALL, SOFT)
        x += 0.88 + ruler.width(label, SMALL) + 0.35
    if underlined:
        axes.add_line(Line2D((x, x + 0.3), (y - 0.03, y - 0.03), color=EVIDENCE, lw=1.6))
        _write(axes, x + 0.38, y, "decided the true class", SMALL, SOFT)
