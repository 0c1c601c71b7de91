"""Reading texts: encodings with the place of what is wrong, packed files, cuts at lines, and pieces that fit."""

import codecs
import gzip
import zipfile

import pytest

from zoo.data.language import reading
from zoo.data.language.reading import Passage, decoded, raw, unzipped
from zoo.errors import DataError


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(reading, "PIECE", 5)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252", "gb18030"])
@pytest.mark.usefixtures("small_pieces")
def test_letters_and_line_ends_across_pieces(tmp_path, encoding):
    text = "één zin\r\nnog ééń\rslot\n" if encoding != "cp1252" else "één zin\r\nnog één\rslot\n"
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    expected = text.replace("\r\n", "\n").replace("\r", "\n")
    assert "".join(decoded(tmp_path / "a.txt", encoding)) == expected


def test_a_packed_file_and_a_mark_of_byte_order(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(codecs.BOM_UTF8 + b"one\ntwo\n"))
    assert "".join(decoded(tmp_path / "a.txt.gz", "utf-8")) == "one\ntwo\n"


@pytest.mark.usefixtures("small_pieces")
def test_a_wrong_byte_is_named_with_its_place(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"good text, then caf" + b"\xe9 and more")
    with pytest.raises(DataError, match=r"a.txt: not UTF-8: byte 0xe9 at offset 19; .*cp1252.*data.loader.encoding"):
        [*decoded(tmp_path / "a.txt", "utf-8")]
    (tmp_path / "cut.txt").write_bytes("une fin é".encode()[:-1])
    with pytest.raises(DataError, match="byte 0xc3 at offset 8"):
        [*decoded(tmp_path / "cut.txt", "utf-8")]


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "empty.txt").touch()
    with pytest.raises(DataError, match=r"empty.txt: the file is empty"):
        [*raw(tmp_path / "empty.txt")]
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"one\n" * 1000)[:-9])
    with pytest.raises(DataError, match=r"cut.txt.gz: cannot be read"):
        [*decoded(tmp_path / "cut.txt.gz", "utf-8")]
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("other", "text")
    with pytest.raises(DataError, match=r"a.zip: holds no text8; found: other"):
        [*unzipped(tmp_path / "a.zip", "text8")]


def test_a_text_is_cut_at_lines_words_or_letters(tmp_path):
    def parts(text, shares, lines=True):
        passage = Passage.written(tmp_path / "text", [text])
        return ["".join(part.pieces()) for part in passage.cut(shares, lines=lines)]

    assert parts("one two\nthree four\nfive six\n", [0.5, 0.5]) == ["one two\nthree four\n", "five six\n"]
    assert parts("one two three four five", [0.5, 0.5]) == ["one two three ", "four five"]
    assert parts("ééééé", [0.5, 0.5], lines=False) == ["ééé", "éé"]
    assert parts("0123456789" * 10, [0.9, 0.05, 0.05], lines=False) == ["0123456789" * 9, "01234", "56789"]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("text", ["a b\ncd ef\nghijklmnop qr\n\n s", "éééééééé", "", "x" * 23])
def test_pieces_are_the_text_and_end_where_they_may(tmp_path, text):
    pieces = list(Passage.written(tmp_path / "text", [text]).pieces())
    assert "".join(pieces) == text and all(len(piece.encode()) <= 5 for piece in pieces)
    for piece in pieces[:-1]:
        assert piece[-1] in "\n " or (" " not in piece and "\n" not in piece)
