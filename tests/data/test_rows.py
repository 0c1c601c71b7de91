"""Lines of text files in any encoding: what is read, what is named, and that no option hides a wrong encoding."""

import gzip
import io
import json
import re

import pytest
from PIL import Image

from tests.data.serving import prepared, written
from zoo.data.documents.own import OwnDocuments
from zoo.data.documents.readers import read_table, read_yelp_json
from zoo.data.encodings import proposal
from zoo.data.images.readers import read_coco, read_karpathy
from zoo.data.rows import BadRows, Lines, NotJson, guarded, parse_json, read_lines, reading
from zoo.data.stories.readers import read_json
from zoo.errors import DataError


def test_a_picture_that_cannot_be_decoded_is_named(tmp_path):
    whole = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(whole, "PNG")
    for name, content in (("text.png", b"no picture"), ("cut.png", whole.getvalue()[:500])):
        path = written(tmp_path / name, content)
        with pytest.raises(DataError, match=rf"^{re.escape(str(path))}: cannot be read: "), reading(path):
            Image.open(path).load()


TEXT = "\ufeffein mann .\r\n\neine\u2028frau\u0085.\n ."
LINES = ["ein mann .", "", "eine\u2028frau\u0085.", " ."]


def test_lines_are_cut_at_line_feeds_alone_wherever_they_come_from(tmp_path):
    raw = TEXT.encode()
    assert all(read_lines(written(tmp_path / name, TEXT)) == LINES for name in ("a.txt", "a.txt.gz"))
    assert read_lines("standard input", io.BytesIO(raw)) == LINES
    assert read_lines("standard input", io.BytesIO(raw + b"\n\n")) == [*LINES, ""]
    assert read_lines("standard input", io.BytesIO()) == []
    with Lines(tmp_path / "a.txt.gz") as lines:
        assert [line.rstrip("\r\n") for line in lines] == LINES


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"ein\ncaf\xe9\n", r"standard input, line 2: not UTF-8: byte 0xe9 at offset 7 .*probably cp1252: save it"),
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
        written(path, content)
        with pytest.raises(DataError, match=rf"^{path}(, line \d+)?: cannot be read: .*; pack it again$"):
            read_lines(path)
    with pytest.raises(DataError, match=rf"^{tmp_path}: cannot be read: Is a directory$"):
        read_lines(tmp_path)
    with pytest.raises(DataError, match=r"empty\.txt: the file is empty$"):
        read_lines(written(tmp_path / "empty.txt", ""))


TEXTS = {
    "cp1252": "Für die schönen Bücher, größer als die übrigen; naïve cafés.",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "cp1251": "Привет, как дела? Мама мыла раму. Это хороший день.",
    "koi8-r": "Привет, как дела? Мама мыла раму. Это хороший день.",
    "cp1253": "Καλημέρα σας, τι κάνετε σήμερα; Όλα καλά.",
    "shift_jis": "私は学生です。今日は天気がいいですね。",
    "euc_kr": "안녕하세요. 오늘은 날씨가 좋네요.",
    "gb18030": "今天天气很好,我们去公园吧。这是我的书。",
    "big5": "今天天氣很好,我們去公園吧。這是我的書。",
    "utf-16": "Grüße",
    "utf-16-le": "Grüße aus der Stadt",
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_the_encoding_of_a_text_is_proposed(encoding):
    assert proposal(TEXTS[encoding].encode(encoding)) == encoding


def table(tmp_path, encoding="cp1252", count=40):
    """Documents of two classes, one in four with an umlaut."""
    rows = [f'"{"schön" if n % 4 == 0 else "gut"} und alt {n}",{"a" if n % 2 else "b"}\n' for n in range(count)]
    return written(tmp_path / "own.csv", "".join(["text,label\n", *rows]).encode(encoding))


@pytest.mark.parametrize("policy", ["error", "skip"])
def test_a_wrong_encoding_is_never_skipped(tmp_path, policy):
    with pytest.raises(DataError, match=r"own.csv, line 2: not UTF-8: byte 0xf6 .*set data.loader.encoding=cp1252"):
        list(read_table(table(tmp_path), "text", "label", BadRows(policy)))


def test_a_damaged_line_of_a_right_file_can_be_skipped(tmp_path):
    path = table(tmp_path, "utf-8")
    path.write_bytes(path.read_bytes() + b'"sch\xf6n",a\n')
    bad = BadRows("skip")
    assert len(list(read_table(path, "text", "label", bad))) == 40
    assert bad.problems == {"not UTF-8": 1}


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le"])
def test_a_file_is_read_in_the_encoding_that_is_set(tmp_path, encoding):
    rows = list(read_table(table(tmp_path, encoding), "text", "label", BadRows(encoding=encoding)))
    assert len(rows) == 40 and rows[0].text == "schön und alt 0"
    assert rows[4].place.endswith("line 6")


def test_the_key_reaches_the_files(tmp_path, cache_dir):
    data = OwnDocuments(path=str(table(tmp_path)), text={"minimum_frequency": 1}, loader={"encoding": "cp1252"})
    assert "schön" in prepared(data).encoder.vocabulary


def test_a_line_far_into_a_file_shows_its_encoding(tmp_path, monkeypatch):
    monkeypatch.setattr("zoo.data.rows.SAMPLE", 64)
    path = written(tmp_path / "a.txt", b"plain\n" * 100 + "schön\n".encode("cp1252"))
    with pytest.raises(DataError, match=r"line 101: not UTF-8: .*probably cp1252: save it as UTF-8"):
        read_lines(path)
    with Lines(path, encoding="cp1252") as lines:
        assert list(lines)[-1] == "schön\n"


DEEP = "[" * 100_000 + "]" * 100_000
LONG = "9" * 5000
HALF = '"\\ud83d"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DEEP, "nested too deeply"),
        (LONG, "too many digits"),
        (HALF, r"incomplete character: found \\ud83d without the other half"),
        ("{", "not json"),
    ],
)
def test_json_that_cannot_be_used(text, message):
    with pytest.raises(NotJson, match=message):
        parse_json(text)


def karpathy(**image):
    usual = {"filename": "a.jpg", "split": "train", "sentences": [{"raw": "a dog"}]}
    return lambda path, bad: read_karpathy(path, False, bad), {"images": [usual | image]}


def coco(**annotation):
    usual = {"image_id": 1, "caption": "a dog"}
    return {"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [usual | annotation]}


CASES = [
    *(karpathy(split=["train"]), karpathy(filename=["a.jpg"]), karpathy(sentences="a dog")),
    (lambda path, bad: read_karpathy(path, False, bad), {"images": [[1]]}),
    (read_coco, coco(image_id=[1])),
    (read_coco, coco(caption=["a dog"])),
    (read_coco, {"images": [{"id": {}, "file_name": []}], "annotations": [1]}),
    (read_yelp_json, {"stars": [5], "text": "good"}),
    (read_yelp_json, {"stars": 10**400, "text": "good"}),
    (read_yelp_json, {"stars": 5, "text": ["good"]}),
    (lambda path, bad: read_table(path, "text", "label", bad), {"text": ["a"], "label": {"b": 1}}),
    (lambda path, bad: read_json(path, 1, bad), {"story": "a b.", "question": "c?", "answer": ["d"]}),
]


@pytest.mark.parametrize("number", range(len(CASES)))
@pytest.mark.parametrize("policy", ["error", "skip"])
def test_values_of_another_kind_are_one_line_with_the_file(tmp_path, number, policy):
    read, content = CASES[number]
    path, bad = written(tmp_path / "a.jsonl", json.dumps(content)), BadRows(policy)
    if policy == "error":
        with pytest.raises(DataError, match=rf"\A{re.escape(str(path))}.*\Z"):
            list(read(path, bad))
    else:
        assert not [row for row in read(path, bad) if getattr(row, "captions", True)]
        assert bad.total


@pytest.mark.parametrize("text", [DEEP, LONG, HALF])
@pytest.mark.parametrize("read", [read_coco, lambda path, bad: read_karpathy(path, False, bad)])
def test_one_object_that_is_broken(tmp_path, read, text):
    with pytest.raises(DataError, match=r"^\S*a.json"):
        list(read(written(tmp_path / "a.json", f'{{"images": {text}}}'), BadRows("skip")))


def test_the_guard_names_the_file_of_what_its_reader_did_not_foresee(tmp_path):
    @guarded
    def read(path):
        yield 1
        raise KeyError("caption")

    rows = read(tmp_path / "a.json")
    assert next(rows) == 1
    with pytest.raises(DataError, match=r"a.json: the file does not have the expected layout \(KeyError: 'caption'\)"):
        next(rows)


def test_only_the_first_few_are_told(caplog):
    bad = BadRows("skip")
    for number in range(20):
        bad(f"a.csv, line {number}", "no text")
    assert len(caplog.records) == 5
    assert caplog.records[0].getMessage() == "left out: a.csv, line 0: no text"
    assert bad.total == 20
