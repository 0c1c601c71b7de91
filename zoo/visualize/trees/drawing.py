"""Trees drawn for pages and pictures (Socher et al. 2013, figures 1 and 9), and as an outline on the terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import cos, inf, radians, sin
from typing import NamedTuple

from rich.console import RenderableType
from rich.style import Style
from rich.table import Column, Table
from rich.text import Text

from zoo.predicting.trees import ReadTree
from zoo.printable import shortened, shown
from zoo.visualize.blocks import UNKNOWN, Block, Drawn, Note
from zoo.visualize.drawing import NORMAL, SMALL, Drawing, Key, Shape, Spot
from zoo.visualize.letters import Letters
from zoo.visualize.renderers import figure, page, terminal
from zoo.visualize.trees.layout import CLEAR, Family, Layout, halo, laid_out, largest, strengths
from zoo.visualize.trees.marks import PALE, Mark, neutral

# pixels
WIDEST = 1084  # A tree of a picture; its words are slanted or folded to fit. A page can be scrolled
RADIUS, LEVEL, TALLEST, EDGE = 14, 42, 768, 24
"""A disc, the distance between two levels, all levels of a picture, and the edge of a page."""
GAP, LONGEST_WORD = 12.5, 163
SLANT, SLANTED, SLANTED_GAP, LONGEST_SLANTED = 52, 12, 20.6, 125
"""Degrees and size of words that do not fit side by side, the distance of their columns, and the longest of them."""
RING = 3  # The distance from a halo, or a disc, to the ring of evidence
ACROSS, DOWN = cos(radians(SLANT)), sin(radians(SLANT))
OVERHANG = LONGEST_SLANTED * ACROSS
MOST_COLUMNS, MOST_LEVELS = int((WIDEST - OVERHANG) / SLANTED_GAP), 40
MOST_ON_PAGE = (300, 60)  # Columns and levels of a tree on a page; the rest is folded
LONGEST_SPOKEN = 300

HALO = Key("halos", "", "The area of the halo around a node is its attention.")


@dataclass(frozen=True)
class Tree(Block):
    """A sentence with its tree: a disc for each node, with the sign and colour of its class."""

    tree: ReadTree
    labels: Sequence[str] = ()  # The class of each node; empty where nodes have none
    confidence: Sequence[float] = ()  # The probability of each node's class
    marks: Mapping[str, Mark] = field(default_factory=dict)  # The sign and colour of each class
    true: Sequence[str | None] | None = None  # The true class of each node, None where it has none
    evidence: Sequence[bool] | None = None  # True at the nodes that decide the class of the root
    links: Mapping[int, tuple[Mark, str]] = field(default_factory=dict)
    """The sign of a node and a fact about it. Nodes of two trees with equal signs belong together."""

    def mark(self, node: int) -> Mark | None:
        """The sign of a node: that of its class, or of its link."""
        return self.marks.get(self.labels[node]) if self.labels else self.links.get(node, (None,))[0]

    def true_mark(self, node: int) -> Mark | None:
        """The mark of the true class, where another class was predicted."""
        true = None if self.true is None else self.true[node]
        return None if true is None or true == self.labels[node] else self.marks.get(true)


class WordLine(NamedTuple):
    """The words under a tree."""

    at: list[float]  # The x of each column
    words: list[str]
    size: float
    width: float
    turned: bool = False
    height: float = 0.0
    between: float = inf  # The distance of slanted columns


def word_line(texts: Sequence[str], letters: Letters) -> WordLine:
    """Place the words side by side; in a picture they become smaller or slanted where there is no room."""
    for size in (NORMAL, SMALL):
        words = [letters.cut(text, LONGEST_WORD * (2 if letters.for_page else 1), size) for text in texts]
        wide = [max(letters.width(word, size), RADIUS * 2.1) + GAP for word in words]  # discs stay apart
        ends = list(accumulate(wide))
        if letters.for_page or ends[-1] <= WIDEST:
            return WordLine([end - width / 2 for end, width in zip(ends, wide, strict=True)], words, size, ends[-1])
    between = min(32.6, (WIDEST - OVERHANG) / len(texts))
    words = [letters.cut(text, LONGEST_SLANTED, SLANTED) for text in texts]
    widths = [letters.width(word, SLANTED) for word in words]
    first = max(0.0, *(ACROSS * width - k * between for k, width in enumerate(widths)))  # reach to the left
    at = [first + between * (number + 0.5) for number in range(len(words))]
    return WordLine(at, words, SLANTED, first + between * len(words), True, DOWN * max(widths), between)


def tree_drawing(block: Tree, letters: Letters) -> Drawing:
    """Return the drawing of a tree, folded where it is too large."""
    tree, edge = block.tree, EDGE if letters.for_page else 0
    layout = laid_out(tree, *(MOST_ON_PAGE if letters.for_page else (MOST_COLUMNS, MOST_LEVELS)))
    line = word_line([column.text for column in layout.columns] or ["(no words)"], letters)
    level = LEVEL if letters.for_page else min(LEVEL, TALLEST / max(1, layout.levels))
    radius = min(RADIUS, level * 0.42, line.between * 0.44)
    lowest = radius + (layout.levels - 1) * level
    beyond = 11.5 * bool(layout.folded) + 7.7 * (tree.weights is not None)  # triangles and halos
    base = edge + lowest + radius + beyond + (15 if line.turned else 23)
    root = block.labels[tree.parent.index(-1)] if block.labels else ""
    spoken = ": ".join(filter(None, [root, shortened(" ".join(tree.words), LONGEST_SPOKEN)]))
    sheet = Drawing(line.width + 2 * edge, base + 12 + line.height, spoken)
    at = [edge + x for x in line.at]
    across = layout.across(at)

    down = [edge + radius + number * level for number in range(layout.levels)]
    for ends in layout.edges(across):
        sheet.line("edges", [(x, down[number]) for x, number in ends])
    attention = strengths(tree)
    for node in layout.nodes:
        x, y, mark = across[node], down[layout.level[node]], block.mark(node)
        size = outer = radius if mark else radius * 0.6
        if attention is not None and attention[node] > 0:
            outer = halo(size, radius, attention[node])
            sheet.disc("halos", x, y, outer)
            sheet.disc("gaps", x, y, size * CLEAR)  # classes may be as yellow as the halo
        if node in layout.folded:
            foot = y + radius + 12.5
            sheet.line("folds", [(x, y), (x - radius, foot), (x + radius, foot)])
        if block.evidence is not None and block.evidence[node]:
            sheet.disc("rings", x, y, outer + RING)
        if mark is None:
            sheet.disc("nodes", x, y, size)
        else:
            mark.draw(sheet, "nodes", x, y, size)
        if (true := block.true_mark(node)) is not None:
            true.draw(sheet, "small nodes", x + radius * 0.85, y - radius * 0.85, radius * 0.58)
        sheet.spots.append(Spot(x, y, *_facts(block, layout, node)))
    for column, x, word in zip(layout.columns, at, line.words, strict=False):
        if column.node >= 0 and layout.inside:
            top, end = down[layout.level[column.node]] + radius, base - (3 if line.turned else 14)
            sheet.line("drops", [(x, top), (x, end)])
        color, wide = "faint" if column.node < 0 else "ink", letters.width(word, line.size)
        if line.turned:
            sheet.write(x + 3.8, base + 4.8, word, line.size, color, side="right", turned=SLANT)
            right, below = x + 3.8 + 4.8 * DOWN, base + 4.8 + 4.8 * ACROSS
            dots = [(right, below), (right - wide * ACROSS, below + wide * DOWN)]
        else:
            sheet.write(x, base, word, line.size, color, side="center")
            dots = [(x - wide / 2, base + 5.8), (x + wide / 2, base + 5.8)]
        if column.word in tree.unknown:
            sheet.line("unknown", dots)
    if not layout.columns:
        sheet.write(at[0], base, line.words[0], line.size, side="center")
    if letters.for_page and (scale := largest(layout)):
        sheet.notes.append(f"The largest halo is an attention of {scale}.")
    if missing := set(layout.family.order) - set(layout.nodes):
        note = f"{len(missing):,} of {len(tree.parent):,} nodes are not drawn, but folded into the triangles"
        hidden = sum(tree.weights[node] for node in missing) if tree.weights else 0.0
        sheet.notes.append(note + f"; they have {hidden:.2f} of the attention" * bool(tree.weights))
    sheet.keys += _keys(block, layout)
    return sheet


def _facts(block: Tree, layout: Layout, node: int) -> tuple[list[str], dict[str, str]]:
    tree, data, facts = block.tree, {}, [layout.family.phrase(node, block.tree.words)]
    if block.labels:
        label, true = block.labels[node], None if block.true is None else block.true[node]
        facts.append(f"{label} {block.confidence[node]:.3f}")
        data = {"label": label, "probability": repr(block.confidence[node])}
        if true is not None:
            facts.append(f"true class {true}" + " ✓" * (true == label))
            data["true"] = true
    if tree.weights is not None:
        facts.append(f"attention {tree.weights[node]:.4g}")
        data["weight"] = repr(tree.weights[node])
    if node in block.links:
        facts.append(block.links[node][1])
    if tree.word[node] in tree.unknown:
        facts.append("unknown to the network")
    return facts, data


def _keys(block: Tree, layout: Layout) -> Iterator[Key]:
    if scale := largest(layout):
        yield Key("halos", f"attention: the halo's area (largest {scale})")
    if any(block.true_mark(node) is not None for node in layout.nodes):
        yield Key("small nodes", "small disc: true class")
    if block.evidence is not None and any(block.evidence[node] for node in layout.nodes):
        yield Key("rings", "shows the true class")
    if any(column.word in layout.tree.unknown for column in layout.columns):
        yield UNKNOWN


def page_keys(blocks: Sequence[Tree], facts: str) -> tuple[Key, ...]:
    """The sentences that explain trees on a page; `facts` are shown for a node besides its phrase."""
    weighed = any(block.tree.weights is not None for block in blocks)
    named = ["its phrase", *filter(None, [facts]), *["its attention"] * weighed]
    joined = " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))
    unknown = any(block.tree.unknown for block in blocks)
    return (Key(long=f"Point at a node for {joined}."), *[HALO] * weighed, *[UNKNOWN._replace(short="")] * unknown)


# The renderers


@page.html.register
def _(block: Tree) -> str:
    if not block.tree.words:
        return page.html(Note("(no words)"))
    sentence = page.macro("sentence", block.tree.words, block.tree.unknown)
    return sentence + page.html(Drawn(tree_drawing(block, Letters(for_page=True))))


@figure.fitted.register
def _(block: Tree, letters: Letters, room: float) -> Drawing:
    return figure.centred(tree_drawing(block, letters), room)


def _disc(radius: float, x: float = 0, y: float = 0, fill: str | None = None) -> list[Shape]:
    return [Shape([(x, y)], (radius,), fill)]


figure.SAMPLES |= {
    "halos": {"halos": _disc(9.6), "gaps": _disc(5.3 * CLEAR), "nodes": _disc(5.3)},
    "small nodes": {"nodes": _disc(7.7, -2, 1), "small nodes": _disc(5.3, 4, -5, "soft")},
    "rings": {"rings": _disc(6.2 + RING), "nodes": _disc(6.2)},
}


# The terminal

MOST_NODES, SHORT = 60, 9
"""The outline of a tree with more than MOST_NODES nodes has only SHORT phrases, the widest ones."""
DEEPEST = 16  # Indentation steps
STEP_SHARE = 8  # Columns of the terminal per indentation step, so that indentation takes at most a quarter of the width


@terminal.lines.register
def _(block: Tree, screen: terminal.Screen) -> Iterator[RenderableType]:
    """The sentence and its outline. Without colour the words have their signs, as in bad/-, except for neutral ones."""
    tree, common, many = block.tree, neutral(list(block.marks)), screen.many_colours
    named = zip(block.labels, tree.word, strict=False)  # no labels in a pair
    marks = {word: block.marks.get(label) for label, word in named if label != common}
    sentence = Text("  " * (not block.labels))
    for place, word in enumerate(tree.words):
        mark = marks.get(place)
        sentence.append(" " if place else "")
        sentence.append(shown(word), _style(mark) if mark and many else None)
        if mark and not many:
            sentence.append(f"/{mark.sign}", "dim")
        if place in tree.unknown:
            sentence.append(terminal.UNKNOWN, "dim")
    yield sentence if tree.words else sentence.append("(no words)", "dim")
    if block.labels:
        yield from _outline(block, screen)


def _style(mark: Mark) -> Style:
    ink = "rgb(255,255,255)" if mark.ink == PALE else mark.ink  # what terminals call white is often grey
    return Style(color=ink, bgcolor=mark.colour)


def _outline(block: Tree, screen: terminal.Screen) -> Iterator[RenderableType]:
    """The phrases of more than one word, and the words with a wrong class, each below its parent phrase."""
    tree, family, weights = block.tree, Family.of(block.tree), block.tree.weights
    true = block.labels if block.true is None else block.true
    phrases = [n for n in family.order if family.words[n] > 1 or true[n] not in (None, block.labels[n])]
    if not phrases:
        return
    most = SHORT if len(tree.parent) > MOST_NODES else None  # the widest; a phrase is never wider than its parent
    chosen = set(sorted(phrases, key=lambda node: -family.words[node])[:most])
    printed = [node for node in phrases if node in chosen]
    heads = ["", "", *["true"] * (block.true is not None), *["attention"] * (weights is not None)]
    columns = [Column(no_wrap=True, min_width=max(3, len(head))) for head in heads]
    table = Table.grid(*columns, "", padding=(0, 1))  # the last column alone may be narrower than its texts
    if any(heads):
        table.add_row(*(Text(head, "dim") for head in heads), "")
    depth, deepest = {-1: -1}, min(DEEPEST, screen.width // STEP_SHARE)
    for node in printed:
        depth[node] = depth.get(tree.parent[node], -1) + 1
        marks = [block.marks.get(label or "") for label in (block.labels[node], true[node])]
        styles = [_style(mark) if mark and screen.many_colours else "" for mark in marks]
        sign, true_sign = (Text(f"{m.sign if m else '':^3}", style) for m, style in zip(marks, styles, strict=True))
        judged = [] if block.true is None else [true_sign]
        weight = [] if weights is None else [f"{weights[node]:.2f}"]
        phrase = "  " * min(depth[node], deepest) + shown(family.phrase(node, tree.words))
        cut = Text(phrase, no_wrap=True, overflow="ellipsis")
        table.add_row(sign, f"{block.confidence[node]:.2f}", *judged, *weight, cut)
    yield Text()
    yield table

    def together(nodes: Iterable[int]) -> str:
        return f"{sum(weights[node] for node in nodes):.2f} of the attention" if weights else ""

    if more := set(phrases) - set(printed):
        yield Text(f"… and {len(more):,} more phrases{', with ' * bool(weights)}{together(more)}", "dim")
    if weights and (words := set(family.order) - set(phrases)):
        which = "other words" if any(family.words[node] == 1 for node in phrases) else "words"
        yield Text(f"{which}: {together(words)} together", "dim")
