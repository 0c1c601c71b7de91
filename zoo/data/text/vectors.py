"""Pretrained word vectors from the files of word2vec (text or binary) and GloVe (text), compressed by gzip or not."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.rows import beginning, line_of, open_binary, reading
from zoo.errors import DataError

HEADER = re.compile(rb"\s*(\d{1,12})\s+(\d{1,6})\s*")
NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SAMPLED_LINES = 100
"""The format is decided from these first lines, since a single one may hold an unusual token."""
LONGEST_WORD = 10_000  # Bytes; more without a blank mean that a binary file is broken
CHUNK = 2**22
EXPECTED = "expected one word and its numbers per line (GloVe), or the files of word2vec (text or binary)"
FORMATS: tuple[tuple[bytes | tuple[bytes, ...], int, str], ...] = (
    (b"PK\x03\x04", 0, "a zip archive; unpack it and pass the file inside"),
    (b"\x1f\x8b", 0, "compressed by gzip; rename it to end in .gz"),
    (b"1AY&SY", 4, "compressed by bzip2; unpack it"),
    (b"\xfd7zXZ\x00", 0, "compressed by xz; unpack it"),
    (b"\x28\xb5\x2f\xfd", 0, "compressed by zstd; unpack it"),
    (b"7z\xbc\xaf\x27\x1c", 0, "a 7z archive; unpack it and pass the file inside"),
    (b"Rar!\x1a", 0, "a rar archive; unpack it and pass the file inside"),
    (b"ustar", 257, "a tar archive; unpack it and pass the file inside"),
    (b"\xff\xfe", 0, "text in UTF-16; save it as UTF-8"),
    (b"\xfe\xff", 0, "text in UTF-16; save it as UTF-8"),
    (b"\xba\x16\x4f\x2f", 0, "a binary model of fastText; pass its .vec file"),
    (b"\x93NUMPY", 0, "an array of NumPy; save the vectors in the text format of word2vec"),
    (
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        0,
        "a Python pickle, as gensim saves models; use save_word2vec_format",
    ),
    (b"\x89HDF", 0, "an HDF5 file; save the vectors in the text format of word2vec"),
    (b"PAR1\x15", 0, "a parquet file; save the vectors in the text format of word2vec"),
    (b"SQLite format 3", 0, "an SQLite database, as magnitude writes it; pass the original vectors"),
    (b"\x89PNG", 0, "a PNG picture"),
    (b"%PDF-", 0, "a PDF document"),
)
"""First bytes of other formats, their offset, and the advice to the user."""

Pairs = Iterator[tuple[int, NDArray[np.float32]]]


class WordVectors(NamedTuple):
    """Vectors for the words of a vocabulary."""

    rows: Tensor  # (V, E) a vector for each word, zero without one
    found: Tensor  # (V,) True for words that have a vector

    @property
    def coverage(self) -> float:
        """Share of the words that have a vector."""
        return float(self.found.float().mean())


class _Layout(NamedTuple):
    """How a file of vectors is written."""

    width: int  # Numbers per vector
    skipped: int  # Bytes before the first vector: a byte order mark and the header line
    promised: int | None  # The number of vectors that the header promises; None without a header
    binary: bool


def read_vectors(path: Path, words: Sequence[str]) -> WordVectors:
    """Read the vectors of `words`; those of other words are ignored. The first of two vectors for one word counts.

    Raises DataError if the file is broken, a vector has another width than the others, or no word has a vector.
    """
    wanted = {word.encode(): number for number, word in enumerate(words)}
    with open_binary(path) as file, reading(path):
        layout = _layout(path, file)
        file.seek(layout.skipped)
        pairs = (_binary if layout.binary else _text)(path, file, layout, wanted)
        rows, found = np.zeros((len(words), layout.width), np.float32), np.zeros(len(words), bool)
        for number, vector in pairs:
            if not found[number]:
                rows[number], found[number] = vector, True
    if not found.any():
        raise DataError(
            f"{path}: none of the {len(words):,} words of the vocabulary has a vector in this file; "
            "check that it is for the same language and case"
        )
    return WordVectors(torch.from_numpy(rows), torch.from_numpy(found))


def _layout(path: Path, file: IO[bytes]) -> _Layout:
    """Decide the format from the first lines. Raises DataError for other files, with the name of their format."""
    start = file.read(512)
    for magic, offset, name in FORMATS:
        if start[offset:].startswith(magic):
            raise DataError(f"{path}: the file is {name}; {EXPECTED}")
    skipped = len(BYTE_ORDER_MARK) if start.startswith(BYTE_ORDER_MARK) else 0
    file.seek(skipped)
    first = file.readline(CHUNK)
    lines = [line for _ in range(SAMPLED_LINES) if (line := file.readline(CHUNK))]
    if header := HEADER.fullmatch(first):
        count, width = int(header[1]), int(header[2])
        text = any(_numbers_at_end(line) >= width for line in lines) or _is_text(b"".join(lines))
        return _Layout(width, skipped + len(first), count, not text)
    widths = Counter(_text_width(line) for line in (first, *lines) if line.strip())
    width, _ = widths.most_common(1)[0] if widths else (0, 0)
    if width < 1:
        found = beginning(first.decode(errors="replace").strip(), 40)
        raise DataError(f"{line_of(path, 1)}: found {found}; {EXPECTED}")
    return _Layout(width, skipped, None, False)


def _text_width(line: bytes) -> int:
    """The number of numbers after the word of a line; a word may look like a number, too, or be empty."""
    fields = len(line.split())
    return min(_numbers_at_end(line), fields if line[:1].isspace() else fields - 1)


def _numbers_at_end(line: bytes) -> int:
    fields = line.split()
    return next((at for at, field in enumerate(reversed(fields)) if not NUMBER.fullmatch(field)), len(fields))


def _is_text(sample: bytes) -> bool:
    """Whether some lines are text; a binary vector is hardly ever valid UTF-8 without control characters."""
    try:
        return sample.decode().replace("\n", "").replace("\r", "").replace("\t", "").isprintable()
    except UnicodeDecodeError:
        return False


def _text(path: Path, file: IO[bytes], layout: _Layout, wanted: Mapping[bytes, int]) -> Pairs:
    """The wanted vectors of lines that hold a word and `layout.width` numbers."""
    width, first, vectors = layout.width, 1 if layout.promised is None else 2, 0
    for number, line in enumerate(file, first):
        # The numbers are counted from the right, since a word may hold blanks (". . ." in GloVe 840B).
        fields = line.rsplit(None, width)
        if len(fields) > width:
            word = fields[0].lstrip()
        elif len(fields) == width and line[:1].isspace():
            word = b""  # the vector of an empty token, or of a line break
        elif fields:
            raise DataError(
                f"{line_of(path, number)}: found {len(fields) - 1} numbers after the word, expected {width}"
            )
        else:
            continue
        vectors += 1
        if b" " in word and _numbers_at_end(word) >= max(width, 1):
            found = _numbers_at_end(line)
            raise DataError(f"{line_of(path, number)}: found {found} numbers after the word, expected {width}")
        if word in wanted:
            try:
                vector = np.array([float(part) for part in fields[1:]], np.float32)
            except ValueError as error:
                raise DataError(f"{line_of(path, number)}: {error}; expected {width} numbers after the word") from error
            yield wanted[word], _finite(vector, line_of(path, number))
    if layout.promised is not None and vectors < layout.promised:
        raise DataError(f"{path}: the file ends after {vectors:,} of {layout.promised:,} vectors; get it again")


def _binary(path: Path, file: IO[bytes], layout: _Layout, wanted: Mapping[bytes, int]) -> Pairs:
    """The wanted vectors of a binary file: a word, a blank and the little-endian float32 numbers, again and again."""
    buffer, at, size, count = b"", 0, 4 * layout.width, layout.promised or 0
    for number in range(1, count + 1):
        while (blank := buffer.find(b" ", at)) < 0 or len(buffer) < blank + 1 + size:
            more = file.read(max(CHUNK, size))
            if not more:
                raise DataError(f"{path}: the file ends after {number - 1:,} of {count:,} vectors; get it again")
            if blank < 0 and len(buffer) - at > LONGEST_WORD:
                raise DataError(f"{path}: vector {number:,}: no word where one is expected; the file is broken")
            buffer, at = buffer[at:] + more, 0
        word = buffer[at:blank].lstrip(b"\n")  # word2vec ends a vector by a line break, gensim does not
        at = blank + 1 + size
        if word in wanted:
            yield wanted[word], _finite(np.frombuffer(buffer[blank + 1 : at], "<f4"), f"{path}, vector {number}")


def _finite(vector: NDArray[np.float32], place: str) -> NDArray[np.float32]:
    if not np.isfinite(vector).all():
        raise DataError(f"{place}: the vector has a number that is not finite")
    return vector
