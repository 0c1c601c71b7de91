"""The view of relatedness: the score of two sentences, their trees, and the most similar nodes."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from rich.console import RenderableType

from zoo.data.trees.options import SPACY, builds
from zoo.tasks.relatedness import ExaminedPair, RelatednessPrediction
from zoo.visualize.blocks import Block, Classes, Head, Note, Ranked
from zoo.visualize.printable import shown
from zoo.visualize.tree_view import CHOICE, LIMIT, TreeView
from zoo.visualize.trees.block import Tree
from zoo.visualize.trees.drawing import page_keys
from zoo.visualize.trees.layout import Family
from zoo.visualize.trees.marks import Mark, marks

if TYPE_CHECKING:
    from zoo.tasks import Examined

MOST_LINKS, LEAST_SIMILAR = 6, 0.5
"""Pairs of nodes that are shown, and their least cosine."""
BETWEEN = re.compile(r"\t|(?<!\S)\|\|\|(?!\S)")
SIMILAR = (
    "Nodes with equal letters have the most similar states, by the cosine given here; the network compares the roots."
)
NOTHING = "The sentences share no words, and no two phrases of them have similar states."
SHARED = "Nodes with equal letters have a word that both sentences share; this network gives no states to compare."


class RelatednessView(TreeView):
    """Pairs of sentences with a score."""

    noun: ClassVar[str] = "pair"
    typed: ClassVar[str] = '"the monkey is crying . ||| an ape is weeping ."'
    columns: ClassVar[tuple[str, ...]] = ("first", "second", "score")
    title: ClassVar[str] = "How related the network finds two sentences"

    def parse(self, line: str) -> tuple[str, ...]:
        """Return the sentences of a line, separated by a tab or |||; the encoder checks that there are two."""
        return tuple(sentence.strip() for sentence in BETWEEN.split(line))

    def example(self, example: Mapping[str, Any]) -> str | None:
        texts = [str(text) for name, text in example.items() if name.startswith("text")]
        return " ||| ".join(texts) if len(texts) == 2 else None

    def try_it(self, data: Any) -> str:
        """Return a pair as a user types it, with a way to build trees where those of the training cannot be typed."""
        typed, encoder = super().try_it(data), data.encoder
        if encoder.spare is not None or builds(encoder.builder.trees):
            return typed
        return f"{typed} --trees {f'{SPACY}en_core_web_sm' if encoder.builder.inside else 'balanced'}"

    def row(self, prediction: RelatednessPrediction) -> list[Any]:
        texts = [shown(" ".join(tree.words)) for tree in (prediction.first, prediction.second)]
        return [*texts, round(prediction.score, 4)]

    def terminal(self, prediction: RelatednessPrediction, number: int, options: Namespace) -> RenderableType:
        self.say(self.note(prediction.first, prediction.second), CHOICE)
        self.say(self.cut(prediction.first, prediction.second), LIMIT)
        return super().terminal(prediction, number, options)

    def unknown(self, prediction: RelatednessPrediction) -> list[str]:
        return [tree.words[place] for tree in (prediction.first, prediction.second) for place in tree.unknown]

    def blocks(self, prediction: RelatednessPrediction, examined: Examined | None = None) -> list[Block]:
        score = examined.score if isinstance(examined, ExaminedPair) else None
        names, links = list(prediction.probabilities), linked_nodes(prediction)
        first, second = linked_trees(prediction, links)
        head = Head(
            f"{prediction.score:.2f}",
            above="relatedness",
            under=f"of {names[0]} to {names[-1]}" if names else "",
            truth=None if score is None else (f"true score {score:g}", ""),
            classes=Classes(prediction.probabilities, noun="grades", in_one_line=True),
            notes=tuple(filter(None, [self.notes(prediction.first, prediction.second)])),
            data={"score": repr(prediction.score)},
            keys=page_keys([first, second], ""),
        )
        if not links:
            return [head, first, second, Note(NOTHING)]
        if prediction.similarity is None:
            return [head, first, second, Note(SHARED)]
        phrases = [
            (f"{link.mark.sign}   {link.cosine:.2f}", f"{link.first_phrase}  ~  {link.second_phrase}") for link in links
        ]
        return [head, first, second, Note(SIMILAR), Ranked(phrases)]

    def examined_columns(self) -> list[str]:
        return ["index", "first", "second", self.truth, "score"]

    def examined_row(self, examined: Examined) -> list[Any]:
        first, second, score = self.row(examined.prediction)
        return [examined.index, first, second, examined.truth or "", score]


class Link(NamedTuple):
    """A node of the first tree and the node of the second one that belongs to it."""

    mark: Mark
    first: int
    second: int
    first_phrase: str
    second_phrase: str
    cosine: float


def linked_nodes(prediction: RelatednessPrediction) -> list[Link]:
    """Return the nodes with the most similar states, or, without states, those with a shared word.

    Of about equally similar pairs the wider phrases come first; pairs inside linked phrases and the roots are left out.
    """
    first, second = Family.of(prediction.first), Family.of(prediction.second)

    def wide(pair: tuple[int, int, float]) -> tuple[float, int]:
        return round(4 * pair[2]), first.words[pair[0]] + second.words[pair[1]]

    ranked = sorted(_similarities(prediction), key=wide, reverse=True)
    taken: tuple[set[int], set[int]] = (set(), set())
    signs = marks(ascii_uppercase)
    found: list[Link] = []
    for i, j, cosine in ranked:
        if len(found) == MOST_LINKS or cosine < LEAST_SIMILAR:
            break
        if i not in taken[0] and j not in taken[1]:
            taken[0].update(_below(first, i))
            taken[1].update(_below(second, j))
            phrases = first.phrase(i, prediction.first.words), second.phrase(j, prediction.second.words)
            found.append(Link(signs[ascii_uppercase[len(found)]], i, j, *phrases, cosine))
    return found


def _similarities(prediction: RelatednessPrediction) -> list[tuple[int, int, float]]:
    first, second = prediction.first, prediction.second
    nodes = [
        (i, j)
        for i in range(len(first.parent))
        for j in range(len(second.parent))
        if first.parent[i] >= 0 and second.parent[j] >= 0
    ]
    if prediction.similarity is not None:
        return [(i, j, prediction.similarity[i][j]) for i, j in nodes]
    words = [[tree.words[word].lower() if word >= 0 else "" for word in tree.word] for tree in (first, second)]
    return [(i, j, 1.0) for i, j in nodes if words[0][i] == words[1][j] and any(map(str.isalnum, words[0][i]))]


def _below(family: Family, node: int) -> list[int]:
    """Return a node and all nodes below it."""
    found = [node]
    for one in found:
        found += family.children[one]
    return found


def linked_trees(prediction: RelatednessPrediction, links: Sequence[Link]) -> tuple[Tree, Tree]:
    """Return both trees with the signs of the links."""

    def fact(link: Link, phrase: str) -> str:
        if prediction.similarity is None:
            return f"{link.mark.sign}: a word of both sentences"
        return f"{link.mark.sign}: like “{phrase}”, cosine {link.cosine:.2f}"

    return (
        Tree(prediction.first, links={link.first: (link.mark, fact(link, link.second_phrase)) for link in links}),
        Tree(prediction.second, links={link.second: (link.mark, fact(link, link.first_phrase)) for link in links}),
    )
