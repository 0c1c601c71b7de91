"""Trees on a page: drawn as in the picture; who points at a node reads its phrase, its class and its attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from zoo.visualize import page
from zoo.visualize.page import text
from zoo.visualize.printable import shortened
from zoo.visualize.tree_layout import Layout, laid_out, strengths
from zoo.visualize.tree_marks import Mark, marks

if TYPE_CHECKING:
    from zoo.tasks.relatedness import ExaminedPair, RelatednessPrediction
    from zoo.tasks.tree_classification import ExaminedTree, TreePrediction
    from zoo.tasks.trees import ReadTree

STYLE = page.resource("tree_page.css")
MOST_COLUMNS, MOST_LEVELS = 300, 60
"""Of a tree; what is more is folded."""
# pixels
RADIUS, LEVEL, EDGE, GAP, LETTER = 12, 42, 24, 10, 7.4
"""Of a disc, between levels, around the tree, between words, and of a letter of usual width."""
TIP = 119
"""What is told of a node has room above it from here down; further up it stands below."""
LONGEST_WORD = 40
"""Letters."""


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
    return page.article(
        f"<header><div>{said}</div>\n{table}</header>\n{_drawing(prediction.tree, nodes)}", label=prediction.label
    )


def pair_article(prediction: RelatednessPrediction, examined: ExaminedPair | None = None, note: str = "") -> str:
    """The score of two sentences, and both trees."""
    true = f" · true score {examined.score:g}" if examined is not None and examined.score is not None else ""
    names = list(prediction.probabilities)
    scale = f"of {text(names[0])} to {text(names[-1])}" if names else ""
    said = f'<h2>{prediction.score:.2f}</h2><p class="verdict">{scale}{true}</p>{_note(note)}'
    trees = "\n".join(_drawing(tree, None) for tree in (prediction.first, prediction.second))
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


def _drawing(tree: ReadTree, nodes: Sequence[Said] | None) -> str:
    """The tree, and over its discs what is read by pointing at them."""
    layout = laid_out(tree, MOST_COLUMNS, MOST_LEVELS)
    if not layout.nodes:
        return '<p class="verdict">(no words)</p>'
    words = [shortened(column.text, LONGEST_WORD) for column in layout.columns]
    at, right = [], float(EDGE)
    for word in words:
        wide = max(cell_len(word) * LETTER, 2 * RADIUS) + GAP
        at.append(right + wide / 2)
        right += wide
    width, across = right + EDGE, layout.across(at)
    down = {node: EDGE + RADIUS + layout.level[node] * LEVEL for node in layout.nodes}
    baseline = EDGE + 2 * RADIUS + (layout.levels - 1) * LEVEL + 20 + (12 if layout.folded else 0)
    height = baseline + 12
    shapes = [_edges(layout, across), *_drops(layout, across, down, baseline), *_halos(layout, across, down)]
    for node in layout.nodes:
        said = None if nodes is None else nodes[node]
        shapes.append(_disc(across[node], down[node], said, node in layout.folded))
    for column, word, x in zip(layout.columns, words, at, strict=True):
        kinds = ["alone"] * (column.node < 0) + ["unknown"] * (column.word in tree.unknown)
        kind = f' class="{" ".join(kinds)}"' if kinds else ""
        shapes.append(f'<text{kind} x="{x:.1f}" y="{baseline}">{text(word)}</text>')
    over = []
    for node in layout.nodes:
        place = f"left:{across[node]:.1f}px;top:{down[node]:.1f}px"
        kind = "node" + " late" * (across[node] > width / 2) + " low" * (down[node] > TIP)
        over.append(f'<span class="{kind}" tabindex="0" style="{place}" {_told(layout, node, nodes)}></span>')
    drawing = "\n".join(
        [
            f'<div class="grown"><div style="width:{width:.0f}px;height:{height}px">',
            f'<svg role="img" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}">',
            *shapes,
            "</svg>",
            *over,
            "</div></div>",
        ]
    )
    return drawing + _note(_fold_note(layout))


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


def _halos(layout: Layout, across: Mapping[int, float], down: Mapping[int, float]) -> list[str]:
    """Below all discs, as large around each as its weight is."""
    if (attention := strengths(layout.tree)) is None:
        return []
    radii = {node: RADIUS * sqrt(1 + 2.6 * attention[node]) for node in layout.nodes if attention[node] > 0}
    return [
        f'<circle class="halo" cx="{across[node]:.1f}" cy="{down[node]:.1f}" r="{radius:.2f}"/>'
        for node, radius in radii.items()
    ]


def _disc(x: float, y: float, said: Said | None, folded: bool) -> str:
    parts = []
    if folded:
        foot = y + RADIUS + 12
        parts.append(f'<path class="fold" d="M{x:.1f},{y}L{x - RADIUS:.1f},{foot}H{x + RADIUS:.1f}Z"/>')
    if said is None or said.mark is None:
        return "".join([*parts, f'<circle class="plain" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS * 0.6:.1f}"/>'])
    parts.append(f'<circle class="disc" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="{said.mark.colour}"/>')
    parts.append(_sign(x, y + 4.3, said.mark, 12))
    if said.true_mark is not None:
        x, y = x + RADIUS * 0.85, y - RADIUS * 0.85
        parts.append(f'<circle class="true" cx="{x:.1f}" cy="{y:.1f}" r="7.5" fill="{said.true_mark.colour}"/>')
        parts.append(_sign(x, y + 3, said.true_mark, 8.5))
    return "".join(parts)


def _sign(x: float, y: float, mark: Mark, size: float) -> str:
    style = f"fill:{mark.ink};font-size:{size * (0.75 if len(mark.sign) > 2 else 1):g}px"
    return f'<text class="sign" x="{x:.1f}" y="{y:.1f}" style="{style}">{text(mark.drawn)}</text>'


def _told(layout: Layout, node: int, nodes: Sequence[Said] | None) -> str:
    """What is read by pointing at a node, and the same for programs, as attributes."""
    tree = layout.tree
    facts, data = [layout.family.phrase(node, tree.words)], []
    if nodes is not None:
        said = nodes[node]
        facts += said.told
        data += [f'data-label="{text(said.label)}" data-probability="{said.probability!r}"']
        data += [f'data-true="{text(said.true)}"'] if said.true is not None else []
    if tree.weights is not None:
        facts.append(f"attention {tree.weights[node]:.4g}")
        data.append(f'data-weight="{tree.weights[node]!r}"')
    if tree.word[node] in tree.unknown:
        facts.append("unknown to the network")
    return " ".join([f'data-tip="{"&#10;".join(text(shortened(fact, 120)) for fact in facts)}"', *data])


def _fold_note(layout: Layout) -> str:
    """What is not drawn, in words."""
    if not (missing := layout.missing()):
        return ""
    return f"… {len(missing):,} of {len(layout.tree.parent):,} nodes are not drawn, but folded into the triangles"
