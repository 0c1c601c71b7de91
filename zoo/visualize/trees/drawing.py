"""The drawing of a tree for pages and pictures (Socher et al. 2013, figures 1 and 9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import cos, inf, radians, sin
from typing import NamedTuple

from zoo.visualize.blocks import Drawn, Key
from zoo.visualize.drawing import Drawing, Spot
from zoo.visualize.printable import shortened, shown
from zoo.visualize.renderers import figure, page
from zoo.visualize.texts.letters import Letters
from zoo.visualize.trees.block import Tree
from zoo.visualize.trees.layout import CLEAR, Layout, halo, laid_out, largest, strengths
from zoo.visualize.trees.marks import Mark

# pixels
WIDEST = 1084
"""A tree of a picture; its words are slanted or folded to fit. A page can be scrolled."""
RADIUS, LEVEL, TALLEST, EDGE = 14, 42, 768, 24
"""A disc, the distance between two levels, all levels of a picture, and the edge of a page."""
GAP, LONGEST_WORD = 12.5, 163
SLANT, SLANTED_GAP, LONGEST_SLANTED = 52, 20.6, 125
"""Degrees of words that do not fit side by side, the distance of their columns, and the longest of them."""
RING = 3
"""The distance from a halo, or a disc, to the ring of evidence."""
OVERHANG = LONGEST_SLANTED * cos(radians(SLANT))
MOST_COLUMNS, MOST_LEVELS = int((WIDEST - OVERHANG) / SLANTED_GAP), 40
MOST_ON_PAGE = (300, 60)
"""Columns and levels of a tree on a page; the rest is folded."""
LONGEST_SPOKEN = 300

HALO = Key("halos", "", "The area of the halo around a node is its attention.")


class Fitted(NamedTuple):
    """A tree with the positions of its words."""

    layout: Layout
    at: list[float]
    """The x of each column."""
    words: list[str]
    """The word of each column, shortened."""
    size: float
    turned: bool
    longest: float
    """The height of slanted words."""
    width: float
    radius: float
    level: float

    @property
    def baseline(self) -> float:
        """The y of the words."""
        fold = 11.5 if self.layout.folded else 0.0
        halos = 7.7 if self.layout.tree.weights is not None else 0.0
        return self.radius * 2 + (self.layout.levels - 1) * self.level + fold + halos + (15 if self.turned else 23)

    @property
    def height(self) -> float:
        return self.baseline + 12 + self.longest


def fitted(block: Tree, letters: Letters) -> Fitted:
    """Place the words side by side; in a picture they become smaller, slanted or folded where there is no room."""
    limits = MOST_ON_PAGE if letters.for_page else (MOST_COLUMNS, MOST_LEVELS)
    layout = laid_out(block.tree, *limits)
    level = LEVEL if letters.for_page else min(LEVEL, TALLEST / max(1, layout.levels))
    texts = [column.text for column in layout.columns] or ["(no words)"]
    for size in (14.0, 11.3):
        words = [letters.cut(text, LONGEST_WORD * (2 if letters.for_page else 1), size) for text in texts]
        wide = [max(letters.width(word, size), RADIUS * 2.1) + GAP for word in words]  # discs stay apart
        if sum(wide) <= (inf if letters.for_page else WIDEST):
            ends = [sum(wide[: number + 1]) for number in range(len(wide))]
            at = [end - width / 2 for end, width in zip(ends, wide, strict=True)]
            return Fitted(layout, at, words, size, False, 0.0, ends[-1], min(RADIUS, level * 0.42), level)
    between = min(32.6, (WIDEST - OVERHANG) / len(texts))
    words = [letters.cut(text, LONGEST_SLANTED, 12) for text in texts]
    widths = [letters.width(word, 12) for word in words]
    first = max(
        0.0, *(cos(radians(SLANT)) * width - k * between for k, width in enumerate(widths))
    )  # reach to the left
    at = [first + between * (number + 0.5) for number in range(len(words))]
    radius, down = min(RADIUS, level * 0.42, between * 0.44), sin(radians(SLANT)) * max(widths)
    return Fitted(layout, at, words, 12, True, down, first + between * len(words), radius, level)


def tree_drawing(block: Tree, letters: Letters) -> tuple[Drawing, Layout]:
    """Return the drawing of a tree, and the layout with the nodes that it shows."""
    one = fitted(block, letters)
    layout, radius, tree = one.layout, one.radius, block.tree
    edge = EDGE if letters.for_page else 0
    spoken = ": ".join(filter(None, [_root_label(block), shortened(" ".join(tree.words), LONGEST_SPOKEN)]))
    sheet = Drawing(one.width + 2 * edge, one.height + edge, spoken)
    across = layout.across([edge + x for x in one.at])

    def down(level: float) -> float:
        return edge + radius + level * one.level

    for line in layout.edges(across):
        sheet.line("edges", [(x, down(level)) for x, level in line])
    attention, family = strengths(tree), layout.family
    for node in layout.nodes:
        x, y = across[node], down(layout.level[node])
        mark = block.marks.get(block.labels[node]) if block.labels else block.links.get(node, (None,))[0]
        size = outer = radius if mark else radius * 0.6
        if attention is not None and attention[node] > 0:
            outer = halo(size, radius, attention[node])
            sheet.disc("halos", x, y, outer)
            sheet.disc("gaps", x, y, size * CLEAR)  # classes may be as yellow as the halo
        if node in layout.folded:
            foot = y + radius + 12.5
            sheet.area("folds", [(x, y), (x - radius, foot), (x + radius, foot)])
        if block.evidence is not None and block.evidence[node]:
            sheet.disc("rings", x, y, outer + RING, "none")
        if mark is None:
            sheet.disc("nodes", x, y, size)
        else:
            mark.draw(sheet, "nodes", x, y, size)
        if (true := _true_mark(block, node)) is not None:
            true.draw(sheet, "small nodes", x + radius * 0.85, y - radius * 0.85, radius * 0.58)
        sheet.spots.append(_spot(block, layout, family.phrase(node, tree.words), node, x, y))
    for number, x in enumerate(one.at):
        if not layout.columns:
            sheet.write(edge + x, edge + one.baseline, one.words[number], one.size, side="center")
            continue
        node = layout.columns[number].node
        if node >= 0 and layout.inside:
            end = edge + one.baseline - (3 if one.turned else 14)
            sheet.line("drops", [(edge + x, down(layout.level[node]) + radius), (edge + x, end)])
        _write_word(sheet, one, number, edge + x, edge + one.baseline, letters)
    return sheet, layout


def _root_label(block: Tree) -> str:
    return block.labels[block.tree.parent.index(-1)] if block.labels and -1 in block.tree.parent else ""


def _true_mark(block: Tree, node: int) -> Mark | None:
    """The mark of the true class, where another class was predicted."""
    true = None if block.true is None else block.true[node]
    return None if true is None or true == block.labels[node] else block.marks.get(true)


def _write_word(sheet: Drawing, one: Fitted, number: int, x: float, y: float, letters: Letters) -> None:
    """Write the word of a column around `x`, or, slanted, up to `x`; a dotted line is under an unknown word."""
    word, column = one.words[number], one.layout.columns[number]
    color, wide = "faint" if column.node < 0 else "ink", letters.width(word, one.size)
    if one.turned:
        sheet.write(x + 3.8, y + 4.8, word, one.size, color, side="right", turned=SLANT)
        right, down = cos(radians(SLANT)), sin(radians(SLANT))
        end = (x + 3.8 + 4.8 * down, y + 4.8 + 4.8 * right)
        line = [end, (end[0] - wide * right, end[1] + wide * down)]
    else:
        sheet.write(x, y, word, one.size, color, side="center")
        line = [(x - wide / 2, y + 5.8), (x + wide / 2, y + 5.8)]
    if column.word in one.layout.tree.unknown:
        sheet.line("unknown", line)


def _spot(block: Tree, layout: Layout, phrase: str, node: int, x: float, y: float) -> Spot:
    """The facts about a node, for readers of a page and for programs."""
    tree, data, facts = block.tree, {}, [phrase]
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
    return Spot(x, y, facts, data)


# The renderers


@page.html.register
def _(block: Tree) -> str:
    drawing, layout = tree_drawing(block, Letters(for_page=True))
    if not layout.nodes:
        return '<p class="verdict">(no words)</p>'
    words = [escape(shown(word)) for word in block.tree.words]
    for at in block.tree.unknown:
        words[at] = f'<span class="u">{words[at]}</span>'
    scale = largest(layout)
    notes = [f"The largest halo is an attention of {scale}."] * bool(scale) + fold_notes(layout)
    return "\n".join(
        [
            f'<p class="sentence" dir="auto">{" ".join(words)}</p>',  # to be read and copied
            page.html(Drawn(drawing)),
            *(f'<p class="verdict">{note}</p>' for note in notes),
        ]
    )


@figure.fitted.register
def _(block: Tree, letters: Letters) -> figure.Part:
    drawing, layout = tree_drawing(block, letters)
    part = figure.fitted(Drawn(drawing), letters)
    assert part is not None
    return part._replace(notes=fold_notes(layout), keys=tuple(_keys(block, layout)))


def fold_notes(layout: Layout) -> list[str]:
    """Say which nodes are not drawn."""
    if not (missing := layout.missing()):
        return []
    whole, weights = len(layout.tree.parent), layout.tree.weights
    said = f"{len(missing):,} of {whole:,} nodes are not drawn, but folded into the triangles"
    return [said + (f"; they have {sum(weights[node] for node in missing):.2f} of the attention" if weights else "")]


def _keys(block: Tree, layout: Layout) -> Iterator[Key]:
    """The keys to the signs that are visible in a picture."""
    if scale := largest(layout):
        yield Key("halos", f"attention: the halo's area (largest {scale})")
    if any(_true_mark(block, node) is not None for node in layout.nodes):
        yield Key("small nodes", "small disc: true class")
    if block.evidence is not None and any(block.evidence[node] for node in layout.nodes):
        yield Key("rings", "tells the true class")
    if any(column.word in layout.tree.unknown for column in layout.columns):
        yield Key("unknown", "unknown to the network")


def _halo_sample(sheet: Drawing, x: float, y: float) -> None:
    sheet.disc("halos", x, y, 9.6)
    sheet.disc("gaps", x, y, 5.3 * CLEAR)
    sheet.disc("nodes", x, y, 5.3)


def _true_sample(sheet: Drawing, x: float, y: float) -> None:
    sheet.disc("nodes", x - 2, y + 1, 7.7)
    sheet.disc("small nodes", x + 4, y - 5, 5.3, "soft")


def _ring_sample(sheet: Drawing, x: float, y: float) -> None:
    sheet.disc("rings", x, y, 6.2 + RING, "none")
    sheet.disc("nodes", x, y, 6.2)


figure.SAMPLES |= {"halos": _halo_sample, "small nodes": _true_sample, "rings": _ring_sample}


def page_keys(blocks: Sequence[Tree], facts: str) -> tuple[Key, ...]:
    """The sentences that explain trees on a page; `facts` are shown for a node besides its phrase."""
    weighed = any(block.tree.weights is not None for block in blocks)
    named = ["its phrase", *filter(None, [facts]), *["its attention"] * weighed]
    joined = f"{', '.join(named[:-1])} and {named[-1]}" if named[1:] else named[0]
    unknown = any(block.tree.unknown for block in blocks)
    return (
        Key("", "", f"Point at a node for {joined}."),
        *[HALO] * weighed,
        *[Key("", "", "A dotted line is under words that the network does not know.")] * unknown,
    )
