"""Trees to batches: from the disk while training, from a text when predicting."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any, Self

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray

from zoo.data.encoder import Encoder
from zoo.data.rows import beginning
from zoo.data.stored import Rows, StoredSplit, numbers_of
from zoo.data.text.treebank import Spelling
from zoo.data.text.vocabulary import Vocabulary
from zoo.data.trees.batch import TreeBatch, TreePairBatch, Trees
from zoo.data.trees.brackets import EXAMPLE
from zoo.data.trees.options import TreeTextOptions
from zoo.data.trees.planting import Planting, planted
from zoo.data.trees.tree import Tree
from zoo.errors import UnusableInput

ONE, TWO = ("",), ("_a", "_b")
"""Behind the names of the columns: the trees of an example."""


class TreeReading(Encoder):
    """Lines to trees with the vocabulary and the rules of the training data; all that a prediction needs of them."""

    def __init__(
        self, vocabulary: Vocabulary, text: TreeTextOptions, trees: str, *, inside: bool, arity: int, binary: bool
    ) -> None:
        """`trees` is the way of the data to its trees, of which nodes with children have words where `inside` is True
        and `arity` children at most; two of them, and no word, where `binary` is True."""
        self.vocabulary = vocabulary
        self.planting = Planting(trees, text, inside=inside)
        self.arity, self.binary = arity, binary
        self._spelling = Spelling(vocabulary)
        self.spare: str | None = "balanced"
        """What puts a tree on a text where the data brought its trees along."""

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""
        shape = {"inside": self.planting.inside, "arity": self.arity, "binary": self.binary}
        return self.plain_state(self.vocabulary, self.planting, shape)

    @staticmethod
    def plain_state(vocabulary: Vocabulary, planting: Planting, shape: Mapping[str, int]) -> dict[str, Any]:
        """The `state` of an encoder with these; `shape` are its arguments by keyword."""
        return {"words": vocabulary.state(), "text": asdict(planting.text), "trees": planting.trees, **shape}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from."""
        text, vocabulary = TreeTextOptions.of(state["text"]), Vocabulary.from_state(state["words"])
        shape = {name: state[name] for name in ("inside", "arity", "binary")}
        return cls(vocabulary, text, state["trees"], **shape)

    def tree(self, line: str) -> tuple[Tree, str | None]:
        """The tree of a line, and what put it on its words. Raises UnusableInput for brackets that are no tree, for a
        text without words, and for a tree of another shape than those that the network was trained on."""
        tree, by = planted(line, self.planting, self.spare)
        if not tree.parent:
            raise UnusableInput(f"{beginning(line)}: found no words, expected a text or {EXAMPLE}")
        self._check(tree)
        return tree, by

    def plant(self, lines: Sequence[str]) -> tuple[Trees, tuple[Tree, ...], tuple[str | None, ...]]:
        """The trees of lines, together and one by one, and what put them on their words. Raises UnusableInput as
        `tree`."""
        found = [self.tree(line) for line in lines]
        forms = [self._spelling(self.planting.forms(tree.words)) for tree, _ in found]
        trees = Trees.of(
            list(chain.from_iterable(tree.parent for tree, _ in found)),
            [len(tree.parent) for tree, _ in found],
            list(chain.from_iterable(tree.word for tree, _ in found)),
            self.vocabulary.encode(chain.from_iterable(forms)),
            [len(tree.words) for tree, _ in found],
        )
        return trees, tuple(tree for tree, _ in found), tuple(by for _, by in found)

    def _check(self, tree: Tree) -> None:
        text = beginning(" ".join(tree.words))
        if self.planting.inside and any(word < 0 for word in tree.word):
            raise UnusableInput(
                f"{text}: found nodes without a word, as brackets have them; the network was trained on trees with a "
                "word at every node: give the words alone, and --trees builds such a tree"
            )
        if tree.arity <= self.arity and (tree.binary or not self.binary):
            return
        fan = next((len(below) for below in tree.children if self.binary and len(below) not in (0, 2)), tree.arity)
        known = f"up to {self.arity} children" + (" and words at any node" if self.planting.inside else "")
        known = "two children at each node that has any" if self.binary else known
        raise UnusableInput(
            f"{text}: a node with {fan} {'child' if fan == 1 else 'children'}; the network was trained on trees with "
            f"{known}"
        )

    @abstractmethod
    def display(self, one: Any) -> Any: ...


class TreeEncoder(TreeReading):
    """Lines to a batch of trees: in brackets, or a text on which a tree is put."""

    def display(self, line: str) -> list[str]:
        """The words of the tree as they are written."""
        return self.tree(line)[0].words

    def __call__(self, lines: str | Sequence[str]) -> TreeBatch:
        """A batch without labels, one tree a line."""
        lines = [lines] if isinstance(lines, str) else lines
        trees, each, built = self.plant(lines)
        text, typed = tuple(tree.words for tree in each), tuple(tree.label for tree in each)
        return TreeBatch(trees, torch.arange(len(lines)), None, None, text, built, typed)


class TreePairEncoder(TreeReading):
    """Pairs of lines to a batch of pairs of trees."""

    def display(self, pair: Sequence[str]) -> tuple[list[str], list[str]]:
        """The words of both trees as they are written. Raises UnusableInput also for what is no pair."""
        sentences = [pair] if isinstance(pair, str) else list(pair)
        if len(sentences) != 2 or not all(sentence.strip() for sentence in sentences):
            found = "one sentence" if len(sentences) == 1 else f"{len(sentences)} sentences"
            found = "an empty sentence" if len(sentences) == 2 else found
            raise UnusableInput(
                f"{beginning(' ||| '.join(sentences))}: found {found}; expected two, on the command line with a tab or "
                "||| between them: A dog runs ||| A dog is running"
            )
        first, second = (self.tree(sentence)[0].words for sentence in sentences)
        return first, second

    def __call__(self, pairs: Sequence[Sequence[str]]) -> TreePairBatch:
        """A batch without scores, one pair of lines each."""
        trees, each, built = self.plant([line for pair in pairs for line in pair])
        return TreePairBatch(trees, torch.arange(len(pairs)), None, tuple(tree.words for tree in each), built)


# From the disk


class EncodedTrees(StoredSplit):
    """Trees, or pairs of them, of a prepared split."""

    def __init__(self, examples: datasets.Dataset, sides: Sequence[str]) -> None:
        of_tree = [name + side for side in sides for name in ("parent", "word", "words", "text")]
        nodes = sum(numbers_of(examples, f"num_nodes{side}") for side in sides)
        super().__init__(examples, (*of_tree, "label", "evidence", "score"), nodes)


def collate_trees(rows: Rows) -> TreeBatch:
    """Trees from the disk as a batch."""
    trees, text = _trees(rows, ONE)
    evidence = rows.table["evidence"].combine_chunks().flatten() if "evidence" in rows.table.column_names else None
    label = np.asarray(rows.table["label"].combine_chunks().flatten()).astype(np.int64)
    return TreeBatch(
        trees,
        torch.tensor(rows.numbers),
        trees.in_forest(label),
        None if evidence is None else trees.in_forest(evidence.to_numpy(zero_copy_only=False)),
        text,
    )


def collate_pairs(rows: Rows) -> TreePairBatch:
    """Pairs of trees from the disk as a batch."""
    trees, text = _trees(rows, TWO)
    score = torch.from_numpy(np.array(rows.table["score"].to_numpy(), np.float32))
    return TreePairBatch(trees, torch.tensor(rows.numbers), score, text)


def _trees(rows: Rows, sides: Sequence[str]) -> tuple[Trees, tuple[list[str], ...] | None]:
    """The trees of some examples, those of one behind each other, and their words where they are stored."""
    table, count = rows.table, len(rows.numbers)
    one_behind_the_other = np.arange(count * len(sides)).reshape(len(sides), count).T.flatten()

    def column(name: str) -> pa.Array:
        parts = [table[name + side].combine_chunks() for side in sides]
        return parts[0] if len(parts) == 1 else pa.concat_arrays(parts).take(pa.array(one_behind_the_other))

    def lists(name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        found = column(name)
        values, lengths = found.flatten(), pc.list_value_length(found)
        return np.asarray(values).astype(np.int64), np.asarray(lengths).astype(np.int64)

    (parent, nodes), (word, _), (words, words_in) = lists("parent"), lists("word"), lists("words")
    text = tuple(column("text").to_pylist()) if f"text{sides[0]}" in table.column_names else None
    return Trees.of(parent, nodes, word, words, words_in), text
