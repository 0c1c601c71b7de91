"""SICK in its two forms and parsed, and each error with its file and line."""

import re

import pytest

from zoo.data.rows import BadRows
from zoo.data.trees.sick_files import SickRow, read_parsed, read_sick
from zoo.errors import DataError

SEMEVAL = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
WHOLE = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\tentailment_BA\t"
    "sentence_A_original\tsentence_B_original\tsentence_A_dataset\tsentence_B_dataset\tSemEval_set\n"
)


def whole(number, score, split, first="A dog runs", second="A cat sits"):
    return f"{number}\t{first}\t{second}\tNEUTRAL\t{score}\tAB\tBA\tA dog\tA cat\tFLICKR\tFLICKR\t{split}\n"


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_semeval(tmp_path):
    lines = '1\tA "group of kids" plays\tThey\'re here\t4.5\tNEUTRAL\r\n\n7\tA man\tNo "man\t1\tCONTRADICTION\n'
    path = written(tmp_path, "SICK_train.txt", SEMEVAL + lines)
    assert [row for _, row in read_sick(path, False, BadRows())] == [
        SickRow("1", 'A "group of kids" plays', "They're here", 4.5, f"{path}, line 2"),
        SickRow("7", "A man", 'No "man', 1.0, f"{path}, line 4"),
    ]


def test_one_file_for_all_splits(tmp_path):
    content = WHOLE + whole(1, 4.5, "TRAIN") + whole(2, 3.2, "TRIAL") + whole(3, 5, "TEST") + whole(4, 1, "TRAIN")
    path = written(tmp_path, "SICK.txt", content)
    rows = list(read_sick(path, True, BadRows()))
    assert [(split, row.number) for split, row in rows] == [("train", "1"), ("val", "2"), ("test", "3"), ("train", "4")]
    assert rows[1][1] == SickRow("2", "A dog runs", "A cat sits", 3.2, f"{path}, line 3")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2\ta\tb\t5.1\tNEUTRAL", "score out of range: found '5.1', expected a number from 1 to 5"),
        ("2\ta\tb\t0.99\tNEUTRAL", "score out of range: found '0.99'"),
        ("2\ta\tb\tnan\tNEUTRAL", "score out of range: found 'nan'"),
        ("2\ta\tb\tNEUTRAL\t4", "score out of range: found 'NEUTRAL'"),
        ("2\ta\tb\t\tNEUTRAL", "score out of range: found ''"),
        ("2\t \tb\t3\tNEUTRAL", "no text: column 'sentence_A' is empty"),
        ("2\ta\t\t3\tNEUTRAL", "no text: column 'sentence_B' is empty"),
        ("2\ta\tb\t3", "wrong number of fields: found 4 with tabs between, the header has 5"),
        ("2\ta\tb\tc\t3\tNEUTRAL", "wrong number of fields: found 6"),
        (b"2\tcaf\xe9\tb\t3\tNEUTRAL", "not UTF-8: byte 0xe9"),
        ("2\ta\0\tb\t3\tNEUTRAL", "NUL byte"),
    ],
)
@pytest.mark.usefixtures("damaged")
def test_rows_that_cannot_be_used(tmp_path, line, message):
    line = line if isinstance(line, bytes) else line.encode()
    path = written(tmp_path, "SICK_trial.txt", SEMEVAL.encode() + b"1\ta\tb\t2\tX\n" + line + b"\n3\tc\td\t4\tX\n")
    with pytest.raises(DataError, match=rf"^{re.escape(str(path))}, line 3: {message}.*on_bad_row=skip"):
        list(read_sick(path, False, BadRows()))
    bad = BadRows("skip")
    assert [row.number for _, row in read_sick(path, False, bad)] == ["1", "3"]
    assert bad.total == 1


def test_an_unknown_split(tmp_path):
    path = written(tmp_path, "SICK.txt", WHOLE + whole(1, 4, "TRAIN") + whole(2, 4, "DEV"))
    with pytest.raises(DataError, match=f"^{re.escape(str(path))}, line 3: unknown split: found 'DEV' in SemEval_set"):
        list(read_sick(path, True, BadRows()))


@pytest.mark.parametrize(
    ("header", "whole", "message"),
    [
        ("pair_ID\tsentence_A\tsentence_B\n", False, "no column 'relatedness_score'; .*SICK_test_annotated.txt"),
        (SEMEVAL.replace("_A", "_1"), False, "no column 'sentence_A'; found: 'pair_ID', 'sentence_1'"),
        (SEMEVAL, True, "no column 'SemEval_set'; .*without it, give a folder with SICK_train.txt"),
        ("1,a,b,3,X\n", False, "no column 'pair_ID'; found: '1,a,b,3,X'"),
    ],
)
def test_columns_that_are_missing(tmp_path, header, whole, message):
    path = written(tmp_path, "SICK_test.txt", header + "1\ta\tb\n")
    with pytest.raises(DataError, match=f"^{re.escape(str(path))}, line 1: {message}"):
        list(read_sick(path, whole, BadRows("skip")))


# parsed

PARSED = {
    "a.toks": "A dog runs .\nIt sits\n",
    "a.parents": "2 3 0 -1\n2 0\n",
    "a.cparents": "5 5 6 6 7 7 0\n3 3 0\n",
    "b.toks": "Dogs run\nIt stands up\n",
    "b.parents": "2 0\n2 0 2\n",
    "b.cparents": "3 3 0\n5 4 4 5 0\n",
    "sim.txt": "4.5\n1\n",
    "id.txt": "1\n2\n",
}


def parsed(folder, **changes):
    for name, content in PARSED.items():
        content = changes.get(name.replace(".", "_"), content)
        if content is not None:
            written(folder, name, content)
    return folder


def test_parsed(tmp_path):
    folder = parsed(tmp_path, id_txt=None)
    pairs = list(read_parsed(folder, BadRows(), "dependency"))
    assert [(pair.score, pair.place) for pair in pairs] == [
        (4.5, f"{folder / 'a.toks'}, line 1"),
        (1.0, f"{folder / 'a.toks'}, line 2"),
    ]
    assert [pair.first.words for pair in pairs] == [["A", "dog", "runs", "."], ["It", "sits"]]
    assert [pair.second.words for pair in pairs] == [["Dogs", "run"], ["It", "stands", "up"]]
    assert [pair.first.parent for pair in pairs] == [[1, 2, -1], [1, -1]]
    assert [pair.second.parent for pair in pairs] == [[1, -1], [1, -1, 1]]


def test_parsed_into_constituents(tmp_path):
    pairs = list(read_parsed(parsed(tmp_path, a_parents=None, b_parents=None), BadRows(), "constituency"))
    assert [pair.first.parent for pair in pairs] == [[-1, 0, 1, 1, 0, 4, 4], [-1, 0, 0]]
    assert [pair.second.word for pair in pairs] == [[-1, 0, 1], [-1, 0, -1, 1, 2]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("sim.txt", "4\n5.5\n", "score out of range: found '5.5', expected a number from 1 to 5"),
        ("sim.txt", "4\n\n", "score out of range: found ''"),
        ("sim.txt", "4\nhigh\n", "score out of range: found 'high'"),
        ("a.parents", "2 3 0 -1\n0 0\n", "two roots"),
        ("b.parents", "2 0\n2 1 0\n", "a cycle"),
        ("b.parents", "2 0\n2 0\n", "numbers differ: found 3 tokens and 2 heads"),
    ],
)
def test_pairs_that_cannot_be_used(tmp_path, name, content, message):
    folder = parsed(tmp_path, **{name.replace(".", "_"): content})
    with pytest.raises(DataError, match=f"^{re.escape(str(folder / name))}, line 2: {message}"):
        list(read_parsed(folder, BadRows(), "dependency"))
    bad = BadRows("skip")
    assert [pair.score for pair in read_parsed(folder, bad, "dependency")] == [4.0 if name == "sim.txt" else 4.5]
    assert bad.total == 1


@pytest.mark.parametrize("name", ["b.toks", "a.parents", "sim.txt", "id.txt"])
def test_files_of_different_lengths_are_refused(tmp_path, name):
    folder = parsed(tmp_path, **{name.replace(".", "_"): PARSED[name].splitlines()[0] + "\n"})
    with pytest.raises(
        DataError, match=f"^{re.escape(str(folder / name))}, line 1: the file ends here, but .* has more lines"
    ):
        list(read_parsed(folder, BadRows("skip"), "dependency"))


@pytest.mark.parametrize("name", ["a.toks", "b.cparents", "sim.txt"])
def test_files_that_are_missing(tmp_path, name):
    folder = parsed(tmp_path, **{name.replace(".", "_"): None})
    with pytest.raises(DataError, match=rf"^{re.escape(str(folder))}: no {name}; expected a.toks, a.cparents, b.toks"):
        list(read_parsed(folder, BadRows("skip"), "constituency"))
