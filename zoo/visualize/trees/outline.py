"""Trees on the terminal: the sentence with its words coloured by their classes, and the phrases as an outline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from zoo.visualize.printable import shown
from zoo.visualize.renderers.terminal import UNKNOWN, Screen, lines
from zoo.visualize.trees.layout import Family, Tree
from zoo.visualize.trees.marks import PALE, Mark, neutral

MOST_NODES, SHORT = 60, 9
"""The outline of a tree with more than MOST_NODES nodes has only SHORT phrases, the widest ones."""
DEEPEST, LONGEST_PHRASE = 16, 12
"""Indentation steps, and words of a phrase."""
STEP_SHARE = 8
"""Columns of the terminal per indentation step, so that indentation takes at most a quarter of the width."""


@lines.register
def _(block: Tree, screen: Screen) -> Iterator[RenderableType]:
    """Print the sentence, then each phrase with its class, the probability and the attention.

    Without colour the sign of a word's class is printed after the word, as in bad/-, except for neutral words.
    """
    tree, common = block.tree, neutral(list(block.marks))
    by_word = {word: block.labels[node] for node, word in enumerate(tree.word) if word >= 0} if block.labels else {}
    marked = {word: block.marks[label] for word, label in by_word.items() if label in block.marks and label != common}
    yield Text("  " * (not block.labels)).append(_sentence(block, marked, screen.many_colours))
    if block.labels:
        yield from _outline(block, screen)


def _sentence(block: Tree, marked: Mapping[int, Mark], colour: bool) -> Text:
    """All words; those with a class have its colour or its sign."""
    if not block.tree.words:
        return Text("(no words)", "dim")
    text = Text()
    for place, word in enumerate(block.tree.words):
        text.append(" " if place else "")
        mark = marked.get(place)
        text.append(shown(word), _style(mark) if mark and colour else None)
        if mark and not colour:
            text.append(f"/{mark.sign}", "dim")
        if place in block.tree.unknown:
            text.append(UNKNOWN, "dim")
    return text


def _style(mark: Mark) -> Style:
    ink = "rgb(255,255,255)" if mark.ink == PALE else mark.ink  # what terminals call white is often grey
    return Style(color=ink, bgcolor=mark.colour)


def _outline(block: Tree, screen: Screen) -> Iterator[RenderableType]:
    """The phrases of more than one word, and the words with a wrong class, each below its parent phrase."""
    tree, family = block.tree, Family.of(block.tree)
    true = block.labels if block.true is None else block.true
    phrases = [n for n in family.order if family.words[n] > 1 or true[n] not in (None, block.labels[n])]
    if not phrases:
        return
    printed = phrases if len(tree.parent) <= MOST_NODES else _widest(family, phrases)
    deepest = min(DEEPEST, screen.width // STEP_SHARE)
    depth: dict[int, int] = {}
    table = Table.grid(padding=(0, 1))
    heads = ["", "", *["true"] * (block.true is not None), *["attention"] * (tree.weights is not None)]
    for head in heads:
        table.add_column(no_wrap=True, min_width=max(3, len(head)))
    table.add_column()  # the only column that may be narrower than its texts
    if any(heads):
        table.add_row(*(Text(head, "dim") for head in heads), "")
    for node in printed:
        depth[node] = depth.get(tree.parent[node], -1) + 1
        sign, true_sign = (_sign(block, label, screen.many_colours) for label in (block.labels[node], true[node]))
        judged = [] if block.true is None else [true_sign]
        weight = [] if tree.weights is None else [f"{tree.weights[node]:.2f}"]
        phrase = "  " * min(depth[node], deepest) + shown(family.phrase(node, tree.words, LONGEST_PHRASE))
        cut = Text(phrase, no_wrap=True, overflow="ellipsis")
        table.add_row(sign, f"{block.confidence[node]:.2f}", *judged, *weight, cut)
    yield Text()
    yield table
    if more := set(phrases) - set(printed):
        yield Text(f"… and {len(more):,} more phrases{_weight(block, more, ', with ')}", "dim")
    words = set(family.order) - set(phrases)
    if words and tree.weights is not None:
        which = "other words" if any(family.words[node] == 1 for node in phrases) else "words"
        yield Text(f"{which}: {_weight(block, words)} together", "dim")


def _weight(block: Tree, nodes: Iterable[int], before: str = "") -> str:
    """The attention to some nodes together; empty where the network has none."""
    weights = block.tree.weights
    return "" if weights is None else f"{before}{sum(weights[node] for node in nodes):.2f} of the attention"


def _sign(block: Tree, label: str | None, colour: bool) -> Text:
    mark = block.marks.get(label or "")
    return Text(f"{mark.sign if mark else '':^3}", _style(mark) if mark and colour else "")


def _widest(family: Family, phrases: Sequence[int]) -> list[int]:
    """The SHORT phrases with most words, in their order. A phrase is never wider than its parent."""
    chosen = set(sorted(phrases, key=lambda node: -family.words[node])[:SHORT])
    return [node for node in phrases if node in chosen]
