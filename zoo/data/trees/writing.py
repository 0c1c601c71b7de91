"""Trees written in the official format of their corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from zoo.data.cache import write_new
from zoo.data.rows import BadRows
from zoo.data.sources import Source
from zoo.data.trees.brackets import written
from zoo.data.trees.dependency_files import OUTSIDE
from zoo.data.trees.sick_files import PARSES, Parse
from zoo.data.trees.tree import Tree

OFFICIAL = {"train": "train", "val": "dev", "test": "test"}


def write_trees(source: Source, folder: Path, bad: BadRows) -> list[Path]:
    """Write train.txt, dev.txt and test.txt, with one bracketed tree per line; return their paths."""

    def lines(split: str) -> Iterator[str]:
        return (f"{written(row.tree)}\n" for row in source.splits[split](bad))

    return write_new(folder, {f"{OFFICIAL[split]}.txt": lines(split) for split in source.splits})


def write_pairs(source: Source, folder: Path, parse: Parse, bad: BadRows) -> list[Path]:
    """Write the parsed pairs as the authors of the Tree-LSTM prepare them; return the paths.

    Each of the folders train, dev and test gets a.toks and b.toks (tokens with blanks between), their parents, and
    sim.txt (one score per line).
    """
    suffix, _ = PARSES[parse]
    heads = dependency_heads if parse == "dependency" else constituency_parents
    texts: dict[str, list[str]] = {}
    for split, read in source.splits.items():
        rows = list(read(bad))
        for side, trees in (("a", [row.first for row in rows]), ("b", [row.second for row in rows])):
            texts[f"{OFFICIAL[split]}/{side}.toks"] = [f"{' '.join(tree.words)}\n" for tree in trees]
            texts[f"{OFFICIAL[split]}/{side}.{suffix}"] = [f"{' '.join(map(str, heads(tree)))}\n" for tree in trees]
        texts[f"{OFFICIAL[split]}/sim.txt"] = [f"{row.score:g}\n" for row in rows]
    return write_new(folder, texts)


def dependency_heads(tree: Tree) -> list[int]:
    """The number of each word's head, from 1; 0 for the root, -1 for a word that is not in the tree."""
    found = [OUTSIDE] * len(tree.words)
    for word, above in zip(tree.word, tree.parent, strict=True):
        found[word] = tree.word[above] + 1 if above >= 0 else 0
    return found


def constituency_parents(tree: Tree) -> list[int]:
    """The number of each node's parent, from 1, 0 for the root; the words are the first nodes, in their order."""
    order = sorted(range(len(tree.parent)), key=lambda node: (tree.word[node] < 0, tree.word[node], node))
    return [above + 1 for above in tree.numbered(order).parent]
