"""Word vectors in the three formats, and files that are not what they should be."""

import bz2
import gzip
import io
import lzma
import pickle
import re
import struct
import tarfile
import zipfile

import numpy as np
import pytest
import torch

from tests.data.serving import written
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


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same(tmp_path, name):
    found = read_vectors(written(tmp_path / name, FORMATS[name]), WORDS)
    assert found.found.tolist() == [False, False, True, False, True]
    assert found.rows.dtype == torch.float32
    assert found.rows.tolist() == [[0, 0, 0], [0, 0, 0], VECTORS["été"], [0, 0, 0], VECTORS["the"]]
    assert found.coverage == pytest.approx(2 / 5)


def test_a_file_larger_than_a_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr("zoo.data.text.vectors.CHUNK", 64)
    vectors = {f"w{n}": [n, n + 0.5, -n] for n in range(1000)}
    found = read_vectors(written(tmp_path / "a.bin", binary(vectors)), list(vectors))
    assert found.found.all()
    np.testing.assert_array_equal(found.rows.numpy(), np.array(list(vectors.values()), np.float32))


def test_the_first_of_two_counts(tmp_path):
    path = written(tmp_path / "a.txt", b"a 1 2\na 3 4\n")
    assert read_vectors(path, ["a"]).rows.tolist() == [[1, 2]]


# The vectors of four words in files in which one of the first lines alone is misleading.
PLAIN = {"good": [0.25, -1.5], "fine": [3.5, 0.5], "bad": [-2.0, 1e-3], "dull": [0.0, 4.0]}
UNUSUAL = {
    "a byte order mark": b"\xef\xbb\xbf" + text(PLAIN),
    "a byte order mark before a header": b"\xef\xbb\xbf4 2\n" + text(PLAIN),
    "dots with blanks first": b". . . 1 2\n" + text(PLAIN),
    "a token that ends in a number first": b"at 2.5 1 2\n" + text(PLAIN),
    "a token that is a number first": b"1999 1 2\n" + text(PLAIN),
    "a token with a blank after the header": b"5 2\nNew York 1 2\n" + text(PLAIN),
    "a number after the header": b"5 2\n10 1 2\n" + text(PLAIN),
    "bytes that are not UTF-8 after the header": b"5 2\n\xff\xfe 1 2\n" + text(PLAIN),
    "an empty token": text(PLAIN) + b" 1 2\n",
    "a line break as a token": b"5 2\n\n 1 2\n" + text(PLAIN),
    "a line break as a token, no header": b"\n 1 2\n" + text(PLAIN),
    "doubled blanks": text(PLAIN).replace(b" ", b"  "),
    "tabs": text(PLAIN).replace(b" ", b"\t"),
    "line ends of Windows": b"4 2\r\n" + text(PLAIN).replace(b"\n", b" \r\n"),
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_the_format_follows_from_more_than_the_first_line(tmp_path, case):
    found = read_vectors(written(tmp_path / "a.txt", UNUSUAL[case]), list(PLAIN))
    np.testing.assert_array_equal(found.rows.numpy(), np.array(list(PLAIN.values()), np.float32))


def test_words_with_blanks_and_numbers_have_vectors(tmp_path):
    words = {". . .": [1.0, 2.0], "at 2.5": [3.0, 4.0], "1 1/2": [5.0, 6.0], "10": [7.0, 8.0]}
    found = read_vectors(written(tmp_path / "a.txt", text(PLAIN | words)), list(words))
    assert found.rows.tolist() == list(words.values())


def archive(kind):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") if kind == "zip" else tarfile.open(fileobj=file, mode="w") as packed:
        packed.writestr("glove.txt", text(PLAIN)) if kind == "zip" else packed.addfile(tarfile.TarInfo("glove.txt"))
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (archive("zip"), "a zip archive; unpack it"),
        (archive("tar"), "a tar archive; unpack it"),
        (gzip.compress(text(PLAIN)), "compressed by gzip; rename it to end in .gz"),
        (bz2.compress(text(PLAIN)), "compressed by bzip2; unpack it"),
        (lzma.compress(text(PLAIN)), "compressed by xz; unpack it"),
        (pickle.dumps(PLAIN), "a Python pickle"),
        (text(PLAIN).decode().encode("utf-16"), "text in UTF-16; save it as UTF-8"),
        (b"\x93NUMPY\x01\x00", "an array of NumPy"),
        (b"\x89PNG\r\n", "a PNG picture"),
    ],
    ids=["zip", "tar", "gzip", "bzip2", "xz", "pickle", "utf-16", "npy", "png"],  # packed bytes hold the time
)
def test_other_formats_are_named(tmp_path, content, name):
    path = written(tmp_path / "a.vec", content)
    with pytest.raises(DataError, match=rf"^{re.escape(str(path))}: the file is {re.escape(name)}"):
        read_vectors(path, ["good"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"a 1 2 3\nb 1 2\n", ", line 2: found 2 numbers after the word, expected 3"),
        (b"2 3\na 1 2 3\nb 1 2\n", ", line 3: found 2 numbers after the word, expected 3"),
        (b"a 1 2\na 3 4 b 1 2 1 2\n", ", line 2: found 4 numbers after the word, expected 2"),  # two lines in one
        (b"a 1 2\nb 1 x\n", ", line 2: could not convert string to float"),
        (b"a 1 2\nb 1 nan\n", ", line 2: the vector has a number that is not finite"),
        (b"2 2\na 1 2\n", ": the file ends after 1 of 2 vectors"),
        (b"2 3\n", ": the file ends after 0 of 2 vectors"),
        (binary(VECTORS)[:-6], ": the file ends after 2 of 3 vectors"),
        (binary({"a": [float("inf"), 0, 0]}), ", vector 1: the vector has a number that is not finite"),
        (b"1 3\n" + b"\xff" * 100_000, ": vector 1: no word where one is expected"),
        (b"once upon a time\n", ", line 1: found 'once upon a time'; expected one word and its numbers per line"),
        (b"zebra 1 2\n", ": none of the 2 words of the vocabulary has a vector in this file"),
    ],
)
def test_errors(tmp_path, monkeypatch, content, message):
    monkeypatch.setattr("zoo.data.text.vectors.CHUNK", 1024)
    path = written(tmp_path / "a.vec", content)
    with pytest.raises(DataError, match=rf"^{re.escape(str(path))}.*{re.escape(message)}"):
        read_vectors(path, ["a", "b"])


def test_a_broken_gz(tmp_path):
    packed = gzip.compress(text({f"w{n}": np.random.default_rng(n).normal(size=3).tolist() for n in range(500)}))
    with pytest.raises(DataError, match=r"a.txt.gz: cannot be read"):
        read_vectors(written(tmp_path / "a.txt.gz", packed[:-2000]), ["w0"])
    with pytest.raises(DataError, match=r"b.txt.gz: cannot be read"):
        read_vectors(written(tmp_path / "b.txt.gz", b"w0 1 2 3"), ["w0"])
