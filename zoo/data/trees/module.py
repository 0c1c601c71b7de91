"""Trees with labels, and pairs of trees with a score: what every corpus of them shares."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import datasets

from zoo.data.cache import steps_beside
from zoo.data.options import LoaderOptions, SplitOptions
from zoo.data.order import Nouns, Order
from zoo.data.prepared import PreparedData
from zoo.data.rows import counted
from zoo.data.sources import Source
from zoo.data.stored import StoredSplit
from zoo.data.text.vectored import Vectored
from zoo.data.trees.encoding import (
    ONE,
    TWO,
    EncodedTrees,
    TreeEncoder,
    TreePairEncoder,
    TreeReading,
    collate_pairs,
    collate_trees,
)
from zoo.data.trees.options import TreeTextOptions, check_way
from zoo.data.trees.planting import Planting
from zoo.data.trees.prepare import ENCODER, FORMAT, TREES, prepare
from zoo.data.trees.sources import PairSource, TreeSource
from zoo.data.trees.spec import LabelledTreeSpec, TreePairSpec
from zoo.errors import ConfigError, one_of

TrainingLabels = Literal["nodes", "roots"]


class TreeCorpus(Vectored, PreparedData[Source]):
    """Trees, one or two in an example."""

    sides: ClassVar[tuple[str, ...]]
    encoding: ClassVar[type[TreeReading]]
    encoder: TreeReading
    inside = False
    """Whether trees that are built have words at nodes with children."""

    def __init__(
        self,
        *,
        trees: str = "given",
        text: Mapping[str, Any] | TreeTextOptions | None = None,
        split: Mapping[str, Any] | SplitOptions | None = None,
        vectors: str | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """No file is touched here.

        Args:
            trees: where trees come from, one of `zoo.data.trees.options.WAYS`.
            text: how words become ids, see `TreeTextOptions`.
            split: shares of the splits that the corpus comes without, see `SplitOptions`.
            vectors: file of pretrained word vectors.
            loader: how batches are made, see `LoaderOptions`.
        """
        super().__init__(loader=loader)
        self.trees = check_way(trees)
        self.text = TreeTextOptions.of(text)
        self.split = SplitOptions.of(split)
        self.vectors_path = vectors

    @abstractmethod
    def _training_labels(self) -> TrainingLabels: ...

    def _facts(self, source: Source) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "text": vars(self.text),
            "split": vars(self.split),
            "trees": self.trees,
            "inside": self.inside,
            "labels": self._training_labels(),
        }

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        planting = Planting(self.trees, self.text, inside=self.inside)
        with steps_beside(folder) as steps:
            return prepare(
                folder,
                steps,
                source,
                planting,
                self.split,
                self.loader.on_bad_row,
                training_labels=self._training_labels(),
            )

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        self.encoder = self.encoding.from_state(json.loads((folder / ENCODER).read_text("utf-8")))
        self._set_spec(about)
        stored = datasets.load_from_disk(folder / TREES)
        return {name: EncodedTrees(part, self.sides) for name, part in stored.items()}

    @abstractmethod
    def _set_spec(self, about: Mapping[str, Any]) -> None:
        """Sets `spec` from the description of the prepared data."""

    def _words(self, folder: Path) -> list[str]:
        return self.encoding.from_state(json.loads((folder / ENCODER).read_text("utf-8"))).vocabulary.words

    def training_order(self, part: StoredSplit) -> Order:
        """In batches drawn from all: nothing is padded, and so nothing is saved by trees of similar size."""
        return self._bucketed(part, 1)

    def describe(self) -> dict[str, Any]:
        about = super().describe()
        shapes = about["shapes"]
        kind = "binary trees" if shapes["binary"] else f"trees of up to {shapes['arity']} children a node"
        words = "words at any node" if shapes["words_inside"] else "words at the leaves"
        way = "as they are in the data" if about["trees"] == "given" else about["trees"]
        contents = f"{kind}, {words}, {way}; a vocabulary of {about['vocabulary_size']:,}"
        lines = [contents + (f", {len(about['classes'])} classes, counted at the roots" if about["classes"] else "")]
        if about["left_out"]:
            lines.append(f"left out: {counted(about['left_out'])}")
        return about | {"contents": lines}

    def _summary(self, about: Mapping[str, Any]) -> list[str]:
        splits = about["splits"]
        sizes = ", ".join(f"{name} {part[self.nouns.examples]:,}" for name, part in splits.items())
        nodes = splits["train"]["nodes"]
        classes = f", {len(about['classes'])} classes" if about["classes"] else ""
        lines = [
            about["source"],
            (
                f"{sizes} {self.nouns.examples}, {nodes['mean']:g} nodes on average, {nodes['max']:,} at most"
                f"{classes}, vocabulary {about['vocabulary_size']:,}, unknown words in test "
                f"{splits['test']['unknown_rate']:.1%}"
            ),
        ]
        if about["drawn"]:
            lines.append(f"{' and '.join(about['drawn'])}: drawn from the training {self.nouns.examples} (data.split)")
        if about["trees"] != "given":
            lines.append(f"trees: {about['trees']} (data.trees)")
        if gone := {**about["skipped"], **about["left_out"]}:
            lines.append(f"left out {sum(gone.values()):,} {self.nouns.examples}: {counted(gone)}")
        return lines


class TreeData(TreeCorpus):
    """Trees with labels at their nodes."""

    task: ClassVar[str] = "tree_classification"
    nouns: ClassVar[Nouns] = Nouns("trees", "nodes")
    sides = ONE
    encoding = TreeEncoder
    spec: LabelledTreeSpec

    def __init__(
        self,
        *,
        train_on: TrainingLabels = "nodes",
        trees: str = "given",
        text: Mapping[str, Any] | TreeTextOptions | None = None,
        split: Mapping[str, Any] | SplitOptions | None = None,
        vectors: str | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """`train_on` says which labels of the training trees are learned from, those of all nodes or those of the
        roots; the rest as in `TreeCorpus`."""
        super().__init__(trees=trees, text=text, split=split, vectors=vectors, loader=loader)
        self.train_on = one_of("data.train_on", train_on, get_args(TrainingLabels))

    def _training_labels(self) -> TrainingLabels:
        return "roots" if self.train_on == "roots" else "nodes"

    def _facts(self, source: Source) -> dict[str, Any]:
        assert isinstance(source, TreeSource)
        return super()._facts(source) | {"classes": source.classes, "neutral": source.neutral}

    def _set_spec(self, about: Mapping[str, Any]) -> None:
        source, classes = self.open_source(), about["classes"]
        assert isinstance(source, TreeSource)
        if source.polarity and len(source.polarity) != len(classes):
            raise ConfigError(
                f"data.polarity: found {len(source.polarity)} numbers, expected one for each of the {len(classes)} "
                f"classes {', '.join(classes)}"
            )
        self.spec = LabelledTreeSpec(
            vocabulary_size=about["vocabulary_size"],
            **about["shapes"],
            classes=tuple(classes),
            polarity=source.polarity,
            labels=tuple((source.classes or {}).items()),
        )

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return collate_trees


class TreePairData(TreeCorpus):
    """Pairs of trees with a score."""

    task: ClassVar[str] = "relatedness"
    nouns: ClassVar[Nouns] = Nouns("pairs", "nodes")
    sides = TWO
    encoding = TreePairEncoder
    spec: TreePairSpec

    def _training_labels(self) -> TrainingLabels:
        return "roots"  # a pair has one score

    def _set_spec(self, about: Mapping[str, Any]) -> None:
        source = self.open_source()
        assert isinstance(source, PairSource)
        lowest, highest = source.grades
        self.spec = TreePairSpec(about["vocabulary_size"], **about["shapes"], lowest=lowest, highest=highest)

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return collate_pairs
