"""The base classes of all corpora of labelled trees and of pairs of trees with a score."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Unpack, get_args

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zoo.data.notes import CHARACTERS, key, uncut
from zoo.data.order import Nouns, Order
from zoo.data.parts import flattened, nested
from zoo.data.rows import beginning
from zoo.data.sources import Reading, Source
from zoo.data.stored import StoredSplit, count_words, histogram, numbers_of, offsets, values_of
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.vectored import VectorArguments, Vectored
from zoo.data.trees.batch import NO_LABEL, LabelledTreeSpec, TreePairSpec
from zoo.data.trees.builder import GIVEN, TreeBuilder, TreeTextOptions, builds, check_way
from zoo.data.trees.encoding import TreeEncoder, TreePairEncoder, TreeReading, columns_of
from zoo.data.trees.tree import Labelled, Pair, Tree
from zoo.errors import ConfigError, DataError, one_of

TrainingLabels = Literal["nodes", "roots"]
UNLABELLED = "_"  # Marks a missing label where brackets need one
WHOLE = re.compile(r"-?[0-9]+")
FEW = 0.1  # The share of trees that may be not binary by mistake


class TreeArguments(VectorArguments, total=False):
    """The arguments of every family of trees."""

    trees: str


@dataclass
class Shapes:
    """The shapes of the trees of all splits."""

    arity: int = 0
    inside: bool = False
    trees: int = 0
    others: int = 0  # The number of trees that are not binary
    first_other: str = ""  # The place of the first of these

    def count(self, tree: Tree, place: str) -> None:
        """Count one tree."""
        self.trees += 1
        self.arity = max(self.arity, tree.arity)
        self.inside |= any(word >= 0 and below for word, below in zip(tree.word, tree.children, strict=True))
        if not tree.binary:
            self.others += 1
            self.first_other = self.first_other or place

    def notes(self) -> list[str]:
        """A note on a few trees that exclude networks for binary trees."""
        if not 0 < self.others <= FEW * self.trees:
            return []
        where = f", the first: {self.first_other}" if self.first_other else ""
        some = f"{self.others:,} of {self.trees:,} trees are not binary{where}"
        return [f"{some}; data.trees=binarised makes them binary"]


class TreeCorpus(Vectored):
    """Examples of one tree or two trees."""

    encoding: ClassVar[type[TreeReading]]
    text_options = TreeTextOptions
    length_parts = ()
    encoder: TreeReading
    text: TreeTextOptions
    inside = False  # Whether built trees have words at nodes with children

    def __init__(self, *, trees: str = "given", **rest: Unpack[VectorArguments]) -> None:
        """`trees` is one of `zoo.data.trees.builder.WAYS`; the rest as in `Vectored`."""
        super().__init__(**rest)
        self.trees = check_way(trees)

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"trees": self.trees, "inside": self.inside}

    def new_encoder(self) -> TreeReading:
        sampled = getattr(self, "source", None) == "sample" and self.trees == GIVEN
        return self.encoding(self.text, trees=self.trees, inside=self.inside, grammar=self.name if sampled else None)

    @cached_property
    def builder(self) -> TreeBuilder:
        """Makes trees of the trees and the texts of the data."""
        return self.new_encoder().builder

    def _prepare(self, folder: Path, steps: Path, source: Source) -> dict[str, Any]:
        self._shapes = Shapes()
        return super()._prepare(folder, steps, source)

    def counted_splits(self) -> tuple[str, ...]:
        return ("train", "val", "test") if self.text.vocabulary_splits == "all" else ("train",)

    def finish(self, encoder: TableEncoder, source: Source, splits: Mapping[str, datasets.Dataset]) -> None:
        assert isinstance(encoder, TreeReading)
        encoder.arity, encoder.binary = self._shapes.arity, not self._shapes.others
        encoder.builder.inside = self.inside or self._shapes.inside

    def lengths(self, split: datasets.Dataset) -> NDArray[Any]:
        """(N,) nodes of each example."""
        trees, nodes = flattened(split.data.column("parent").combine_chunks())[1]
        return np.add.reduceat(nodes, offsets(trees)[:-1])

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        columns = {name: split.data.column(name).combine_chunks() for name in ("parent", "words")}
        (_, nodes), (_, words) = (flattened(column)[1] for column in columns.values())
        return {"nodes": histogram(nodes), "words": histogram(words)}

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        found = self._shapes
        shapes = {"arity": found.arity, "binary": not found.others, "words_inside": found.inside}
        mean = facts["train"]["words"]["mean"]
        texts = uncut("a training text", mean, self.text.tokenizer, CHARACTERS) if builds(self.trees) else []
        return {"trees": self.trees, "shapes": shapes, "notes": [*found.notes(), *texts]}

    def training_order(self, part: StoredSplit) -> Order:
        """Draw batches from all trees: nothing is padded, so trees of similar size would save nothing."""
        return self._bucketed(part, 1)

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        shapes = about["shapes"]
        kind = "binary trees" if shapes["binary"] else f"trees of up to {shapes['arity']} children per node"
        words = "words at any node" if shapes["words_inside"] else "words at the leaves"
        way = "as they are in the data" if about["trees"] == "given" else f"{about['trees']} (data.trees)"
        contents = f"{kind}, {words}, {way}; vocabulary {about['vocabulary_size']:,} words"
        return [contents + (f", {len(about['classes'])} classes, counted at the roots" if about["classes"] else "")]

    def row_of(self, given: Sequence[Tree], built: Sequence[Tree], place: str) -> dict[str, Any]:
        """The raw columns of the trees that were built of the given ones; count their shapes."""
        for tree in built:
            self._shapes.count(tree, place)
        cut = any(len(tree.words) < len(one.words) for tree, one in zip(built, given, strict=True))
        return columns_of(built) | {"cut": cut}


class LabelledTreeArguments(TreeArguments, total=False):
    """The arguments of every corpus of labelled trees."""

    train_on: TrainingLabels


class TreeData(TreeCorpus):
    """Trees with labels at their nodes."""

    tasks: ClassVar[tuple[str, ...]] = ("tree_classification",)
    nouns: ClassVar[Nouns] = Nouns("trees", "nodes")
    encoding = TreeEncoder
    spec: LabelledTreeSpec
    class_names: Mapping[str, str] | None = None
    """The class of each label, in the order of the logits; None: the labels are the names, and are collected."""
    polarity: tuple[int, ...] = ()
    """-1, 0 or 1 for each class that is negative, neutral or positive."""
    neutral: str | None = None
    """Trees with this class at the root are left out."""

    def __init__(self, *, train_on: TrainingLabels = "nodes", **rest: Unpack[TreeArguments]) -> None:
        """`train_on` chooses the labels that are learned: of all nodes of the training trees, or of their roots."""
        super().__init__(**rest)
        self.train_on = one_of("data.train_on", train_on, get_args(TrainingLabels))

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"labels": self.train_on, "classes": self.class_names, "neutral": self.neutral}

    def examples(self, rows: Iterator[Labelled], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        for row in rows:
            tree = self.builder.of_tree(row.tree)
            if (label := self._labels(tree, row, reading)) is None:
                continue
            if self.neutral is not None and label[tree.root] == self.neutral:
                reading.dropped[f"{self.neutral} as a whole"] += 1
                continue
            found = self.row_of([row.tree], [tree], row.place) | {"label": label, "root": label[tree.root]}
            found["key"] = key([tree.parent, tree.words])
            if row.evidence is not None and tree is row.tree:
                found["evidence"] = row.evidence
            yield found

    def _labels(self, tree: Tree, row: Labelled, reading: Reading) -> list[str | None] | None:
        """The classes of the nodes; None, once reported, for a tree that cannot be used."""
        names, label = self.class_names, list(tree.label)
        if names is None:
            label = [None if one == UNLABELLED else one for one in label]
        elif strange := [one for one in label if one is not None and one not in names]:
            expected = ", ".join(names)
            reading.bad(row.place, "label out of range", f"found {strange[0]!r}, expected one of {expected}")
            return None
        root = label[tree.root]
        if root is None:
            found = f"{UNLABELLED}, which means no label" if row.tree.label[row.tree.root] else "none"
            reading.bad(row.place, "no label", f"the root of the tree, {beginning(' '.join(tree.words))}, has {found}")
            return None
        if names is not None:
            return [None if one is None else names[one] for one in label]
        if reading.training and self.train_on == "nodes":
            reading.labels.update(dict.fromkeys(one for one in label if one is not None))
        return label if reading.knows(root, row.place, self.nouns.examples) else None

    def strata(self, train: datasets.Dataset) -> NDArray[Any]:
        return np.array(list(values_of(train, "root")))

    def finish(self, encoder: TableEncoder, source: Source, splits: Mapping[str, datasets.Dataset]) -> None:
        super().finish(encoder, source, splits)
        if self.class_names is not None:
            encoder.classes = list(dict.fromkeys(self.class_names.values()))
            return
        found: set[Any] = set()
        for part in splits.values():
            found |= count_words(part, "label" if self.train_on == "nodes" else "root").keys()
        found -= {None}
        whole = all(WHOLE.fullmatch(name) for name in found)
        names = sorted(found, key=lambda name: (int(name), name)) if whole else sorted(found)
        if len(names) < 2:
            raise DataError(
                f"{source.place}: all {self.train_on} have the label {names[0]!r}; at least two classes are expected"
            )
        encoder.classes = names

    def numbering(self, encoder: TableEncoder, split: str) -> Callable[[pa.Table], pa.Table]:
        number = super().numbering(encoder, split)
        return partial(_of_roots, number) if split == "train" and self.train_on == "roots" else number

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        labels = np.asarray(split.data.column("label").combine_chunks().flatten())
        return {"labelled_rate": float(np.mean(labels != NO_LABEL)), **super().facts(split, encoder)}

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"label": row["root"], "text": " ".join(*row["words"])}

    def set_spec(self, about: Mapping[str, Any]) -> None:
        classes = about["classes"]
        if self.polarity and len(self.polarity) != len(classes):
            raise ConfigError(
                f"data.polarity: found {len(self.polarity)} numbers, expected one for each of the {len(classes)} "
                f"classes {', '.join(classes)}"
            )
        self.spec = LabelledTreeSpec(
            vocabulary_size=about["vocabulary_size"],
            **about["shapes"],
            classes=tuple(classes),
            polarity=self.polarity,
            labels=tuple((self.class_names or {}).items()),
        )


class TreePairData(TreeCorpus):
    """Pairs of trees with a score."""

    tasks: ClassVar[tuple[str, ...]] = ("relatedness",)
    nouns: ClassVar[Nouns] = Nouns("pairs", "nodes")
    encoding = TreePairEncoder
    spec: TreePairSpec
    grades: ClassVar[tuple[int, int]] = (1, 5)  # The lowest and the highest score

    def examples(self, rows: Iterator[Pair], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        for row in rows:
            given = row.first, row.second
            built = [self.builder.of_tree(tree) for tree in given]
            found = self.row_of(given, built, row.place)
            yield found | {"score": row.score, "key": key([tree.words for tree in built])}

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        return {"mean_score": round(float(numbers_of(split, "score").mean()), 3), **super().facts(split, encoder)}

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        texts = {f"text {side}": " ".join(words) for side, words in zip("ab", row["words"], strict=True)}
        return {"score": f"{row['score']:g}", **texts}

    def set_spec(self, about: Mapping[str, Any]) -> None:
        lowest, highest = self.grades
        self.spec = TreePairSpec(about["vocabulary_size"], **about["shapes"], lowest=lowest, highest=highest)


def _of_roots(number: Callable[[pa.Table], pa.Table], table: pa.Table) -> pa.Table:
    """Number trees without the labels of nodes below the root."""
    labels, lengths = flattened(table["label"].combine_chunks())
    parents, _ = flattened(table["parent"].combine_chunks())
    roots = pc.if_else(pc.greater_equal(parents, 0), pa.scalar(None, pa.string()), labels)
    return number(table.set_column(table.column_names.index("label"), "label", nested(roots, lengths)))
