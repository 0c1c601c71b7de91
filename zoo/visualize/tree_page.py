"""Trees on a page: drawn as in the picture; who points at a node reads its phrase, its class and its attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from zoo.visualize import page
from zoo.visualize.page import text
from zoo.visualize.printable import shortened
from zoo.visualize.tree_layout import CLEAR, Layout, halo, laid_out, largest, strengths
from zoo.visualize.tree_marks import Mark, marks

if TYPE_CHECKING:
    from zoo.tasks.relatedness import ExaminedPair, RelatednessPrediction
    from zoo.tasks.tree_classification import ExaminedTree, TreePrediction
    from zoo.tasks.trees import ReadTree

STYLE = page.resource("tree_page.css")
MOST_COLUMNS, MOST_LEVELS = 300, 60
"""Of a tree; what is more is folded."""
# pixels
RADIUS, LEVEL, EDGE, GAP = 12, 42, 24, 10
"""Of a disc, between levels, around the tree, and between words."""
THIN, LETTER, CAPITAL, BROAD = 5.8, 8.9, 11.2, 14.0
"""Of letters of 14 pixels in DejaVu Sans, which is among the widest fonts of screens."""
TRUE_SIGNS = (8.5, 6.8, 5.2)
"""Letters of a sign of one, two or three, in a small disc."""
TIP_LINE, TIP_AROUND = 18.2, 29
"""What is told of a node: the height of a line, and all that is neither line nor room, from the middle of the node."""
# letters
LONGEST_WORD, LONGEST_FACT, TIP_LETTERS = 40, 120, 30
"""Of a word, and of a fact about a node, which has so many on a line at least."""
LONGEST_SPOKEN = 300
"""Of a sentence that is read out."""
WIDEST = 900
"""Pixels of a tree that is not scrolled from side to side on a page of full width."""


def about_trees(predictions: Sequence[TreePrediction | None], noun: str) -> str:
    """What the page shows and how it is read."""
    real = [prediction for prediction in predictions if prediction is not None]
    return _about(page.how_many(predictions, noun), [prediction.tree for prediction in real], "its class")


def about_pairs(predictions: Sequence[RelatednessPrediction | None], noun: str) -> str:
    """What the page shows and how it is read."""
    trees = [tree for prediction in predictions if prediction for tree in (prediction.first, prediction.second)]
    return _about(page.how_many(predictions, noun), trees, "")


def _about(count: str, trees: Sequence[ReadTree], said: str) -> str:
    weighed = any(tree.weights is not None for tree in trees)
    told = [*filter(None, ["its phrase", said]), *(["its attention"] if weighed else [])]
    parts = [count, f"Point at a node for {' and '.join([', '.join(told[:-1]), told[-1]] if told[1:] else told)}."]
    if weighed:
        parts.append("The area of the halo around a node is its attention.")
    if any(tree.unknown for tree in trees):
        parts.append("A dotted line is under words that the network does not know.")
    return " ".join(parts)


def article(prediction: TreePrediction, examined: ExaminedTree | None = None, note: str = "") -> str:
    """What the network says of a sentence, and the tree with the class of each node."""
    known = marks(list(prediction.probabilities))
    probability = prediction.probabilities.get(prediction.label, 0.0)
    judged = ""
    if examined is not None and examined.truth is not None:
        kind, mark = ("right", "✓") if examined.truth == prediction.label else ("wrong", "✗")
        judged = f' · <span class="{kind}">true class {text(examined.truth)} {mark}</span>'
    said = f'<h2>{text(prediction.label)}</h2><p class="verdict">probability {probability:.3f}{judged}</p>{_note(note)}'
    table = _classes(prediction.probabilities, known, prediction.label)
    true = (None,) * len(prediction.labels) if examined is None else examined.labels
    nodes = [
        Said(label, probability, known.get(label), there, known.get(there) if there not in (None, label) else None)
        for label, probability, there in zip(prediction.labels, prediction.confidence, true, strict=True)
    ]
    drawing = _drawing(prediction.tree, nodes, prediction.label)
    return page.article(f"<header><div>{said}</div>\n{table}</header>\n{drawing}", label=prediction.label)


def pair_article(prediction: RelatednessPrediction, examined: ExaminedPair | None = None, note: str = "") -> str:
    """The score of two sentences, and both trees."""
    true = f" · true score {examined.score:g}" if examined is not None and examined.score is not None else ""
    names = list(prediction.probabilities)
    scale = f"of {text(names[0])} to {text(names[-1])}" if names else ""
    said = f'<h2>{prediction.score:.2f}</h2><p class="verdict">{scale}{true}</p>{_note(note)}'
    trees = "\n".join(_drawing(tree) for tree in (prediction.first, prediction.second))
    table = _classes(prediction.probabilities, {}, "")
    return page.article(f"<header><div>{said}</div>\n{table}</header>\n{trees}", score=repr(prediction.score))


def _note(note: str) -> str:
    return f'<p class="verdict">{text(note)}</p>' if note else ""


def _classes(probabilities: Mapping[str, float], known: Mapping[str, Mark], label: str) -> str:
    """A table of the classes with their probabilities as bars; the signs are the key to those in the tree."""
    rows = "\n".join(
        f'<tr{" class=predicted" if name == label else ""} data-probability="{probability!r}">'
        f'<th scope="row">{_swatch(known.get(name))}{text(name)}</th><td>{probability:.3f}</td>'
        f'<td><span class="bar" style="--v:{probability:.4f}"></span></td></tr>'
        for name, probability in probabilities.items()
    )
    return f'<table class="classes"><tbody>\n{rows}\n</tbody></table>'


def _swatch(mark: Mark | None) -> str:
    return "" if mark is None else f'<i style="background:{mark.colour};color:{mark.ink}">{text(mark.drawn)}</i>'


class Said(NamedTuple):
    """Of a node that has a class."""

    label: str
    probability: float
    mark: Mark | None
    true: str | None
    """The true class,"""
    true_mark: Mark | None
    """and its mark where it is another one than the label."""

    @property
    def told(self) -> list[str]:
        judged = [] if self.true is None else [f"true class {self.true}" + " ✓" * (self.true == self.label)]
        return [f"{self.label} {self.probability:.3f}", *judged]


def _drawing(tree: ReadTree, nodes: Sequence[Said] | None = None, label: str = "") -> str:
    """The sentence, below it the tree, and over its discs what is read by pointing at them."""
    layout = laid_out(tree, MOST_COLUMNS, MOST_LEVELS)
    if not layout.nodes:
        return '<p class="verdict">(no words)</p>'
    words = [shortened(column.text, LONGEST_WORD) for column in layout.columns]
    at, right = [], float(EDGE)
    for word in words:
        wide = max(written(word), 2 * RADIUS) + GAP
        at.append(right + wide / 2)
        right += wide
    width, across = right + EDGE, layout.across(at)
    down = {node: EDGE + RADIUS + layout.level[node] * LEVEL for node in layout.nodes}
    baseline = EDGE + 2 * RADIUS + (layout.levels - 1) * LEVEL + 20 + (12 if layout.folded else 0)
    height = baseline + 12
    sizes = {node: RADIUS * (0.6 if nodes is None or nodes[node].mark is None else 1.0) for node in layout.nodes}
    shapes = [*_halos(layout, across, down, sizes), _edges(layout, across), *_drops(layout, across, down, baseline)]
    for node in layout.nodes:
        said = None if nodes is None else nodes[node]
        shapes.append(_disc(across[node], down[node], said, node in layout.folded))
    for column, word, x in zip(layout.columns, words, at, strict=True):
        kinds = ["alone"] * (column.node < 0) + ["unknown"] * (column.word in tree.unknown)
        kind = f' class="{" ".join(kinds)}"' if kinds else ""
        shapes.append(f'<text{kind} x="{x:.1f}" y="{baseline}">{text(word)}</text>')
    over, least, scrolled = [], 0.0, width > WIDEST
    for node in layout.nodes:
        facts = _facts(layout, node, nodes)
        room = TIP_AROUND + TIP_LINE * sum(ceil(cell_len(fact) / TIP_LETTERS) for fact in facts)
        low = down[node] > room  # there is room above it
        least = least if low else max(least, down[node] + room)
        place = f"left:{across[node]:.1f}px;top:{down[node]:.1f}px"
        kind = "node" + " late" * (across[node] > width / 2) + " low" * low
        told = f'aria-label="{"&#10;".join(map(text, facts))}"'  # it is shown, and read out
        data = _data(tree, node, nodes)
        over.append(f'<span class="{kind}" role="img" tabindex="0" style="{place}" {told}{data}></span>')
    spoken = ": ".join(filter(None, [label, shortened(" ".join(tree.words), LONGEST_SPOKEN)]))
    size = f'width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}"'
    drawing = "\n".join(
        [
            _sentence(tree),
            f'<div class="grown{" wide" * scrolled}" style="min-height:{0 if scrolled else least:.0f}px">',
            f'<div style="width:{width:.0f}px;height:{height}px">',
            f'<svg role="img" aria-label="{text(spoken)}" {size}>',
            *shapes,
            "</svg>",
            *over,
            "</div></div>",
        ]
    )
    scale = largest(layout)
    return drawing + _note(f"The largest halo is an attention of {scale}." * bool(scale)) + _note(_fold_note(layout))


def written(word: str) -> float:
    """How wide a word is, in pixels and rather too many."""
    return sum(map(_letter, word))


def _letter(letter: str) -> float:
    if letter in "ijltfrI.,:;'`|!()[]-/ ":
        return THIN
    if letter in "mwMW%@…—":
        return BROAD
    return CAPITAL if letter.isupper() else cell_len(letter) * LETTER


def _sentence(tree: ReadTree) -> str:
    """All words, to be read and copied."""
    words = [text(word) for word in tree.words]
    for at in tree.unknown:
        words[at] = f'<span class="u">{words[at]}</span>'
    return f'<p class="sentence" dir="auto">{" ".join(words)}</p>'


def _edges(layout: Layout, across: Mapping[int, float]) -> str:
    lines = (
        "M" + "L".join(f"{x:.1f},{EDGE + RADIUS + level * LEVEL:.1f}" for x, level in edge)
        for edge in layout.edges(across)
    )
    return f'<path d="{"".join(lines)}"/>'


def _drops(layout: Layout, across: Mapping[int, float], down: Mapping[int, float], baseline: float) -> list[str]:
    """In a dependency tree, from each node to its word."""
    if not layout.inside:
        return []
    nodes = [column.node for column in layout.columns if column.node >= 0]
    lines = (f"M{across[node]:.1f},{down[node] + RADIUS + 2}V{baseline - 14}" for node in nodes)
    return [f'<path class="drop" d="{"".join(lines)}"/>']


def _halos(
    layout: Layout, across: Mapping[int, float], down: Mapping[int, float], sizes: Mapping[int, float]
) -> list[str]:
    """Below all else, as large around each disc as its weight is, with a gap, since classes may be as yellow."""
    if (attention := strengths(layout.tree)) is None:
        return []
    seen = [node for node in layout.nodes if attention[node] > 0]
    radii = [("halo", node, halo(sizes[node], RADIUS, attention[node])) for node in seen]
    return [
        f'<circle class="{kind}" cx="{across[node]:.1f}" cy="{down[node]:.1f}" r="{radius:.2f}"/>'
        for kind, node, radius in [*radii, *(("gap", node, CLEAR * sizes[node]) for node in seen)]
    ]


def _disc(x: float, y: float, said: Said | None, folded: bool) -> str:
    parts = []
    if folded:
        foot = y + RADIUS + 12
        parts.append(f'<path class="fold" d="M{x:.1f},{y}L{x - RADIUS:.1f},{foot}H{x + RADIUS:.1f}Z"/>')
    if said is None or said.mark is None:
        return "".join([*parts, f'<circle class="plain" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS * 0.6:.1f}"/>'])
    parts.append(f'<circle class="disc" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="{said.mark.colour}"/>')
    parts.append(_sign(x, y, said.mark, 12 if len(said.mark.sign) < 3 else 9))
    if said.true_mark is not None:
        x, y = x + RADIUS * 0.85, y - RADIUS * 0.85
        parts.append(f'<circle class="true" cx="{x:.1f}" cy="{y:.1f}" r="7.5" fill="{said.true_mark.colour}"/>')
        parts.append(_sign(x, y, said.true_mark, TRUE_SIGNS[min(len(said.true_mark.sign), 3) - 1]))
    return "".join(parts)


def _sign(x: float, y: float, mark: Mark, size: float) -> str:
    style = f"fill:{mark.ink};font-size:{size:g}px"
    return f'<text class="sign" x="{x:.1f}" y="{y + size * 0.36:.1f}" style="{style}">{text(mark.drawn)}</text>'


def _facts(layout: Layout, node: int, nodes: Sequence[Said] | None) -> list[str]:
    """What is read by pointing at a node."""
    tree = layout.tree
    facts = [layout.family.phrase(node, tree.words), *([] if nodes is None else nodes[node].told)]
    if tree.weights is not None:
        facts.append(f"attention {tree.weights[node]:.4g}")
    if tree.word[node] in tree.unknown:
        facts.append("unknown to the network")
    return [shortened(fact, LONGEST_FACT) for fact in facts]


def _data(tree: ReadTree, node: int, nodes: Sequence[Said] | None) -> str:
    """The same for programs, as attributes."""
    data = ""
    if nodes is not None:
        said = nodes[node]
        data += f' data-label="{text(said.label)}" data-probability="{said.probability!r}"'
        data += f' data-true="{text(said.true)}"' if said.true is not None else ""
    return data + (f' data-weight="{tree.weights[node]!r}"' if tree.weights is not None else "")


def _fold_note(layout: Layout) -> str:
    """What is not drawn, in words."""
    if not (missing := layout.missing()):
        return ""
    return f"… {len(missing):,} of {len(layout.tree.parent):,} nodes are not drawn, but folded into the triangles"
