"""Each format of articles with summaries, and its errors with file and line."""

import json
import re
from functools import partial
from hashlib import sha1

import pytest

from tests.data.serving import one_bad_row, table, written
from zoo.data.rows import BadRows
from zoo.data.summaries.cnn_dailymail import CnnDailyMail
from zoo.data.summaries.own import Summaries
from zoo.data.summaries.readers import features, read_bin, read_record, read_sections, read_story, read_table
from zoo.data.summaries.scitldr import SciTLDR
from zoo.data.summaries.xsum import SPLIT_FILE, XSum
from zoo.errors import DataError

STORY = "\n\nA caption\n\nAnn said: “yes”\n\n@highlight\n\nAnn agrees\n\n@highlight\n\nBob does not.\n"


def articles(source, split="train"):
    return [(one.text, one.summaries, one.name) for one in source.splits[split](BadRows())]


# stories


def test_a_story_gets_the_missing_stops_and_a_line_for_each_highlight(tmp_path):
    (one,) = read_story(written(tmp_path / "ab12.story", STORY), BadRows())
    assert one.text == "A caption .\nAnn said: “yes”"
    assert one.summaries == ("Ann agrees .\nBob does not.",)
    assert (one.name, one.place) == ("ab12", f"{tmp_path}/ab12.story, line 1")


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("one\n\ntwo\n", 3, "no @highlight: expected @highlight and a sentence of the summary below it"),
        ("one\n\n@highlight\n\n", 3, "empty @highlight: no sentence follows it"),
    ],
)
def test_a_story_without_highlights(tmp_path, text, line, problem):
    path = written(tmp_path / "a.story", text)
    assert one_bad_row(partial(read_story, path), f"{path}, line {line}: {problem}") == []


def test_stories_in_the_splits_of_the_lists_of_addresses(tmp_path):
    addresses = [f"http://web.archive.org/{n}" for n in range(4)]
    names = [sha1(one.encode()).hexdigest() for one in addresses]
    for n, folder in ((0, "cnn/stories"), (1, "dailymail/stories"), (2, "cnn/stories")):
        written(tmp_path / folder / f"{names[n]}.story", f"text {n} is long enough\n\n@highlight\n\nsum {n}.\n")
    for split, part in (("train", (1, 0)), ("val", (2,)), ("test", (3,))):
        written(tmp_path / f"url_lists/all_{split}.txt", "".join(f"{addresses[n]}\n" for n in part))
    source = CnnDailyMail(source=str(tmp_path)).open_source()
    assert [summary for _, (summary,), _ in articles(source)] == ["sum 1.", "sum 0."]  # in the order of the list
    assert articles(source, "val")[0][2] == names[2]
    place = f"{tmp_path}/url_lists/all_test.txt, line 1"
    missing = f"{place}: no file of this article: expected one that is called {names[3]}, found 3 others"
    assert one_bad_row(source.splits["test"], missing) == []


def test_stories_in_folders_of_splits_or_in_one(tmp_path):
    for name in ("train/a", "train/b", "valid/c", "test/d"):
        written(tmp_path / f"{name}.story", STORY)
    source = CnnDailyMail(source=str(tmp_path)).open_source()
    assert {split: [one[2] for one in articles(source, split)] for split in source.splits} == {
        "train": ["a", "b"],
        "val": ["c"],
        "test": ["d"],
    }
    assert list(CnnDailyMail(source=str(tmp_path / "train")).open_source().splits) == ["train"]
    with pytest.raises(DataError, match=r"found a.txt; expected a folder with url_lists/all_train.txt"):
        CnnDailyMail(source=str(written(tmp_path / "other/a.txt", "text").parent)).open_source()


# records


def field(number, content):
    """A field of a protocol buffer whose value has a length."""
    size, length = len(content), b""
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def example(**texts):
    """A serialized tf.Example of byte lists, and of a feature of numbers between them."""
    entries = [field(1, field(1, b"size") + field(2, field(3, field(1, b"\x07"))))]
    entries += [field(1, field(1, k.encode()) + field(2, field(1, field(1, v.encode())))) for k, v in texts.items()]
    return field(1, b"".join(entries))


def record(**texts):
    content = example(**texts)
    return len(content).to_bytes(8, "little") + content


LONG = "word " * 100 + "é ."


def test_records_of_the_authors(tmp_path):
    assert features(example(article="a", abstract="b")) == {"article": b"a", "abstract": b"b"}
    summary = "<s> ann agrees . </s> <s> bob 's not . </s>"
    content = record(article=LONG, abstract=summary) + record(abstract="x", article="y z")
    first, second = read_bin(written(tmp_path / "train.bin", content), BadRows())
    assert (first.text, first.summaries) == (LONG, ("ann agrees .\nbob 's not .",))
    assert (second.text, second.summaries, second.place) == ("y z", ("x",), f"{tmp_path}/train.bin, record 2")
    for folder in ("finished_files", "finished_files/chunked"):
        chunk = "train_000.bin" if folder.endswith("chunked") else "train.bin"
        written(tmp_path / "cnn" / folder / chunk, content)
    source = CnnDailyMail(source=str(tmp_path / "cnn")).open_source()
    assert source.place == str(tmp_path / "cnn/finished_files") and len(articles(source)) == 2


def test_broken_records(tmp_path):
    good = record(article="a b", abstract="c")
    path = written(tmp_path / "train.bin", good + record(article="a") + b"\x01" + b"\0" * 7 + b"\xff" + good)
    bad = BadRows("skip")
    assert len(list(read_bin(path, bad))) == 2 and bad.total == 2
    with pytest.raises(DataError, match=r"record 2: not a record of an article: .* features article and abstract"):
        list(read_bin(path, BadRows()))
    cut = written(tmp_path / "cut.bin", good + good[:-3])
    with pytest.raises(DataError, match=r"cut.bin, record 2: the file ends inside this record"):
        list(read_bin(cut, BadRows("skip")))


# tables


def test_tables_have_texts_or_lists_of_them(tmp_path):
    rows = [{"t": "one\ntwo", "s": "a"}, {"t": ["one ", " two\nthree"], "s": ["a", "b\nc"]}]
    path = written(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    first, second = read_table(path, ("t", "s"), "", BadRows())
    assert (first.text, first.summaries) == ("one\ntwo", ("a",))
    assert (second.text, second.summaries) == ("one\ntwo three", ("a", "b\nc"))
    with pytest.raises(
        DataError, match=re.escape(f"{path}, line 1: missing column: no column 'x'; found: 't', 's' hint")
    ):
        list(read_table(path, ("x", "s"), " hint", BadRows()))
    read = partial(read_record, {"t": ["one", 2], "s": "a"}, "here", columns=("t", "s"))
    assert one_bad_row(read, "here: no text: column 't' holds ['one', 2]; expected a text or a list of texts") == []


def test_your_own_tables_and_folders(tmp_path):
    path = table(tmp_path / "a.csv", [["one two", "one"]], ("text", "headline"))
    source = Summaries(path=path, summary_column="headline").open_source()
    assert articles(source) == [("one two", ("one",), "")]
    other = written(tmp_path / "b.jsonl", '{"text": "x y", "headline": "x"}\n')
    both = Summaries(path=path, summary_column="headline", split={"test": str(other)}).open_source()
    assert articles(both, "test") == [("x y", ("x",), "")]
    for name, text in (("n.txt", "long text\n"), ("n.summary", "text\n"), ("m.txt", "x"), (".o.txt", "x")):
        written(tmp_path / "pairs" / name, text)
    pairs = Summaries(path=str(tmp_path / "pairs")).open_source()
    missing = f"{tmp_path}/pairs/m.txt: no file of its summary: expected {tmp_path}/pairs/m.summary"
    (one,) = one_bad_row(pairs.splits["train"], missing)
    assert (one.text, one.summaries, one.name) == ("long text", ("text",), "n")


# corpora


SECTIONS = (
    "[SN]URL[SN]\nhttp://a\n\n[SN]TITLE[SN]\nT\n\n[SN]FIRST-SENTENCE[SN]\nAnn won.\n\n[SN]RESTBODY[SN]\nOne.\nTwo.\n"
)


def test_xsum_in_its_three_forms(tmp_path):
    for folder in ("marked", "raw", "cut"):
        written(tmp_path / folder / SPLIT_FILE, json.dumps({"train": ["12"], "validation": [], "test": ["13"]}))
    written(tmp_path / "marked/bbc-summary-data/12.summary", SECTIONS)
    raw = SECTIONS.replace("[SN]", "[XSUM]").replace("FIRST-SENTENCE", "INTRODUCTION")
    written(tmp_path / "raw/xsum-extracts-from-downloads/12.data", raw)
    written(tmp_path / "cut/xsum-preprocessed/document/12.document", "One.\nTwo.\n")
    written(tmp_path / "cut/xsum-preprocessed/summary/12.summary", "Ann won.\n")
    for folder in ("marked", "raw", "cut"):
        source = XSum(source=str(tmp_path / folder)).open_source()
        assert articles(source) == [("One.\nTwo.", ("Ann won.",), "12")]
        assert list(source.splits) == ["train", "val", "test"]
        one_bad_row(source.splits["test"], f"{tmp_path / folder / SPLIT_FILE}, article 13: no file of this article")
    part = written(tmp_path / "13.summary", "[SN]RESTBODY[SN]\nOne.\n")
    one_bad_row(partial(read_sections, part), f"{part}, line 1: missing section: expected [SN]FIRST-SENTENCE[SN]")


def test_scitldr_and_the_tables_of_the_hub(tmp_path):
    row = {"source": ["One.", "Two."], "target": ["a", "b"], "paper_id": "P1", "source_labels": [0, 1]}
    for name in ("train", "dev", "test"):
        written(tmp_path / f"SciTLDR-Data/SciTLDR-A/{name}.jsonl", json.dumps(row) + "\n")
    source = SciTLDR(source=str(tmp_path)).open_source()
    assert articles(source, "val") == [("One.\nTwo.", ("a", "b"), "P1")]
    hub = written(tmp_path / "hub/train.jsonl", '{"article": "One.", "highlights": "a\\nb", "id": "7"}\n')
    assert articles(CnnDailyMail(source=str(hub.parent)).open_source()) == [("One.", ("a\nb",), "7")]
    hub = written(tmp_path / "bbc/train.jsonl", '{"document": "One.", "summary": "a", "id": 7}\n')
    assert articles(XSum(source=str(hub.parent)).open_source()) == [("One.", ("a",), "7")]
