"""Word vectors in the three formats, and files that are not what they should be."""

import gzip
import re
import struct

import numpy as np
import pytest
import torch

from zoo.data.text.vectors import read_vectors
from zoo.errors import DataError

VECTORS = {"the": [0.5, -1.0, 2.0], "été": [1.25, 0.0, -3.0], "a b": [7.0, 8.0, 9.0]}
WORDS = ["<pad>", "<unk>", "été", "missing", "the"]


def text(vectors):
    return "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in vectors.items()).encode()


def binary(vectors, after=b"\n"):
    rows = (word.encode() + b" " + struct.pack("<3f", *vector) + after for word, vector in vectors.items())
    return f"{len(vectors)} 3\n".encode() + b"".join(rows)


FORMATS = {
    "glove.txt": text(VECTORS),
    "word2vec.txt": b"3 3\n" + text(VECTORS),
    "word2vec.bin": binary(VECTORS),
    "gensim.bin": binary(VECTORS, b""),
    "glove.txt.gz": gzip.compress(text(VECTORS)),
    "word2vec.bin.gz": gzip.compress(binary(VECTORS)),
}


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same(tmp_path, name):
    found = read_vectors(written(tmp_path, name, FORMATS[name]), WORDS)
    assert found.found.tolist() == [False, False, True, False, True]
    assert found.rows.dtype == torch.float32
    assert found.rows.tolist() == [[0, 0, 0], [0, 0, 0], VECTORS["été"], [0, 0, 0], VECTORS["the"]]
    assert found.coverage == pytest.approx(2 / 5)


def test_a_file_larger_than_a_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr("zoo.data.text.vectors.CHUNK", 64)
    vectors = {f"w{n}": [n, n + 0.5, -n] for n in range(1000)}
    found = read_vectors(written(tmp_path, "a.bin", binary(vectors)), list(vectors))
    assert found.found.all()
    np.testing.assert_array_equal(found.rows.numpy(), np.array(list(vectors.values()), np.float32))


def test_the_first_of_two_counts(tmp_path):
    path = written(tmp_path, "a.txt", b"a 1 2\na 3 4\n")
    assert read_vectors(path, ["a"]).rows.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"a 1 2 3\nb 1 2\n", ", line 2: found 2 numbers, 3 are expected"),
        (b"a 0.1 0.2\nb 0.1 0.2 0.3\n", ", line 2: found 3 numbers, 2 are expected"),
        (b"2 3\na 1 2 3\nb 1 2\n", ", line 3: found 2 numbers, 3 are expected"),
        (b"a 1 2\nb 1 x\n", ", line 2: could not convert string to float"),
        (b"a 1 2\nb 1 nan\n", ", line 2: the vector is not finite"),
        (b"2 2\na 1 2\n", ": ends after 1 of 2 vectors"),
        (b"2 3\n", ": ends after 0 of 2 vectors"),
        (binary(VECTORS)[:-6], ": ends after 2 of 3 vectors"),
        (binary({"a": [float("inf"), 0, 0]}), ", vector 1: the vector is not finite"),
        (b"1 3\n" + b"\xff" * 100_000, ": vector 1: no word is found where one should stand"),
        (b"once upon a time\n", ", line 1: a word and its numbers (GloVe), or"),
        (b"\x89PNG\r\n", ", line 1: a word and its numbers (GloVe), or"),
        (b"zebra 1 2\n", ": none of the 2 words of the vocabulary has a vector in this file"),
    ],
)
def test_errors(tmp_path, monkeypatch, content, message):
    monkeypatch.setattr("zoo.data.text.vectors.CHUNK", 1024)
    path = written(tmp_path, "a.vec", content)
    with pytest.raises(DataError, match=rf"^{re.escape(str(path))}.*{re.escape(message)}"):
        read_vectors(path, ["a", "b"])


def test_a_broken_gz(tmp_path):
    packed = gzip.compress(text({f"w{n}": np.random.default_rng(n).normal(size=3).tolist() for n in range(500)}))
    with pytest.raises(DataError, match=r"a.txt.gz: cannot be read"):
        read_vectors(written(tmp_path, "a.txt.gz", packed[:-2000]), ["w0"])
    with pytest.raises(DataError, match=r"b.txt.gz: cannot be read"):
        read_vectors(written(tmp_path, "b.txt.gz", b"w0 1 2 3"), ["w0"])
