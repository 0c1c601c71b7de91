"""From a source of trees to ids on the disk, once: trees -> splits -> vocabulary of the training split -> ids."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zoo.data.notes import key, majority, mostly_unknown, repeated
from zoo.data.options import SplitOptions
from zoo.data.rows import BadRows, beginning, counted
from zoo.data.sources import SPLITS, Source
from zoo.data.stored import (
    ROWS,
    count_words,
    draw_splits,
    histogram,
    list_array,
    map_split,
    numbers_of,
    save,
    values_of,
    write_rows,
)
from zoo.data.text.learning import ids_of, vocabulary_of
from zoo.data.text.vocabulary import READ_SPECIAL, UNKNOWN
from zoo.data.trees.batch import NO_LABEL
from zoo.data.trees.encoding import ONE, TWO, TreeReading
from zoo.data.trees.planting import Planting
from zoo.data.trees.row import Labelled, Pair
from zoo.data.trees.sources import TreeSource
from zoo.data.trees.tree import Tree
from zoo.errors import DataError

FORMAT = 7
"""Raised with any change of what is written, so that folders of another form are not read."""
TREES, ENCODER = "trees", "encoder.json"
NUMBERS, WORDS, FLAGS = pa.list_(pa.int32()), pa.list_(pa.string()), pa.list_(pa.bool_())
WHOLE = re.compile(r"-?[0-9]+")
NAMED = 8
"""Labels that a message names."""
FEW = 0.1
"""Of the trees: so many may be not binary by mistake."""


class Shapes:
    """What the trees of all splits have in common."""

    def __init__(self) -> None:
        self.arity, self.inside, self.trees, self.others = 0, False, 0, 0
        self.first_other = ""
        """Where the first tree stands that is not binary."""
        self.cut = 0
        """Rows of which words were left out."""

    @property
    def binary(self) -> bool:
        return not self.others

    def see(self, tree: Tree, place: str) -> None:
        """Counts one in."""
        self.trees += 1
        self.arity = max(self.arity, tree.arity)
        if not tree.binary:
            self.others += 1
            self.first_other = self.first_other or place
        self.inside = self.inside or any(w >= 0 and below for w, below in zip(tree.word, tree.children, strict=True))

    def facts(self) -> dict[str, Any]:
        """By the names of a `TreeSpec`."""
        return {"arity": self.arity, "binary": self.binary, "words_inside": self.inside}

    def notes(self, noun: str, max_words: int) -> list[str]:
        """On texts that were cut, and on a few trees that keep networks away that want binary ones."""
        found = [f"{self.cut:,} {noun} were cut after {max_words:,} words (data.text.max_words)"] if self.cut else []
        if 0 < self.others <= FEW * self.trees:
            where = f", the first: {self.first_other}" if self.first_other else ""
            said = f"{self.others:,} of {self.trees:,} trees are not binary{where}"
            found.append(f"{said}; data.trees=binarised makes them so")
        return found


def prepare(
    folder: Path,
    steps: Path,
    source: Source,
    planting: Planting,
    split: SplitOptions,
    on_bad_row: Literal["error", "skip"],
    *,
    training_labels: Literal["nodes", "roots"] = "nodes",
) -> dict[str, Any]:
    """Write the trees of `source` and all that a prediction needs into a folder; the description. Raises DataError for
    what cannot be used."""
    bad, shapes, left_out = BadRows(on_bad_row), Shapes(), Counter[str]()
    rows_of: Callable[..., Iterator[dict[str, Any]]]
    sides: Sequence[str]
    if isinstance(source, TreeSource):
        noun, sides, own = "trees", ONE, _LABELS
        rows_of = partial(_labelled, source, left_out=left_out, planting=planting, of=training_labels, learned=set())
    else:
        noun, sides, own = "pairs", TWO, _SCORE
        rows_of = partial(_pairs, planting=planting)
    columns = {f"{name}{side}": kind for side in sides for name, kind in _TREE.items()} | own
    splits = {}
    for name, read in source.splits.items():
        file, before = steps / f"{name}.arrow", bad.problems + left_out
        rows = rows_of(read(bad), shapes=shapes, bad=bad, training=name == "train")
        if not write_rows(file, pa.schema({**columns, "key": pa.int64()}), rows, noun):
            gone = bad.problems + left_out - before
            raise DataError(
                f"{source.place}: no {noun} in the {name} split" + (f"; left out: {counted(gone)}" if gone else "")
            )
        splits[name] = datasets.Dataset.from_file(str(file))
    of_roots = _root_labels(splits["train"]) if isinstance(source, TreeSource) else None
    drawn = [name for name in SPLITS if name not in splits]
    splits = draw_splits(splits, split, source.place, noun, of_roots)
    text = planting.text
    seen = splits if text.vocabulary_splits == "all" else {"train": splits["train"]}
    vocabulary = vocabulary_of(
        planting.tokenizer,
        partial(_counts, seen.values(), [f"forms{side}" for side in sides]),
        READ_SPECIAL,
        minimum_frequency=text.minimum_frequency,
        size=text.vocabulary_size,
        where=source.place,
        examples=f"{sum(map(len, seen.values())):,} {'training ' if len(seen) == 1 else ''}examples",
    )
    classes = _classes(source, splits, training_labels) if isinstance(source, TreeSource) else []
    encode = partial(_encoded, sides=sides, words=pa.array(vocabulary.state()), labels=pa.array(classes, pa.string()))
    encoded = {
        name: map_split(
            part,
            partial(encode, training=name == "train", roots_alone=name == "train" and training_labels == "roots"),
            steps / f"{name}-ids.arrow",
            f"{name}: numbering the words",
        )
        for name, part in splits.items()
    }
    save(encoded, folder / TREES)
    shape = {"inside": planting.inside or shapes.inside, "arity": shapes.arity, "binary": shapes.binary}
    state = TreeReading.plain_state(vocabulary, planting, shape)
    (folder / ENCODER).write_text(json.dumps(state, ensure_ascii=False), "utf-8")
    facts = {name: _described(part, classes, sides) for name, part in encoded.items()}
    train = facts["train"]
    known = {name: count for name, count in train.get("classes", {}).items() if count}
    return {
        "source": source.description.replace("{count}", f"{sum(map(len, encoded.values())):,}"),
        "trees": planting.trees,
        "classes": classes,
        "vocabulary_size": len(vocabulary),
        "shapes": shapes.facts(),
        "skipped": dict(bad.problems),
        "left_out": dict(left_out),
        "splits": facts,
        "drawn": drawn,
        "notes": [
            *repeated({name: _keys(part) for name, part in splits.items()}, noun),
            *(majority(known, noun) if known else ()),
            *mostly_unknown(train["unknown_rate"], text),
            *shapes.notes(noun, text.max_words),
        ],
        "examples": _examples(splits["train"], sides),
    }


# Rows

UNLABELLED = "_"
"""In place of the label of a node that has none, where brackets want one."""
_TREE = {"parent": NUMBERS, "word": NUMBERS, "forms": WORDS, "written": WORDS}
_LABELS = {"label": WORDS, "evidence": FLAGS}
_SCORE = {"score": pa.float64()}


def _labelled(
    source: TreeSource,
    rows: Iterable[Labelled],
    *,
    planting: Planting,
    shapes: Shapes,
    bad: BadRows,
    left_out: Counter[str],
    of: Literal["nodes", "roots"],
    learned: set[str | None],
    training: bool,
) -> Iterator[dict[str, Any]]:
    """`learned` are the labels of training nodes or roots, once these are read: no other root can be said."""
    names = source.classes
    for row in rows:
        tree = planting.of_tree(row.tree)
        if names is None and UNLABELLED in tree.label:
            tree = tree._replace(label=[None if one == UNLABELLED else one for one in tree.label])
        root = tree.label[tree.root]
        if names is not None and (strange := [one for one in tree.label if one is not None and one not in names]):
            bad(row.place, "label out of range", f"found {strange[0]!r}, expected one of {', '.join(names)}")
            continue
        if root is None:
            bad(row.place, "no label", _unlabelled(row.tree))
            continue
        if training:
            learned.update(tree.label if of == "nodes" else [root])
        elif names is None and root not in learned:
            there = ", ".join(sorted(repr(one) for one in learned - {None})[:NAMED])
            bad(row.place, "unknown label", f"{root!r} does not occur in the training trees, where there are {there}")
            continue
        label = tree.label if names is None else [None if one is None else names[one] for one in tree.label]
        if source.neutral is not None and label[tree.root] == source.neutral:
            left_out[f"{source.neutral} as a whole"] += 1
            continue
        shapes.see(tree, row.place)
        shapes.cut += row.cut
        evidence = row.evidence if tree is row.tree else None
        yield _row(tree, planting, "") | {"label": label, "evidence": evidence, "key": key([tree.parent, tree.words])}


def _unlabelled(tree: Tree) -> str:
    """What to say of a tree whose root has no label."""
    shown = beginning(" ".join(tree.words))
    if tree.label[tree.root] == UNLABELLED:
        return f"the root of the tree, {shown}, has {UNLABELLED}, which stands for none"
    return f"the root of the tree, {shown}, has none"


def _pairs(
    rows: Iterable[Pair], *, planting: Planting, shapes: Shapes, bad: BadRows, training: bool
) -> Iterator[dict[str, Any]]:
    for row in rows:
        found: dict[str, Any] = {"score": row.score, "key": key([row.first.words, row.second.words])}
        for side, tree in zip(TWO, (row.first, row.second), strict=True):
            tree = planting.of_tree(tree)
            shapes.see(tree, row.place)
            found |= _row(tree, planting, side)
        shapes.cut += row.cut
        yield found


def _row(tree: Tree, planting: Planting, side: str) -> dict[str, Any]:
    columns = {
        "parent": tree.parent,
        "word": tree.word,
        "forms": planting.forms(tree.words),
        "written": tree.words,
    }
    return {f"{name}{side}": values for name, values in columns.items()}


def _counts(parts: Iterable[datasets.Dataset], columns: Sequence[str]) -> Counter[str]:
    """How often each word occurs in some splits."""
    return sum((count_words(part, *columns) for part in parts), Counter[str]())


def _root_labels(part: datasets.Dataset) -> NDArray[Any]:
    """(N,) of the trees of a split."""
    found = []
    for table in part.select_columns(["parent", "label"]).with_format("arrow").iter(batch_size=ROWS):
        label, parent = (table[name].combine_chunks().flatten() for name in ("label", "parent"))
        found.append(np.asarray(label.filter(pc.less(parent, 0))).astype(str))
    return np.concatenate(found)


def _classes(source: TreeSource, splits: Mapping[str, datasets.Dataset], of: Literal["nodes", "roots"]) -> list[str]:
    """The names of the classes, in the order of the logits: those of the source, or the labels of all nodes or roots.
    Raises DataError where there is one alone."""
    if source.classes is not None:
        return list(dict.fromkeys(source.classes.values()))
    found: set[Any] = set()
    for part in splits.values():
        found |= set(count_words(part, "label")) if of == "nodes" else set(_root_labels(part).tolist())
    found -= {None}
    whole = all(WHOLE.fullmatch(name) for name in found)
    names = sorted(found, key=lambda name: (int(name), name)) if whole else sorted(found)
    if len(names) < 2:
        raise DataError(f"{source.place}: all {of} have the label {names[0]!r}; a class needs another beside it")
    return names


def _encoded(
    table: pa.Table, sides: Sequence[str], words: pa.Array, labels: pa.Array, training: bool, roots_alone: bool
) -> pa.Table:
    """Words -> ids, labels -> numbers of classes, and the counts by which a split is described."""
    columns: dict[str, Any] = {}
    for side in sides:
        forms = table[f"forms{side}"].combine_chunks()
        ids = ids_of(forms.flatten(), words, READ_SPECIAL)
        lengths, parent = pc.list_value_length(forms), table[f"parent{side}"].combine_chunks()
        unknown = np.asarray(pc.equal(ids, UNKNOWN)).astype(np.int64)
        begin = np.concatenate([[0], np.cumsum(np.asarray(lengths))]).astype(int)
        total = np.concatenate([[0], np.cumsum(unknown)])
        columns |= {
            f"parent{side}": parent,
            f"word{side}": table[f"word{side}"],
            f"words{side}": list_array(ids, lengths),
            f"num_words{side}": lengths,
            f"num_nodes{side}": pc.list_value_length(parent),
            f"num_unknown{side}": pa.array(np.diff(total[begin])),
        }
        if not training:
            columns[f"text{side}"] = table[f"written{side}"]
    if "score" in table.column_names:
        columns["score"] = table["score"]
        return pa.table(columns)
    label = table["label"].combine_chunks()
    numbers = pc.fill_null(pc.index_in(label.flatten(), labels), NO_LABEL).cast(pa.int32())
    is_root = np.asarray(table["parent"].combine_chunks().flatten()) < 0
    columns["root_label"] = pa.array(np.asarray(numbers)[is_root])
    if roots_alone:
        numbers = pa.array(np.where(is_root, np.asarray(numbers), NO_LABEL), pa.int32())
    columns["label"] = list_array(numbers, pc.list_value_length(label))
    evidence = table["evidence"].combine_chunks()
    if evidence.null_count == 0:
        columns["evidence"] = evidence
    return pa.table(columns)


# Describing


def _described(part: datasets.Dataset, classes: Sequence[str], sides: Sequence[str]) -> dict[str, Any]:
    """Counts of one prepared split."""

    def numbers(name: str) -> Any:
        return np.concatenate([numbers_of(part, f"{name}{side}") for side in sides])

    words = numbers("num_words")
    found: dict[str, Any] = {"pairs" if len(sides) > 1 else "trees": len(part)}
    if classes:
        labels = np.bincount(numbers_of(part, "root_label"), minlength=len(classes))
        found["classes"] = {name: int(count) for name, count in zip(classes, labels, strict=True)}
        every = part.data.column("label").combine_chunks().flatten()
        found["labelled_rate"] = float(np.mean(np.asarray(every) != NO_LABEL))
    else:
        scores = numbers_of(part, "score")
        found["mean_score"] = round(float(scores.mean()), 3)
    return found | {
        "nodes": histogram(numbers("num_nodes")),
        "words": histogram(words),
        "unknown_rate": float(numbers("num_unknown").sum() / max(1, words.sum())),
    }


def _keys(part: datasets.Dataset) -> NDArray[np.int64]:
    """(N,) the `key` of each row of a split, which may be drawn from another one."""
    return np.fromiter(values_of(part, "key"), np.int64, len(part))


def _examples(part: datasets.Dataset, sides: Sequence[str]) -> list[dict[str, str]]:
    first = part.with_format(None).select(range(min(3, len(part))))
    found = []
    for example in first:
        texts = {f"text{side.replace('_', ' ')}": " ".join(example[f"written{side}"]) for side in sides}
        if "score" in example:
            found.append({"score": f"{example['score']:g}", **texts})
        else:
            found.append({"label": str(example["label"][example["parent"].index(-1)]), **texts})
    return found
