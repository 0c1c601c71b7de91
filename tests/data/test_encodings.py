"""Text files in other encodings: which one is proposed, and that no option hides a wrong one."""

import pytest

from zoo.data.documents.own import OwnDocuments
from zoo.data.documents.readers import read_table
from zoo.data.encodings import proposal
from zoo.data.options import LoaderOptions
from zoo.data.rows import BadRows, Lines, read_lines
from zoo.errors import ConfigError, DataError

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
    path = tmp_path / "own.csv"
    path.write_bytes("".join(["text,label\n", *rows]).encode(encoding))
    return path


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


def test_the_key_reaches_the_files_and_tells_prepared_data_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_CACHE", str(tmp_path / "cache"))
    data = OwnDocuments(path=str(table(tmp_path)), text={"minimum_frequency": 1}, loader={"encoding": "cp1252"})
    data.prepare_data()
    data.setup()
    assert "schön" in data.encoder.vocabulary
    latin = OwnDocuments(path=str(table(tmp_path)), text={"minimum_frequency": 1}, loader={"encoding": "latin-1"})
    assert latin._folder(latin.open_source()) != data._folder(data.open_source())


def test_an_encoding_that_is_not_there():
    with pytest.raises(ConfigError, match=r"data.loader.encoding=utf9: there is no such encoding; expected .*utf-8"):
        LoaderOptions(encoding="utf9")


def test_a_line_far_into_a_file_shows_its_encoding(tmp_path, monkeypatch):
    monkeypatch.setattr("zoo.data.rows.SAMPLE", 64)
    path = tmp_path / "a.txt"
    path.write_bytes(b"plain\n" * 100 + "schön\n".encode("cp1252"))
    with pytest.raises(DataError, match=r"line 101: not UTF-8: .*probably cp1252: save it as UTF-8"):
        read_lines(path)
    with Lines(path, encoding="cp1252") as lines:
        assert list(lines)[-1] == "schön\n"
