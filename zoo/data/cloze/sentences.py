"""The distinct sentences of the documents of a split, on which language models are trained."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zoo.data.stored import offsets

Ints = NDArray[np.int64]


def distinct_sentences(tables: Iterable[pa.Table]) -> tuple[Ints, Ints]:
    """The word ids of all distinct sentences in sequence, and the length of each sentence, from the columns `document`
    and `ends`.

    The documents of CBT are passages of books that overlap, so that a sentence is in up to twenty of them. Sentences
    are compared by 64 bits that depend on all their words.
    """
    parts = [_distinct(*_sentences(table)) for table in tables]
    text, lengths, keys = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _distinct(text, lengths, keys)[:2]


def _sentences(table: pa.Table) -> tuple[Ints, Ints, Ints]:
    """The words of some documents, the lengths of their sentences that are not empty, and a key of each sentence."""
    documents, ends = table["document"].combine_chunks(), table["ends"].combine_chunks()
    text, end = (np.asarray(part.flatten()).astype(np.int64) for part in (documents, ends))
    lengths = np.diff(end, prepend=0)
    first = offsets(ends.value_lengths())[:-1]
    first = first[np.asarray(ends.value_lengths()) > 0]
    lengths[first] = end[first]
    lengths = lengths[lengths > 0]
    return text, lengths, _keys(text, lengths)


def _keys(text: Ints, lengths: Ints) -> Ints:
    """64 bits of each sentence: the sum over its words of a number that depends on the word and its position."""
    begins = offsets(lengths)[:-1]
    place = np.arange(len(text)) - np.repeat(begins, lengths)
    numbers = _mixed(_mixed(text.astype(np.uint64)) + place.astype(np.uint64))
    return np.add.reduceat(numbers, begins).view(np.int64) if len(begins) else np.zeros(0, np.int64)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014), which mixes the 64 bits of each number."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _distinct(text: Ints, lengths: Ints, keys: Ints) -> tuple[Ints, Ints, Ints]:
    """The first sentence of each key, in their order."""
    _, first = np.unique(keys, return_index=True)
    kept = np.zeros(len(keys), bool)
    kept[first] = True
    return text[np.repeat(kept, lengths)], lengths[kept], keys[kept]
