"""Trees as pictures: a disc for each node with the sign and the colour of its class, the words below (Socher et al.
2013, figures 1 and 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import cos, radians, sin, sqrt
from typing import TYPE_CHECKING, NamedTuple

from zoo.visualize.drawing import FAINT, INK, ORANGE, RIGHT, SOFT, WRONG, missing_letters_unsaid
from zoo.visualize.printable import shortened, shown
from zoo.visualize.tree_layout import Layout, laid_out, strengths
from zoo.visualize.tree_marks import Mark, marks
from zoo.visualize.tree_sheet import BRANCH, Letters, Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks.relatedness import ExaminedPair, RelatednessPrediction
    from zoo.tasks.tree_classification import ExaminedTree, TreePrediction
    from zoo.tasks.trees import ReadTree

HALO, PLAIN, BAR, TRACK = "#f2c744", "#bcc5d1", "#8b95a4", "#eff1f4"

# inches
WIDEST, NARROWEST, MARGIN = 12.0, 6.4, 0.35
RADIUS, LEVEL, TALLEST = 0.145, 0.44, 8.0
"""Of a disc, between two levels, and of all levels of a tree at most."""
GAP = 0.13
"""Between two words."""
SLANT, SLANTED_GAP, LONGEST_SLANTED = 52, 0.215, 1.3
"""Degrees by which words are turned where they do not fit side by side, and then between columns, and of a word."""
WIDEST_WORD = 1.7
CLASS_HEIGHT, CLASS_BAR, MOST_CLASSES = 0.2, 1.1, 6
APART, FOOT_LINE = 0.4, 0.22
"""Above each tree of a pair, and of a line of the key."""
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
        return self.radius * 2 + (self.layout.levels - 1) * self.level + fold + (0.16 if self.turned else 0.24)

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
    predicted, an orange rim where the class of the root can be read off it, and a halo as large as its attention.

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
    classes = _likeliest(prediction.probabilities)
    with missing_letters_unsaid():
        letters = Letters(_texts([tree], [*prediction.probabilities, truth or "", note]))
        drawn = fitted(tree, letters)
        head, width = _head_height(len(classes)), _width([drawn])
        foot = _foot(letters, _keys([drawn], [looks]), [*filter(None, [note]), *_folds([drawn])], width)
        sheet = Sheet(width, head + drawn.height + _foot_height(foot), letters)
        probability = prediction.probabilities.get(prediction.label, 0.0)
        verdict = None if truth is None else (truth == prediction.label, f"true class {truth}")
        _head(sheet, "predicted", prediction.label, f"probability {probability:.2f}", verdict)
        _bars(sheet, classes, known, prediction.label)
        _draw(sheet, drawn, looks, (sheet.width - drawn.width) / 2, head)
        _write_foot(sheet, foot, head + drawn.height)
        return sheet.finish()


def pair_figure(prediction: RelatednessPrediction, examined: ExaminedPair | None = None, note: str = "") -> Figure:
    """Both trees, one below the other, under the score, the probabilities of the grades and the true score."""
    trees = (prediction.first, prediction.second)
    grades = _likeliest(prediction.probabilities)
    with missing_letters_unsaid():
        letters = Letters(_texts(trees, [*prediction.probabilities, note]))
        drawn = [fitted(tree, letters) for tree in trees]
        looks = [Looks([None] * len(tree.parent), [None] * len(tree.parent)) for tree in trees]
        y, width = _head_height(len(grades)), _width(drawn)
        foot = _foot(letters, _keys(drawn, looks), [*filter(None, [note]), *_folds(drawn)], width)
        sheet = Sheet(width, y + sum(one.height + APART for one in drawn) + _foot_height(foot), letters)
        names = list(prediction.probabilities)
        scale = f"of {names[0]} to {names[-1]}" if names else ""
        _head(sheet, "relatedness", f"{prediction.score:.2f}", scale, None)
        if examined is not None and examined.score is not None:
            x = MARGIN + letters.width(scale, 8.5) + 0.2
            sheet.write(x, MARGIN + 0.68, f"true score {examined.score:g}", color=INK, weight="bold")
        _bars(sheet, grades, {}, "")
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


def _likeliest(probabilities: Mapping[str, float]) -> list[tuple[str, float]]:
    """All classes in their order, or the likeliest where there are more than MOST_CLASSES."""
    rows = list(probabilities.items())
    return rows if len(rows) <= MOST_CLASSES else sorted(rows, key=lambda row: -row[1])[:MOST_CLASSES]


def _width(drawn: Sequence[Fitted]) -> float:
    return max(NARROWEST, *(one.width + 2 * MARGIN for one in drawn))


# The head


def _head_height(classes: int) -> float:
    return MARGIN + max(0.78, classes * CLASS_HEIGHT) + 0.25


def _head(sheet: Sheet, above: str, large: str, under: str, verdict: tuple[bool, str] | None) -> None:
    most = sheet.width - 2 * MARGIN - 3.6
    sheet.write(MARGIN, MARGIN + 0.1, above)
    large = sheet.letters.cut(large, most, 15, "bold")
    sheet.write(MARGIN, MARGIN + 0.41, large, 15, INK, weight="bold")
    sheet.write(MARGIN, MARGIN + 0.68, under)
    if verdict is not None:
        right, said = verdict
        x = MARGIN + sheet.letters.width(under, 8.5) + 0.2
        said = f"{'✓' if right else '✗'} {sheet.letters.cut(said, most, 8.5, 'bold')}"
        sheet.write(x, MARGIN + 0.68, said, color=RIGHT if right else WRONG, weight="bold")


def _bars(sheet: Sheet, classes: Sequence[tuple[str, float]], known: Mapping[str, Mark], label: str) -> None:
    """The probabilities; the marks before the names are the key to those in the tree."""
    right = sheet.width - MARGIN
    left = right - CLASS_BAR - 0.4
    names = [sheet.letters.cut(name, 1.7, 8.5, "bold") for name, _ in classes]
    signs = left - 0.3 - max((sheet.letters.width(name, 8.5, "bold") for name in names), default=0)
    for k, ((name, probability), written) in enumerate(zip(classes, names, strict=True)):
        y = MARGIN + 0.1 + k * CLASS_HEIGHT
        weight, color = ("bold", INK) if name == label else ("normal", SOFT)
        sheet.write(left - 0.1, y, written, color=color, weight=weight, side="right")
        sheet.bar("tracks", left, y - 0.09, CLASS_BAR, 0.1, TRACK)
        sheet.bar("bars", left, y - 0.09, CLASS_BAR * probability, 0.1, INK if name == label else BAR)
        sheet.write(right, y, f"{probability:.2f}", color=color, weight=weight, side="right")
        if name in known:
            sheet.disc("nodes", signs, y - 0.045, 0.082, known[name].colour, BRANCH, 0.5)
            sheet.sign(signs, y - 0.045, known[name], 5.5)


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
        if attention is not None and attention[node] > 0:
            # as large around the disc as the weight is
            sheet.disc("halos", x, y, radius * sqrt(1 + 2.6 * attention[node]), HALO)
        if node in layout.folded:
            foot = y + radius + 0.13
            sheet.shape("folds", [(x, y), (x - radius, foot), (x + radius, foot)], BRANCH)
        if looks.evidence is not None and looks.evidence[node]:
            sheet.disc("evidence", x, y, radius + 0.035, ORANGE)
        size = radius if mark else radius * 0.6
        sheet.disc("nodes", x, y, size, mark.colour if mark else PLAIN, BRANCH, 0.6)
        if mark and radius > 0.075:
            sheet.sign(x, y, mark, radius * 62 if len(mark.sign) < 3 else radius * 44)
        if true:
            x, y, small = x + radius * 0.85, y - radius * 0.85, radius * 0.58
            sheet.disc("true", x, y, small, true.colour, "white", 1.1)
            if radius > 0.1:
                sheet.sign(x, y, true, small * 62 if len(true.sign) < 3 else small * 44)
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
    if any(tree.weights is not None for tree, _, _ in nodes):
        found.append(Key("attention: the halo's area", _halo_sample))
    if any(look.true[node] for _, look, node in nodes):
        found.append(Key("small disc: true class", _true_sample))
    if any(look.evidence and look.evidence[node] for _, look, node in nodes):
        found.append(Key("tells the true class", _evidence_sample))
    if any(column.word in one.layout.tree.unknown for one in drawn for column in one.layout.columns):
        found.append(Key("unknown to the network", _unknown_sample))
    return found


def _halo_sample(sheet: Sheet, x: float, y: float) -> None:
    sheet.disc("halos", x, y, 0.1, HALO)
    sheet.disc("nodes", x, y, 0.06, PLAIN, BRANCH, 0.5)


def _true_sample(sheet: Sheet, x: float, y: float) -> None:
    sheet.disc("nodes", x - 0.02, y + 0.01, 0.08, PLAIN, BRANCH, 0.5)
    sheet.disc("true", x + 0.04, y - 0.05, 0.055, SOFT, "white", 1.0)


def _evidence_sample(sheet: Sheet, x: float, y: float) -> None:
    sheet.disc("evidence", x, y, 0.095, ORANGE)
    sheet.disc("nodes", x, y, 0.065, "white", BRANCH, 0.5)


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
    return lines + [[(MARGIN - 0.28, Key(shortened(note, 160), lambda *_: None))] for note in notes]


def _write_foot(sheet: Sheet, lines: Sequence[Sequence[tuple[float, Key]]], y: float) -> None:
    for number, line in enumerate(lines):
        below = y + 0.36 + FOOT_LINE * number
        for x, key in line:
            key.draw(sheet, x + 0.1, below - 0.04)
            sheet.write(x + 0.28, below, key.said)
