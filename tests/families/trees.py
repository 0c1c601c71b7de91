"""Random trees, for the families of both tasks that read them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.families import LONG, Family
from zoo.data.trees.batch import Trees

WORDS = 30
"""Size of the vocabulary."""


class TreeFamily(Family):
    """The parts of a family that are the same for both tasks. Batches of trees have no padding."""

    long = (LONG, 3)

    def part(self, batch: Any, rows: Sequence[int]) -> Any:
        return batch.chosen(rows)

    def padded(self, batch: Any) -> Any:
        return batch

    def scribbled(self, batch: Any) -> Any:
        return batch


def random_binary(words: int, draw: np.random.Generator) -> list[int]:
    """Parents of a random binary tree over some words, numbered from the top."""
    parent: list[int] = []
    waiting = [(words, -1)] if words else []
    while waiting:
        size, above = waiting.pop()
        parent.append(above)
        if size > 1:
            left = int(draw.integers(1, size))
            waiting += [(size - left, len(parent) - 1), (left, len(parent) - 1)]
    return parent


def random_trees(lengths: Sequence[int], seed: int) -> Trees:
    """A random binary tree over so many random words each."""
    return trees_of([random_binary(words, np.random.default_rng([seed, n])) for n, words in enumerate(lengths)], seed)


def trees_of(parents: Sequence[Sequence[int]], seed: int) -> Trees:
    """Trees with random words at the leaves."""
    draw = np.random.default_rng(seed)
    word = [np.where(np.isin(np.arange(len(one)), one), -1, 0) for one in parents]
    word = [np.where(one < 0, -1, (one == 0).cumsum() - 1) for one in word]
    words_in = [int((one >= 0).sum()) for one in word]
    words = draw.integers(2, WORDS, sum(words_in))
    flat = [node for one in parents for node in one]
    return Trees.of(flat, [len(one) for one in parents], np.concatenate([np.zeros(0, int), *word]), words, words_in)
