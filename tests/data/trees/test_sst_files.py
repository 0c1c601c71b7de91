"""The raw form of SST: labels by the thresholds, splits by their numbers, and each error with its file and line."""

import re

import pytest

from zoo.data.rows import BadRows
from zoo.data.trees.brackets import parse, written
from zoo.data.trees.dependency_files import dependency_tree
from zoo.data.trees.sst_files import labelled, read_classes, read_raw
from zoo.errors import DataError

FILES = {
    "SOStr.txt": "It|'s|good\nnot|good\nbad\nand\\/or|good\n",
    "STree.txt": "5|4|4|5|0\n3|3|0\n0\n3|3|0\n",
    "datasetSplit.txt": "sentence_index,splitset_label\n1,1\n2,2\n3,3\n4,1\n",
    # a phrase may hold the mark, and "not" is in no dictionary
    "dictionary.txt": "It|3\n's|4\ngood|0\n's good|1\nIt 's good|2\nnot good|5\nbad|6\nand\\/or|7\n"
    "and\\/or good|0\na|b|3\n",
    "sentiment_labels.txt": "phrase ids|sentiment values\n0|0.9\n1|0.80\n2|0.61111\n3|0.5\n4|0.6\n5|0.2\n6|0\n7|0.4\n",
}


def sst(folder, **changes):
    """The files with some of them replaced, by the names without .txt."""
    for name, content in FILES.items():
        content = changes.get(name.removesuffix(".txt"), content)
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def rows(folder, split, bad=None):
    return [row for name, row in read_raw(folder, bad or BadRows()) if name == split]


def test_splits_and_labels(tmp_path):
    folder = sst(tmp_path)
    train = rows(folder, "train")
    assert train[0].tree == parse("(3 (2 It) (3 (2 's) (4 good)))")
    assert train[1].tree.words == ["and/or", "good"]
    assert train[1].tree.label == ["4", "1", "4"]  # looked up with its backslash
    assert [row.place for row in train] == [f"{folder / 'SOStr.txt'}, line {number}" for number in (1, 4)]
    (test,) = rows(folder, "test")
    assert test.tree.label == ["0", None, "4"]
    (val,) = rows(folder, "val")
    assert written(val.tree) == "(0 bad)"


@pytest.mark.parametrize(
    ("score", "label"),
    [
        ("0", "0"),
        ("0.2", "0"),
        ("0.20001", "1"),
        ("0.4", "1"),
        ("0.40001", "2"),
        ("0.6", "2"),
        ("0.60001", "3"),
        ("0.8", "3"),
        ("0.80001", "4"),
        ("1.0", "4"),
    ],
)
def test_classes_are_closed_on_the_right(tmp_path, score, label):
    (tmp_path / "d").write_text("a phrase|7\n")
    (tmp_path / "s").write_text(f"phrase ids|sentiment values\n7|{score}\n")
    assert read_classes(tmp_path / "d", tmp_path / "s") == {"a phrase": label}


def test_a_subtree_with_a_gap_has_the_phrase_of_the_whole_stretch():
    tree = dependency_tree(["a", "b", "c"], [3, 0, 2])  # c covers c and a, with b between
    classes = {"a b c": "4", "a c": "0", "a": "1"}
    assert labelled(tree, classes).label == ["1", "4", "4"]


def test_blank_lines_at_the_end_and_windows_line_ends(tmp_path):
    folder = sst(tmp_path, **{name.removesuffix(".txt"): text.replace("\n", "\r\n") for name, text in FILES.items()})
    (folder / "STree.txt").write_text(FILES["STree.txt"] + "\n\n")
    assert written(rows(folder, "train")[0].tree) == "(3 (2 It) (3 (2 's) (4 good)))"


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ("3|3|3|0", "numbers differ: found 2 words and 4 parents, expected one for each of 3 nodes"),
        ("3|4|0", "parent beyond the tree: node 2 has parent 4"),
        ("3|3|1", "no root"),
        ("3|0|0", "two roots: nodes 2 and 3"),
        ("0|3|2", "a cycle: nodes 2 -> 3 -> 2"),
        ("3|1|0", "not binary"),
        ("3|x|0", "not a number: found 'x' in place 2"),
        ("", "not a number: found ''"),
    ],
)
def test_parents_that_do_not_form_a_tree(tmp_path, parents, message):
    folder = sst(tmp_path, STree=FILES["STree.txt"].replace("3|3|0\n0", f"{parents}\n0"))
    with pytest.raises(
        DataError, match=rf"^{re.escape(str(folder / 'STree.txt'))}, line 2: {message}.*on_bad_row=skip"
    ):
        rows(folder, "test")
    bad = BadRows("skip")
    assert rows(folder, "test", bad) == []
    assert bad.total == 1
    assert len(rows(folder, "train", bad)) == 2


@pytest.mark.parametrize("policy", ["error", "skip"])
@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("SOStr", "It|'s|good\nnot|good\n", 2, "the file ends here, and STree.txt has 4 lines"),
        ("STree", "5|4|4|5|0\n3|3|0\n0\n", 3, "the file ends here, and SOStr.txt has 4 lines"),
        ("SOStr", b"It|'s|good\ncaf\xe9\n", 2, "not UTF-8: byte 0xe9"),
        (
            "datasetSplit",
            "index,split\n1,1\n2,2\n3,4\n4,1\n",
            4,
            r"no such split: found '4', .*1 \(train\), 2 \(test\)",
        ),
        ("datasetSplit", "index,split\n1,1\n2,0\n", 3, "no such split: found '0'"),
        ("datasetSplit", "index,split\n1,1\n2,1\n3,1\n4,1\n5,1\n", 6, "no such sentence: found '5'; expected 1 to 4"),
        ("datasetSplit", "index,split\n1,1\n0,1\n", 3, "no such sentence: found '0'"),
        ("datasetSplit", "index,split\n1,1\ntwo,1\n", 3, "no such sentence: found 'two'"),
        ("datasetSplit", "index,split\n1,1\n1,2\n", 3, "sentence 1 has a split already"),
        ("datasetSplit", "index,split\n1,1\n2 2\n", 3, "found '2 2', expected two fields with ',' between"),
        ("sentiment_labels", "ids|values\n0|0.9\n1|good\n", 3, "not a score: found 'good', expected a number from 0"),
        ("sentiment_labels", "ids|values\n0|1.5\n", 2, "not a score: found '1.5'"),
        ("sentiment_labels", "ids|values\n0|nan\n", 2, "not a score: found 'nan'"),
        ("sentiment_labels", "ids|values\n0 0.5\n", 2, "found '0 0.5', expected two fields"),
        (
            "dictionary",
            "good|0\n's good|77\n",
            2,
            "the phrase '77' has no score in .*sentiment_labels.txt, which has 8",
        ),
        ("dictionary", "good|0\n's good\n", 2, "found \"'s good\", expected two fields with '|' between"),
    ],
)
def test_broken_tables_are_refused_whatever_is_done_with_bad_rows(tmp_path, policy, name, content, line, message):
    folder = sst(tmp_path, **{name: content})
    with pytest.raises(DataError, match=rf"^{re.escape(str(folder / f'{name}.txt'))}, line {line}: {message}"):
        rows(folder, "train", BadRows(policy))


def test_a_sentence_without_a_split(tmp_path):
    folder = sst(tmp_path, datasetSplit="index,split\n1,1\n2,2\n4,1\n")
    place = re.escape(str(folder / "SOStr.txt"))
    with pytest.raises(
        DataError, match=rf"^{place}, line 3: this sentence has no split; .*datasetSplit.txt has 3 for 4"
    ):
        rows(folder, "train")


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_missing(tmp_path, name):
    folder = sst(tmp_path, **{name.removesuffix(".txt"): None})
    with pytest.raises(DataError, match=rf"^{re.escape(str(folder))}: no {name}; expected SOStr.txt, STree.txt"):
        rows(folder, "train")
