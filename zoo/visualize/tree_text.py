"""Trees on the terminal: the sentence with its words coloured by their classes, and its phrases as an outline."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.style import Style
from rich.table import Table
from rich.text import Text

from zoo.visualize.printable import shown
from zoo.visualize.tree_layout import Family
from zoo.visualize.tree_marks import PALE, Mark, marks, neutral

if TYPE_CHECKING:
    from zoo.tasks.relatedness import RelatednessPrediction
    from zoo.tasks.tree_classification import ExaminedTree, TreePrediction
    from zoo.tasks.trees import ReadTree

MOST_NODES, SHORT = 60, 9
"""The outline of a larger tree has only so many phrases, the widest."""
OTHERS = 3
"""Classes named behind the one that is said."""
DEEPEST, LONGEST_PHRASE = 16, 12
"""Steps to the right, and words of a phrase."""
STEP_SHARE = 8
"""A step to so many columns of the terminal: before a phrase stands a quarter of the width at most."""
MANY_COLOURS = ("256", "truecolor")
"""In fewer, two classes would have the same."""
UNKNOWN = "(?)"
"""Behind a word that the network does not know."""


class _Printed(ABC):
    """What `print` and a console of `rich` show alike."""

    @abstractmethod
    def parts(self, width: int, *, colour: bool) -> Iterator[RenderableType]:
        """One below the other, in a `width` of letters."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        colour = console.color_system in MANY_COLOURS and not console.no_color
        yield from self.parts(options.max_width, colour=colour)

    def __str__(self) -> str:
        """Without colour, in lines of at most 100 characters."""
        console = Console(width=100, color_system=None, force_terminal=False, legacy_windows=False)
        with console.capture() as capture:
            console.print(self)
        return "".join(line.rstrip() + "\n" for line in capture.get().splitlines())


class TreeText(_Printed):
    """A prediction: what is said of the sentence, the sentence with the class of each word, and each phrase with its
    class, the probability of that, and, where there is some, its attention.

    Words, which have no rows, have their attention in one line. Where there is no colour the sign of a word's class
    stands behind it, as in bad/-, but for neutral ones. Of an example the true classes stand beside the predicted ones,
    and the words of which the class is wrong among the phrases.
    """

    def __init__(self, prediction: TreePrediction, examined: ExaminedTree | None = None) -> None:
        self.prediction, self.examined = prediction, examined

    def parts(self, width: int, *, colour: bool) -> Iterator[RenderableType]:
        prediction, tree = self.prediction, self.prediction.tree
        classes = list(prediction.probabilities)
        known, common = marks(classes), neutral(classes)
        yield _verdict(prediction.label, prediction.probabilities, self.examined.truth if self.examined else None)
        by_word = {word: prediction.labels[node] for node, word in enumerate(tree.word) if word >= 0}
        labels = {word: known[label] for word, label in by_word.items() if label in known and label != common}
        yield _sentence(tree, labels, colour)
        yield from _outline(prediction, self.examined, known, width, colour)


class PairText(_Printed):
    """The score of two sentences, the probabilities of the grades, and the sentences."""

    def __init__(self, prediction: RelatednessPrediction) -> None:
        self.prediction = prediction

    def parts(self, width: int, *, colour: bool) -> Iterator[RenderableType]:
        prediction = self.prediction
        grades = ", ".join(f"{shown(grade)}: {share:.2f}" for grade, share in prediction.probabilities.items())
        yield Text.assemble((f"{prediction.score:.2f}", "bold"), (f"  {grades}", "dim"))
        for tree in (prediction.first, prediction.second):
            yield Text("  ").append(_sentence(tree, {}, colour))


def _verdict(label: str, probabilities: Mapping[str, float], truth: str | None) -> Text:
    others = sorted(((p, name) for name, p in probabilities.items() if name != label), reverse=True)
    told = ", ".join(f"{shown(name)} {p:.2f}" for p, name in others[:OTHERS] if p >= 0.005)
    said = Text.assemble((shown(label), "bold"), f"  {probabilities.get(label, 0.0):.2f}")
    if told:
        said.append(f"  {told}", "dim")
    if truth is not None:
        said.append(f"  {'✓' if truth == label else '✗'} true class {shown(truth)}")
    return said


def _sentence(tree: ReadTree, labels: Mapping[int, Mark], colour: bool) -> Text:
    """All words, those with a label in its colour or with its sign."""
    if not tree.words:
        return Text("(no words)", "dim")
    text = Text()
    for place, word in enumerate(tree.words):
        text.append(" " if place else "")
        mark = labels.get(place)
        text.append(shown(word), _style(mark) if mark and colour else None)
        if mark and not colour:
            text.append(f"/{mark.sign}", "dim")
        if place in tree.unknown:
            text.append(UNKNOWN, "dim")
    return text


def _style(mark: Mark) -> Style:
    ink = "rgb(255,255,255)" if mark.ink == PALE else mark.ink  # what terminals call white is often grey
    return Style(color=ink, bgcolor=mark.colour)


def _outline(
    prediction: TreePrediction, examined: ExaminedTree | None, known: Mapping[str, Mark], width: int, colour: bool
) -> Iterator[RenderableType]:
    """The phrases of more than one word, and the words of which the class is another than the true one, each below the
    phrase that it is a part of."""
    tree, said = prediction.tree, prediction.labels
    family, true = Family.of(tree), said if examined is None else examined.labels
    phrases = [node for node in family.order if family.words[node] > 1 or true[node] not in (None, said[node])]
    if not phrases:
        return
    told = phrases if len(tree.parent) <= MOST_NODES else _widest(family, phrases)
    deepest = min(DEEPEST, width // STEP_SHARE)
    depth: dict[int, int] = {}
    table = Table.grid(padding=(0, 1))
    heads = ["", "", *["true"] * (examined is not None), *["attention"] * (tree.weights is not None)]
    for head in heads:
        table.add_column(no_wrap=True, min_width=max(3, len(head)))
    table.add_column()  # may be narrower than its phrases, and is so alone
    if any(heads):
        table.add_row(*(Text(head, "dim") for head in heads), "")
    for node in told:
        depth[node] = depth.get(tree.parent[node], -1) + 1
        sign, true_sign = (_sign(known.get(label or ""), colour) for label in (said[node], true[node]))
        judged = [] if examined is None else [true_sign]
        weight = [] if tree.weights is None else [f"{tree.weights[node]:.2f}"]
        phrase = "  " * min(depth[node], deepest) + shown(family.phrase(node, tree.words, LONGEST_PHRASE))
        cut = Text(phrase, no_wrap=True, overflow="ellipsis")
        table.add_row(sign, f"{prediction.confidence[node]:.2f}", *judged, *weight, cut)
    yield Text()
    yield table
    if more := set(phrases) - set(told):
        yield Text(f"… and {len(more):,} more phrases{_weight(tree, more, ', with ')}", "dim")
    words = set(family.order) - set(phrases)
    if words and tree.weights is not None:
        which = "other words" if any(family.words[node] == 1 for node in phrases) else "words"
        yield Text(f"{which}: {_weight(tree, words)} together", "dim")


def _weight(tree: ReadTree, nodes: Iterable[int], before: str = "") -> str:
    """How much of the attention they have; empty where the network has none."""
    return "" if tree.weights is None else f"{before}{sum(tree.weights[node] for node in nodes):.2f} of the attention"


def _sign(mark: Mark | None, colour: bool) -> Text:
    return Text(f"{mark.sign if mark else '':^3}", _style(mark) if mark and colour else "")


def _widest(family: Family, phrases: Sequence[int]) -> list[int]:
    """The SHORT ones of most words, in their order; no phrase is wider than what it is a part of."""
    chosen = set(sorted(phrases, key=lambda node: -family.words[node])[:SHORT])
    return [node for node in phrases if node in chosen]
