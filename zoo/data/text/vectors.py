"""Pretrained word vectors from the files of word2vec (text or binary) and GloVe (text), packed by gzip or not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.rows import line_of, open_binary, reading
from zoo.errors import DataError

HEADER = re.compile(rb"(\d+) (\d+)\s*")
TEXT_VECTOR = re.compile(rb"\S+(?: +[-+\d.eE]+)+\s*")
LONGEST_WORD = 10_000
"""Bytes; more without a blank mean that a binary file is broken."""
CHUNK = 2**22

Pairs = Iterator[tuple[int, NDArray[np.float32]]]


class WordVectors(NamedTuple):
    """Vectors for the words of a vocabulary."""

    rows: Tensor
    """(V, E) a vector for each word, zero where there is none."""
    found: Tensor
    """(V,) True for words that have a vector."""

    @property
    def coverage(self) -> float:
        """Share of the words that have a vector."""
        return float(self.found.float().mean())


def read_vectors(path: Path, words: Sequence[str]) -> WordVectors:
    """The vectors of `words`; those of other words are passed over.

    A word that stands twice keeps its first vector. Raises DataError where the file is broken, a vector has another
    width than the first, or none of the words has a vector.
    """
    wanted = {word.encode(): number for number, word in enumerate(words)}
    with open_binary(path) as file, reading(path):
        width, pairs = _open(path, file, wanted)
        rows, found = np.zeros((len(words), width), np.float32), np.zeros(len(words), bool)
        for number, vector in pairs:
            if not found[number]:
                rows[number], found[number] = vector, True
    if not found.any():
        reason = "is it for another language, or another case?"
        raise DataError(
            f"{path}: none of the {len(words):,} words of the vocabulary has a vector in this file; {reason}"
        )
    return WordVectors(torch.from_numpy(rows), torch.from_numpy(found))


def _open(path: Path, file: IO[bytes], wanted: Mapping[bytes, int]) -> tuple[int, Pairs]:
    """The width of the vectors and the wanted ones, from a file of any of the three formats."""
    first = file.readline(CHUNK)
    second = file.readline(CHUNK)
    if header := HEADER.fullmatch(first):
        count, width = int(header[1]), int(header[2])
        if TEXT_VECTOR.fullmatch(second) or not second:
            return width, _text(path, chain([second] if second else [], file), 2, width, wanted, count)
        file.seek(len(first))
        return width, _binary(path, file, count, width, wanted)
    if not TEXT_VECTOR.fullmatch(first):
        expected = "a word and its numbers (GloVe), or the number and the width of the vectors (word2vec) are expected"
        raise DataError(f"{line_of(path, 1)}: {expected}, found {first[:40]!r}")
    return len(first.split()) - 1, _text(
        path, chain([first, second] if second else [first], file), 1, len(first.split()) - 1, wanted
    )


def _text(
    path: Path, lines: Iterator[bytes], number: int, width: int, wanted: Mapping[bytes, int], count: int | None = None
) -> Pairs:
    first, found = number, 0
    for found, line in enumerate(lines, 1):
        number = first + found - 1
        # Words may hold blanks (". . ." in GloVe 840B): the numbers are counted from the right.
        word, *numbers = line.rstrip().rsplit(b" ", width)
        if len(numbers) < width or (b" " in word and _is_number(word.rsplit(b" ", 1)[1])):
            raise DataError(f"{line_of(path, number)}: found {line.rstrip().count(b' ')} numbers, {width} are expected")
        if word in wanted:
            try:
                vector = np.array([float(part) for part in numbers], np.float32)
            except ValueError as error:
                raise DataError(f"{line_of(path, number)}: {error}") from error
            yield wanted[word], _finite(vector, line_of(path, number))
    if count is not None and found < count:
        raise DataError(f"{path}: ends after {found:,} of {count:,} vectors")


def _is_number(word: bytes) -> bool:
    return re.fullmatch(rb"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?", word) is not None


def _binary(path: Path, file: IO[bytes], count: int, width: int, wanted: Mapping[bytes, int]) -> Pairs:
    buffer, at, size = b"", 0, 4 * width
    for number in range(1, count + 1):
        while (blank := buffer.find(b" ", at)) < 0 or len(buffer) < blank + 1 + size:
            more = file.read(max(CHUNK, size))
            if not more:
                raise DataError(f"{path}: ends after {number - 1:,} of {count:,} vectors")
            if blank < 0 and len(buffer) - at > LONGEST_WORD:
                raise DataError(
                    f"{path}: vector {number:,}: no word is found where one should stand; the file is broken"
                )
            buffer, at = buffer[at:] + more, 0
        word = buffer[at:blank].lstrip(b"\n")  # word2vec ends a vector by a line break, gensim does not
        at = blank + 1 + size
        if word in wanted:
            yield wanted[word], _finite(np.frombuffer(buffer[blank + 1 : at], "<f4"), f"{path}, vector {number}")


def _finite(vector: NDArray[np.float32], place: str) -> NDArray[np.float32]:
    if not np.isfinite(vector).all():
        raise DataError(f"{place}: the vector is not finite")
    return vector
