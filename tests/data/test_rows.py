"""Lines of text, packed or not; and whatever cannot be read is named."""

import gzip
import io
import re

import pytest
from PIL import Image

from zoo.data.rows import Lines, read_lines, reading
from zoo.errors import DataError


def test_a_picture_that_cannot_be_decoded_is_named(tmp_path):
    whole = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(whole, "PNG")
    for name, content in (("text.png", b"no picture"), ("cut.png", whole.getvalue()[:500])):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"^{re.escape(str(path))}: cannot be read: "), reading(path):
            Image.open(path).load()


TEXT = "\ufeffein mann .\r\n\neine\u2028frau\u0085.\n ."
LINES = ["ein mann .", "", "eine\u2028frau\u0085.", " ."]


def test_lines_are_cut_at_line_feeds_alone_wherever_they_come_from(tmp_path):
    raw = TEXT.encode()
    (tmp_path / "a.txt").write_bytes(raw)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(raw))
    assert read_lines(tmp_path / "a.txt") == read_lines(tmp_path / "a.txt.gz") == LINES
    assert read_lines("standard input", io.BytesIO(raw)) == LINES
    assert read_lines("standard input", io.BytesIO(raw + b"\n\n")) == [*LINES, ""]
    assert read_lines("standard input", io.BytesIO()) == []
    with Lines(tmp_path / "a.txt.gz") as lines:
        assert [line.rstrip("\r\n") for line in lines] == LINES


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (
            b"ein\ncaf\xe9\n",
            r"standard input, line 2: not UTF-8: byte 0xe9 at offset 7 .*probably cp1252: save it",
        ),
        (b"ein\nm\0ann\n", r"standard input, line 2: NUL byte: the file is binary or damaged"),
        ("ein".encode("utf-16"), r"standard input: not UTF-8: the file is probably utf-16: save it as UTF-8"),
    ],
)
def test_lines_of_what_is_no_text(raw, message):
    with pytest.raises(DataError, match=f"^{message}"):
        read_lines("standard input", io.BytesIO(raw))


def test_a_file_that_was_packed_badly_is_to_be_packed_again(tmp_path):
    path, whole = tmp_path / "a.txt.gz", gzip.compress(TEXT.encode() * 50)
    for content in (b"ein mann .\n", whole[:-9], whole[:12] + b"\xff\xff" + whole[14:]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"^{path}(, line \d+)?: cannot be read: .*; pack it again$"):
            read_lines(path)
    with pytest.raises(DataError, match=rf"^{tmp_path}: cannot be read: Is a directory$"):
        read_lines(tmp_path)
    (tmp_path / "empty.txt").touch()
    with pytest.raises(DataError, match=r"empty\.txt: the file is empty$"):
        read_lines(tmp_path / "empty.txt")
