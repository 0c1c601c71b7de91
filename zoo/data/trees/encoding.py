"""Turns trees, which are in brackets, in files, or built on the words of a text, into batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from torch import Tensor

from zoo.data.parts import Class, Number, Numbers, Part, Ragged, Shown, Words, lowered
from zoo.data.rows import beginning
from zoo.data.stored import list_array, offsets, spread
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.vocabulary import Vocabulary
from zoo.data.trees.batch import NO_LABEL, TreeBatch, TreePairBatch, Trees
from zoo.data.trees.brackets import EXAMPLE
from zoo.data.trees.builder import TreeBuilder
from zoo.data.trees.options import GRAMMAR, TreeTextOptions
from zoo.data.trees.tree import Tree
from zoo.errors import UnusableInput

ONE, TWO = ("",), ("_a", "_b")
"""The suffix of the column names of each tree of an example."""
NUMBERS, WORDS, FLAGS = pa.list_(pa.int32()), pa.list_(pa.string()), pa.list_(pa.bool_())
FACTS = {"cut": pa.bool_(), "key": pa.int64()}


def _columns(sides: Sequence[str]) -> dict[str, pa.DataType]:
    kinds = {"parent": NUMBERS, "word": NUMBERS, "words": WORDS, "built": pa.string(), "typed": WORDS}
    return {f"{name}{side}": kind for side in sides for name, kind in kinds.items()}


def _parts(sides: Sequence[str]) -> Iterator[Part]:
    for side in sides:
        yield from (Numbers(f"parent{side}"), Numbers(f"word{side}"), Words(f"words{side}", padded=False))
        yield from (Shown(f"text{side}"), Shown(f"built{side}"), Shown(f"typed{side}"))


class TreeReading(TableEncoder):
    """Turns lines into trees, and trees into batches."""

    options = TreeTextOptions
    sides: tuple[str, ...]
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
            trees: the way to the trees, see `zoo.data.trees.options`.
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
        """The tree of a line, and the way in which it was built (None for brackets). Raises UnusableInput for malformed
        brackets, for a text without words, and for a tree of another shape than those of the training data."""
        tree, by = self.builder.of_line(line, self.spare)
        if not tree.parent:
            raise UnusableInput(f"{beginning(line)}: found no words, expected a text or {EXAMPLE}")
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

    def typed_tree(self, line: str, side: str) -> dict[str, Any]:
        """The raw columns of a line that a user gives."""
        tree, by = self.tree(line)
        columns = {"parent": tree.parent, "word": tree.word, "words": tree.words, "built": by, "typed": tree.label}
        return {f"{name}{side}": value for name, value in columns.items()}

    def tokens(self, table: pa.Table) -> pa.Table:
        """Keep the written words as `text`, and put the words into the form of the vocabulary."""
        columns = {name: table[name] for name in table.column_names}
        for side in self.sides:
            words = table[f"words{side}"].combine_chunks()
            columns[f"text{side}"] = words
            if self.text_options.lower:
                columns[f"words{side}"] = list_array(lowered(words.flatten()), pc.list_value_length(words))
        return pa.table(columns)

    def trees(self, parts: Mapping[str, Any]) -> Trees:
        """The trees of collated parts; the two trees of a pair are adjacent."""
        names = ("parent", "word", "words")
        parent, word, words = (_joined([parts[name + side] for side in self.sides]) for name in names)
        return Trees.of(parent.values, parent.lengths, word.values, words.values, words.lengths)

    def shown(self, parts: Mapping[str, Any], name: str) -> tuple[Any, ...] | None:
        """A shown part of all trees, in order; None if the table does not have it."""
        if f"{name}{self.sides[0]}" not in parts:
            return None
        return tuple(chain.from_iterable(zip(*(parts[name + side] for side in self.sides), strict=True)))


class TreeEncoder(TreeReading):
    """Turns lines, in brackets or as plain text, into a batch of trees."""

    sides = ONE
    raw = pa.schema({**_columns(ONE), "label": WORDS, "evidence": FLAGS, "root": pa.string(), **FACTS})
    given = tuple(_columns(ONE))
    parts = (*_parts(ONE), Class("label", missing=NO_LABEL), Numbers("evidence"), Class("root"))

    def typed(self, one: str) -> dict[str, Any]:
        return self.typed_tree(one, "")

    def display(self, one: str) -> list[str]:
        """The words of the tree as they are written."""
        return self.tree(one)[0].words

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> TreeBatch:
        trees = self.trees(parts)
        label, evidence = (
            None if name not in parts else trees.in_forest(parts[name].values) for name in ("label", "evidence")
        )
        shown = (self.shown(parts, name) for name in ("text", "built", "typed"))
        return TreeBatch(trees, index, label, evidence, *shown)


class TreePairEncoder(TreeReading):
    """Turns pairs of lines into a batch of pairs of trees."""

    sides = TWO
    raw = pa.schema({**_columns(TWO), "score": pa.float64(), **FACTS})
    given = tuple(_columns(TWO))
    parts = (*_parts(TWO), Number("score", kind=np.float32))

    def typed(self, one: Sequence[str]) -> dict[str, Any]:
        first, second = one
        return self.typed_tree(first, TWO[0]) | self.typed_tree(second, TWO[1])

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
        text, built = self.shown(parts, "text"), self.shown(parts, "built")
        return TreePairBatch(self.trees(parts), index, parts.get("score"), text, built)


def _joined(sides: Sequence[Ragged]) -> Ragged:
    """Interleave the rows of several sides: the first row of each, the second of each, ..."""
    if len(sides) == 1:
        return sides[0]
    values = np.concatenate([one.values for one in sides])
    at = offsets([len(one.values) for one in sides])
    begin = [at[n] + offsets(one.lengths)[:-1] for n, one in enumerate(sides)]
    lengths = np.stack([one.lengths for one in sides], 1).reshape(-1)
    return Ragged(values[spread(np.stack(begin, 1).reshape(-1), lengths)], lengths)
