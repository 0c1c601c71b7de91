"""The view of relatedness: the score of two sentences, their trees, and the most similar nodes."""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from string import ascii_uppercase
from typing import Any, NamedTuple

from zoo.data.trees.builder import SPACY, builds
from zoo.predicting.relatedness import ExaminedPair, RelatednessPrediction
from zoo.predicting.trees import ReadTree
from zoo.printable import shown
from zoo.visualize.blocks import Block, Classes, Head, Note, Rows
from zoo.visualize.tree_view import TreeView
from zoo.visualize.trees.drawing import Tree, page_keys
from zoo.visualize.trees.layout import Family
from zoo.visualize.trees.marks import Mark, marks
from zoo.visualize.view import Field

MOST_LINKS, LEAST_SIMILAR = 6, 0.5  # Pairs of nodes that are shown, and their least cosine
BETWEEN = re.compile(r"\t|(?<!\S)\|\|\|(?!\S)")
SIMILAR = (
    "Nodes with equal letters have the most similar states, by the cosine given here; the network compares the roots."
)
NOTHING = "The sentences share no words, and no two phrases of them have similar states."
SHARED = "Nodes with equal letters have a word that both sentences share; this network gives no states to compare."


class RelatednessView(TreeView):
    """Pairs of sentences with a score."""

    noun = "pair"
    typed = '"the monkey is crying . ||| an ape is weeping ."'
    columns, given = ("first", "second", "score"), 2
    title = "How related the network finds two sentences"

    def parse(self, line: str) -> tuple[str, ...]:
        """Return the sentences of a line, separated by a tab or |||; the encoder checks that there are two."""
        return tuple(sentence.strip() for sentence in BETWEEN.split(line))

    def form(self) -> tuple[Field, ...]:
        return Field("first sentence"), Field("second sentence")

    def entered(self, values: Sequence[str]) -> tuple[str, ...]:
        return tuple(values)

    def example(self, example: Mapping[str, Any]) -> str | None:
        texts = [str(text) for name, text in example.items() if name.startswith("text")]
        return " ||| ".join(texts) if len(texts) == 2 else None

    def try_it(self, data: Any) -> str:
        """Return a pair as a user types it, with a way to build its trees where the training had parses."""
        typed, encoder = super().try_it(data), data.encoder
        if encoder.spare is not None or builds(encoder.builder.trees):
            return typed
        return f"{typed} --trees {f'{SPACY}en_core_web_sm' if encoder.builder.inside else 'balanced'}"

    def trees(self, prediction: RelatednessPrediction) -> list[ReadTree]:
        return [prediction.first, prediction.second]

    def row(self, prediction: RelatednessPrediction) -> list[Any]:
        return [*(shown(" ".join(tree.words)) for tree in self.trees(prediction)), round(prediction.score, 4)]

    def blocks(self, prediction: RelatednessPrediction, examined: ExaminedPair | None = None) -> list[Block]:
        score, names = examined.score if examined else None, list(prediction.probabilities)
        links = linked_nodes(prediction)
        trees = linked_trees(prediction, links)
        head = Head(
            f"{prediction.score:.2f}",
            above="relatedness",
            under=f"of {names[0]} to {names[-1]}" if names else "",
            truth=None if score is None else (f"true score {score:g}", ""),
            classes=Classes(prediction.probabilities, noun="grades", in_one_line=True),
            notes=self.head_notes(prediction),
            data={"score": repr(prediction.score)},
            keys=page_keys(trees, ""),
        )
        if not links or prediction.similarity is None:
            return [head, *trees, Note(SHARED if links else NOTHING)]
        rows = [(f"{link.mark.sign}   {link.cosine:.2f}", "  ~  ".join(link.phrases)) for link in links]
        return [head, *trees, Note(SIMILAR), Rows(rows)]


class Link(NamedTuple):
    """A node of the first tree and the node of the second one that belongs to it."""

    mark: Mark
    nodes: tuple[int, int]
    phrases: tuple[str, str]
    cosine: float


def linked_nodes(prediction: RelatednessPrediction) -> list[Link]:
    """Return the nodes with the most similar states, or, without states, those with a shared word.

    Of about equally similar pairs the wider phrases come first; pairs inside linked phrases and the roots are left out.
    """
    first, second = Family.of(prediction.first), Family.of(prediction.second)

    def wide(pair: tuple[int, int, float]) -> tuple[float, int]:
        return round(4 * pair[2]), first.words[pair[0]] + second.words[pair[1]]

    linked: tuple[list[int], list[int]] = ([], [])
    signs, found = iter(marks(ascii_uppercase).values()), list[Link]()
    for i, j, cosine in sorted(_similarities(prediction), key=wide, reverse=True):
        if len(found) == MOST_LINKS or cosine < LEAST_SIMILAR:
            break
        if i not in linked[0] and j not in linked[1]:
            for family, nodes, node in zip((first, second), linked, (i, j), strict=True):
                nodes += family.below(node)
            phrases = first.phrase(i, prediction.first.words), second.phrase(j, prediction.second.words)
            found.append(Link(next(signs), (i, j), phrases, cosine))
    return found


def _similarities(prediction: RelatednessPrediction) -> list[tuple[int, int, float]]:
    """Return the cosine of each pair of nodes that are not roots; without states, 1 for each shared word."""
    trees = (prediction.first, prediction.second)
    nodes = list(product(*([node for node, above in enumerate(tree.parent) if above >= 0] for tree in trees)))
    if prediction.similarity is not None:
        return [(i, j, prediction.similarity[i][j]) for i, j in nodes]
    words = [[tree.words[word].lower() if word >= 0 else "" for word in tree.word] for tree in trees]
    return [(i, j, 1.0) for i, j in nodes if words[0][i] == words[1][j] and any(map(str.isalnum, words[0][i]))]


def linked_trees(prediction: RelatednessPrediction, links: Sequence[Link]) -> list[Tree]:
    """Return both trees with the signs of the links."""

    def fact(link: Link, at: int) -> str:
        like = f"like “{link.phrases[1 - at]}”, cosine {link.cosine:.2f}"
        return f"{link.mark.sign}: {'a word of both sentences' if prediction.similarity is None else like}"

    signs = [{link.nodes[at]: (link.mark, fact(link, at)) for link in links} for at in (0, 1)]
    return [Tree(prediction.first, links=signs[0]), Tree(prediction.second, links=signs[1])]
