"""Turns trees, which are in brackets, in files, or built on the words of a text, into batches."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from torch import Tensor

from zoo.data.parts import Class, Number, Numbers, Shown, Words, flattened, lowered, nested
from zoo.data.rows import beginning
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.vocabulary import Vocabulary
from zoo.data.trees.batch import NO_LABEL, TreeBatch, TreePairBatch, Trees
from zoo.data.trees.builder import GRAMMAR, TreeBuilder, TreeTextOptions
from zoo.data.trees.tree import Tree
from zoo.errors import UnusableInput

NUMBERS, WORDS = pa.list_(pa.list_(pa.int32())), pa.list_(pa.list_(pa.string()))
COLUMNS = {"parent": NUMBERS, "word": NUMBERS, "words": WORDS, "built": pa.list_(pa.string()), "typed": WORDS}
"""The trees of an example, one or several, each with its nodes or words."""
FACTS = {"cut": pa.bool_(), "key": pa.int64()}
PARTS = (
    Numbers("parent"),
    Numbers("word"),
    Words("words", levels=2, padded=False),
    *(Shown(name) for name in ("text", "built", "typed")),
)


def columns_of(trees: Sequence[Tree]) -> dict[str, Any]:
    """The raw columns of the trees of an example."""
    return {name: [getattr(tree, name) for tree in trees] for name in ("parent", "word", "words")}


class TreeReading(TableEncoder):
    """Turns lines into trees, and trees into batches."""

    options = TreeTextOptions
    given = tuple(COLUMNS)
    cuts = False
    treebank_marks = True
    text_options: TreeTextOptions

    def __init__(
        self,
        text: TreeTextOptions,
        vocabularies: Sequence[Vocabulary] = (),
        subwords: Sequence[str | None] = (),
        *,
        trees: str,
        inside: bool,
        arity: int = 0,
        binary: bool = True,
        grammar: str | None = None,
    ) -> None:
        """Describe the trees of the training data.

        Args:
            text: how words become ids.
            vocabularies: the vocabulary, once it is learned.
            subwords: empty, since the leaves of trees are words.
            trees: the way to the trees, see `zoo.data.trees.builder`.
            inside: whether nodes with children may have words.
            arity: the most children of a node.
            binary: whether a node has either two children or a word.
            grammar: the name of the sample whose grammar parses plain text.
        """
        super().__init__(text, vocabularies, subwords)
        self.builder = TreeBuilder(trees, text, inside=inside)
        self.arity, self.binary = arity, binary
        self.grammar = grammar
        self.spare: str | None = None if grammar is None else f"{GRAMMAR}{grammar}"
        """The way to build a tree on a text if the trees of the data are given."""

    def extra_state(self) -> dict[str, Any]:
        shape = {"inside": self.builder.inside, "arity": self.arity, "binary": self.binary}
        return {"trees": self.builder.trees, "grammar": self.grammar, **shape}

    def tree(self, line: str) -> tuple[Tree, str | None]:
        """The tree of a line, and the way in which it was built, as in `TreeBuilder.of_line`. Raises UnusableInput also
        for a tree of another shape than those of the training data."""
        tree, by = self.builder.of_line(line, self.spare)
        self._check(tree)
        return tree, by

    def _check(self, tree: Tree) -> None:
        text = beginning(" ".join(tree.words))
        if self.builder.inside and any(word < 0 for word in tree.word):
            raise UnusableInput(
                f"{text}: found nodes without a word, as brackets have them; the network was trained on trees with a "
                "word at every node: give the words alone, and --trees builds such a tree"
            )
        if tree.arity <= self.arity and (tree.binary or not self.binary):
            return
        fan = next((len(below) for below in tree.children if self.binary and len(below) not in (0, 2)), tree.arity)
        known = f"up to {self.arity} children" + (" and words at any node" if self.builder.inside else "")
        known = "two children at each node that has any" if self.binary else known
        raise UnusableInput(
            f"{text}: a node with {fan} {'child' if fan == 1 else 'children'}; the network was trained on trees with "
            f"{known}"
        )

    def typed_trees(self, *lines: str) -> dict[str, Any]:
        """The raw columns of the lines of an example."""
        trees, built = zip(*map(self.tree, lines), strict=True)
        return {**columns_of(trees), "built": built, "typed": [tree.label for tree in trees]}

    def tokens(self, table: pa.Table) -> pa.Table:
        """Keep the written words as `text`, and put the words into the form of the vocabulary."""
        table = table.append_column("text", table["words"])
        if self.text_options.lower:
            words, lengths = flattened(table["words"].combine_chunks())
            at = table.column_names.index("words")
            table = table.set_column(at, "words", nested(lowered(words), lengths))
        return table

    @staticmethod
    def collated_trees(parts: Mapping[str, Any]) -> tuple[Trees, dict[str, Any]]:
        """The trees of collated parts, those of one example adjacent, and the shown parts of each tree."""
        parent, word, words = (parts[name] for name in ("parent", "word", "words"))
        trees = Trees.of(parent.values, parent.lengths, word.values, words.values, words.lengths)
        names = (name for name in ("text", "built", "typed") if name in parts)
        return trees, {name: tuple(chain.from_iterable(parts[name])) for name in names}


class TreeEncoder(TreeReading):
    """Turns lines, in brackets or as plain text, into a batch of trees."""

    takes = "a tree in brackets, or a sentence as text"
    raw = pa.schema(
        {**COLUMNS, "label": pa.list_(pa.string()), "evidence": pa.list_(pa.bool_()), "root": pa.string(), **FACTS}
    )
    parts = (*PARTS, Class("label", missing=NO_LABEL), Numbers("evidence"), Class("root"))

    def typed(self, one: str) -> dict[str, Any]:
        return self.typed_trees(one)

    def display(self, one: str) -> list[str]:
        """The words of the tree as they are written."""
        return self.tree(one)[0].words

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> TreeBatch:
        trees, shown = self.collated_trees(parts)
        label, evidence = (
            None if name not in parts else trees.in_forest(parts[name].values) for name in ("label", "evidence")
        )
        return TreeBatch(trees, index, label, evidence, **shown)


class TreePairEncoder(TreeReading):
    """Turns pairs of lines into a batch of pairs of trees."""

    takes = "a pair (first, second) of sentences as text, or of trees in brackets"
    raw = pa.schema({**COLUMNS, "score": pa.float64(), **FACTS})
    parts = (*PARTS, Number("score", kind=np.float32))

    def typed(self, one: Sequence[str]) -> dict[str, Any]:
        first, second = one
        return self.typed_trees(first, second)

    def display(self, one: Sequence[str]) -> tuple[list[str], list[str]]:
        """The words of both trees as they are written. Raises UnusableInput also for what is not a pair."""
        sentences = [one] if isinstance(one, str) else list(one)
        if len(sentences) != 2 or not all(sentence.strip() for sentence in sentences):
            found = "one sentence" if len(sentences) == 1 else f"{len(sentences)} sentences"
            found = "an empty sentence" if len(sentences) == 2 else found
            raise UnusableInput(
                f"{beginning(' ||| '.join(sentences))}: found {found}; expected two, on the command line with a tab or "
                "||| between them: A dog runs ||| A dog is running"
            )
        first, second = (self.tree(sentence)[0].words for sentence in sentences)
        return first, second

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> TreePairBatch:
        trees, shown = self.collated_trees(parts)
        shown.pop("typed", None)
        return TreePairBatch(trees, index, parts.get("score"), **shown)
