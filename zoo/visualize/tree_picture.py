"""Trees as pictures: a disc for each node with the sign and the colour of its class, the words below (Socher et al.
2013, figures 1 and 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import cos, radians, sin
from typing import TYPE_CHECKING, NamedTuple

from zoo.visualize.drawing import FAINT, INK, RIGHT, SOFT, WRONG, missing_letters_unsaid
from zoo.visualize.printable import shortened, shown
from zoo.visualize.tree_head import MARGIN, Head, chosen
from zoo.visualize.tree_layout import CLEAR, Layout, halo, laid_out, largest, strengths
from zoo.visualize.tree_marks import Mark, marks
from zoo.visualize.tree_sheet import BRANCH, Letters, Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks.relatedness import ExaminedPair, RelatednessPrediction
    from zoo.tasks.tree_classification import ExaminedTree, TreePrediction
    from zoo.tasks.trees import ReadTree

HALO, PLAIN = "#f2c744", "#bcc5d1"

# inches
WIDEST = 12.0
RADIUS, LEVEL, TALLEST = 0.145, 0.44, 8.0
"""Of a disc, between two levels, and of all levels of a tree at most."""
GAP = 0.13
"""Between two words."""
SLANT, SLANTED_GAP, LONGEST_SLANTED = 52, 0.215, 1.3
"""Degrees by which words are turned where they do not fit side by side, and then between columns, and of a word."""
WIDEST_WORD = 1.7
APART, FOOT_LINE, LONGEST_NOTE = 0.4, 0.22, 800
"""Above each tree of a pair, of a line of the key, and letters of a note."""
RING = 0.03
"""From a halo, or the disc, to the ring of evidence."""
OVERHANG = LONGEST_SLANTED * cos(radians(SLANT))
MOST_COLUMNS, MOST_LEVELS = int((WIDEST - 2 * MARGIN - OVERHANG) / SLANTED_GAP), 40
"""Of a tree; what is more is folded."""


class Fitted(NamedTuple):
    """A tree in inches, from its own left upper corner."""

    layout: Layout
    at: list[float]
    """Of the columns."""
    words: list[str]
    """Of the columns, as they are written."""
    size: float
    """Of their letters, in points."""
    turned: bool
    longest: float
    """How far slanted words reach down."""
    width: float
    radius: float
    level: float

    @property
    def baseline(self) -> float:
        """Of the words."""
        fold = 0.12 if self.layout.folded else 0.0
        halos = 0.08 if self.layout.tree.weights is not None else 0.0
        down = self.radius * 2 + (self.layout.levels - 1) * self.level
        return down + fold + halos + (0.16 if self.turned else 0.24)

    @property
    def height(self) -> float:
        return self.baseline + 0.12 + self.longest


def fitted(tree: ReadTree, letters: Letters) -> Fitted:
    """The tree with its words side by side, smaller where they are too wide, else slanted, and folded where even then
    there are too many."""
    layout = laid_out(tree, MOST_COLUMNS, MOST_LEVELS)
    level = min(LEVEL, TALLEST / max(1, layout.levels))
    texts = [column.text for column in layout.columns] or ["(no words)"]
    for size in (10.5, 8.5):
        words = [letters.cut(text, WIDEST_WORD, size) for text in texts]
        # discs stand apart where words are short
        wide = [max(letters.width(word, size), RADIUS * 2.1) + GAP for word in words]
        if sum(wide) <= WIDEST - 2 * MARGIN:
            ends = [sum(wide[: number + 1]) for number in range(len(wide))]
            at = [end - width / 2 for end, width in zip(ends, wide, strict=True)]
            return Fitted(layout, at, words, size, False, 0.0, ends[-1], min(RADIUS, level * 0.42), level)
    between = min(0.34, (WIDEST - 2 * MARGIN - OVERHANG) / len(texts))
    words = [letters.cut(text, LONGEST_SLANTED, 9) for text in texts]
    widths = [letters.width(word, 9) for word in words]
    # the first words reach out to the left of their columns
    first = max(0.0, *(cos(radians(SLANT)) * width - k * between for k, width in enumerate(widths)))
    at = [first + between * (number + 0.5) for number in range(len(words))]
    radius, down = min(RADIUS, level * 0.42, between * 0.44), sin(radians(SLANT)) * max(widths)
    return Fitted(layout, at, words, 9, True, down, first + between * len(words), radius, level)


class Looks(NamedTuple):
    """What is shown at the nodes of a tree."""

    marks: list[Mark | None]
    true: list[Mark | None]
    """Of the true class where another was predicted."""
    evidence: Sequence[bool] | None = None


def tree_figure(prediction: TreePrediction, examined: ExaminedTree | None = None, note: str = "") -> Figure:
    """The tree under what the network says of it. A node has a second, smaller mark where its class is another one than
    predicted, a halo as large as its attention, and around that a ring where the class of the root can be read off it.

    WIDEST inches wide at most; what does not fit is folded, which the picture says. `note` is said as well. No pyplot,
    so drawing needs no display and leaves no state behind.
    """
    tree, known = prediction.tree, marks(list(prediction.probabilities))
    true = [None] * len(prediction.labels) if examined is None else examined.labels
    looks = Looks(
        [known.get(label) for label in prediction.labels],
        [
            known.get(there) if there not in (None, said) else None
            for said, there in zip(prediction.labels, true, strict=True)
        ],
        None if examined is None else examined.evidence,
    )
    truth = None if examined is None else examined.truth
    with missing_letters_unsaid():
        letters = Letters(_texts([tree], [*prediction.probabilities, truth or "", note]))
        drawn = fitted(tree, letters)
        nodes = drawn.layout.nodes
        head = Head(
            letters,
            prediction.probabilities,
            chosen(
                prediction.probabilities,
                [prediction.label, truth],
                [classes[node] for classes in (prediction.labels, true) for node in nodes],
            ),
            above="predicted",
            large=prediction.label,
            under=f"probability {prediction.probabilities.get(prediction.label, 0.0):.2f}",
            verdict=None if truth is None else _verdict(truth, truth == prediction.label),
            marks=known,
            bold=prediction.label,
        )
        width = max(head.least, drawn.width + 2 * MARGIN)
        foot = _foot(letters, _keys([drawn], [looks]), [*filter(None, [note]), *_folds([drawn])], width)
        top = head.height(width)
        sheet = Sheet(width, top + drawn.height + _foot_height(foot), letters)
        head.draw(sheet)
        _draw(sheet, drawn, looks, (sheet.width - drawn.width) / 2, top)
        _write_foot(sheet, foot, top + drawn.height)
        return sheet.finish()


def _verdict(truth: str, right: bool) -> tuple[str, str, str]:
    return (f"{'✓' if right else '✗'} true class ", truth, RIGHT if right else WRONG)


def pair_figure(prediction: RelatednessPrediction, examined: ExaminedPair | None = None, note: str = "") -> Figure:
    """Both trees, one below the other, under the score, the probabilities of the grades and the true score."""
    trees = (prediction.first, prediction.second)
    names = list(prediction.probabilities)
    known = None if examined is None else examined.score
    with missing_letters_unsaid():
        letters = Letters(_texts(trees, [*prediction.probabilities, note]))
        drawn = [fitted(tree, letters) for tree in trees]
        looks = [Looks([None] * len(tree.parent), [None] * len(tree.parent)) for tree in trees]
        head = Head(
            letters,
            prediction.probabilities,
            chosen(prediction.probabilities),
            above="relatedness",
            large=f"{prediction.score:.2f}",
            under=f"of {names[0]} to {names[-1]}" if names else "",
            verdict=None if known is None else (f"true score {known:g}", "", INK),
        )
        width = max(head.least, *(one.width + 2 * MARGIN for one in drawn))
        y = head.height(width)
        foot = _foot(letters, _keys(drawn, looks), [*filter(None, [note]), *_folds(drawn)], width)
        sheet = Sheet(width, y + sum(one.height + APART for one in drawn) + _foot_height(foot), letters)
        head.draw(sheet)
        for one, look in zip(drawn, looks, strict=True):
            sheet.line("rules", [(MARGIN, y), (width - MARGIN, y)])
            _draw(sheet, one, look, (width - one.width) / 2, y + APART - 0.1)
            y += one.height + APART
        _write_foot(sheet, foot, y)
        return sheet.finish()


def _texts(trees: Sequence[ReadTree], others: Sequence[str]) -> Iterator[str]:
    """All that may be written."""
    yield "✓✗…−" + "".join(others)
    for tree in trees:
        yield from (shown(word[:200]) for word in tree.words)


# The tree


def _draw(sheet: Sheet, drawn: Fitted, looks: Looks, left: float, top: float) -> None:
    layout, radius = drawn.layout, drawn.radius
    across = layout.across([left + x for x in drawn.at])

    def down(level: float) -> float:
        return top + radius + level * drawn.level

    for edge in layout.edges(across):
        sheet.line("edges", [(x, down(level)) for x, level in edge])
    attention, baseline = strengths(layout.tree), top + drawn.baseline
    for node in layout.nodes:
        x, y, mark, true = across[node], down(layout.level[node]), looks.marks[node], looks.true[node]
        size = outer = radius if mark else radius * 0.6
        if attention is not None and attention[node] > 0:
            outer = halo(size, radius, attention[node])
            sheet.disc("halos", x, y, outer, HALO)
            sheet.disc("gaps", x, y, size * CLEAR, "white")  # classes may be as yellow as the halo
        if node in layout.folded:
            foot = y + radius + 0.13
            sheet.shape("folds", [(x, y), (x - radius, foot), (x + radius, foot)], BRANCH)
        if looks.evidence is not None and looks.evidence[node]:
            sheet.disc("evidence", x, y, outer + RING, "none", INK, 1.1)
        sheet.disc("nodes", x, y, size, mark.colour if mark else PLAIN, BRANCH, 0.6)
        if mark and radius > 0.075:
            sheet.sign(x, y, mark, radius)
        if true:
            x, y, small = x + radius * 0.85, y - radius * 0.85, radius * 0.58
            sheet.disc("true", x, y, small, true.colour, "white", 1.1)
            if radius > 0.1:
                sheet.sign(x, y, true, small)
    for number, x in enumerate(drawn.at):
        if not layout.columns:
            sheet.write(left + x, baseline, drawn.words[number], side="center")
            continue
        node = layout.columns[number].node
        if node >= 0 and layout.inside:
            top_of_word = baseline - (0.03 if drawn.turned else 0.15)
            sheet.line("drops", [(left + x, down(layout.level[node]) + radius), (left + x, top_of_word)])
        _word(sheet, drawn, number, left + x, baseline)


def _word(sheet: Sheet, drawn: Fitted, number: int, x: float, y: float) -> None:
    """The word of a column around `x`, or, slanted, up to it; dotted under one that the network does not know."""
    word, column = drawn.words[number], drawn.layout.columns[number]
    color = FAINT if column.node < 0 else INK
    wide = sheet.letters.width(word, drawn.size)
    if drawn.turned:
        sheet.write(x + 0.04, y + 0.05, word, drawn.size, color, side="right", turned=SLANT)
        right, down = cos(radians(SLANT)), sin(radians(SLANT))
        end = (x + 0.04 + 0.05 * down, y + 0.05 + 0.05 * right)
        line = [end, (end[0] - wide * right, end[1] + wide * down)]
    else:
        sheet.write(x, y, word, drawn.size, color, side="center")
        line = [(x - wide / 2, y + 0.06), (x + wide / 2, y + 0.06)]
    if column.word in drawn.layout.tree.unknown:
        sheet.line("unknown", line)


# The foot


def _folds(drawn: Sequence[Fitted]) -> list[str]:
    """What is not drawn, in words."""
    missing = [(one.layout.tree, one.layout.missing()) for one in drawn]
    if not (count := sum(len(nodes) for _, nodes in missing)):
        return []
    whole = sum(len(tree.parent) for tree, _ in missing)
    said = f"{count:,} of {whole:,} nodes are not drawn, but folded into the triangles"
    weighed = [tree.weights[node] for tree, nodes in missing if tree.weights is not None for node in nodes]
    return [said + (f"; they have {sum(weighed):.2f} of the attention" if weighed else "")]


def _foot_height(lines: Sequence[object]) -> float:
    return 0.25 + FOOT_LINE * len(lines) + 0.1 * bool(lines)


class Key(NamedTuple):
    """What a mark or a line stands for; `draw` makes a sample of it around a point."""

    said: str
    draw: Callable[[Sheet, float, float], None]


def _keys(drawn: Sequence[Fitted], looks: Sequence[Looks]) -> list[Key]:
    """Of what is to be seen in the trees."""
    found = []
    nodes = [(one.layout.tree, look, node) for one, look in zip(drawn, looks, strict=True) for node in one.layout.nodes]
    if scales := list(filter(None, (largest(one.layout) for one in drawn))):
        found.append(Key(f"attention: the halo's area (largest {' and '.join(scales)})", _halo_sample))
    if any(look.true[node] for _, look, node in nodes):
        found.append(Key("small disc: true class", _true_sample))
    if any(look.evidence and look.evidence[node] for _, look, node in nodes):
        found.append(Key("tells the true class", _evidence_sample))
    if any(column.word in one.layout.tree.unknown for one in drawn for column in one.layout.columns):
        found.append(Key("unknown to the network", _unknown_sample))
    return found


def _halo_sample(sheet: Sheet, x: float, y: float) -> None:
    sheet.disc("halos", x, y, 0.1, HALO)
    sheet.disc("gaps", x, y, 0.055 * CLEAR, "white")
    sheet.disc("nodes", x, y, 0.055, PLAIN, BRANCH, 0.5)


def _true_sample(sheet: Sheet, x: float, y: float) -> None:
    sheet.disc("nodes", x - 0.02, y + 0.01, 0.08, PLAIN, BRANCH, 0.5)
    sheet.disc("true", x + 0.04, y - 0.05, 0.055, SOFT, "white", 1.0)


def _evidence_sample(sheet: Sheet, x: float, y: float) -> None:
    sheet.disc("evidence", x, y, 0.065 + RING, "none", INK, 1.1)
    sheet.disc("nodes", x, y, 0.065, PLAIN, BRANCH, 0.5)


def _unknown_sample(sheet: Sheet, x: float, y: float) -> None:
    sheet.line("unknown", [(x - 0.1, y + 0.01), (x + 0.1, y + 0.01)])


def _foot(letters: Letters, keys: Sequence[Key], notes: Sequence[str], width: float) -> list[list[tuple[float, Key]]]:
    """Lines of keys, each with its place, and of notes, which are keys without a sample."""
    lines: list[list[tuple[float, Key]]] = []
    x = width
    for key in keys:
        wide = 0.28 + letters.width(key.said, 8.5)
        if x + wide > width - MARGIN:
            lines.append([])
            x = MARGIN
        lines[-1].append((x, key))
        x += wide + 0.3
    said = [line for note in notes for line in letters.wrapped(shortened(note, LONGEST_NOTE), width - 2 * MARGIN, 8.5)]
    return lines + [[(MARGIN - 0.28, Key(line, lambda *_: None))] for line in said]


def _write_foot(sheet: Sheet, lines: Sequence[Sequence[tuple[float, Key]]], y: float) -> None:
    for number, line in enumerate(lines):
        below = y + 0.36 + FOOT_LINE * number
        for x, key in line:
            key.draw(sheet, x + 0.1, below - 0.04)
            sheet.write(x + 0.28, below, key.said)
