"""Each format of dialogues, and its errors with file and line."""

import json
from functools import partial

import pytest

from tests.data.serving import one_bad_row, table, written
from zoo.data.dialogues.corpora import DailyDialog, Dialogues, MovieTriples, SchemaGuided, Ubuntu
from zoo.data.dialogues.readers import COLUMNS, read_dialogues
from zoo.data.rows import BadRows
from zoo.errors import DataError

GOOD = {"turns": ["hi", "hello"]}


def turns(path):
    return [(one.turns, one.speakers) for one in read_dialogues(path, BadRows())]


def splits(source):
    return {split: [one.turns for one in read(BadRows())] for split, read in source.splits.items()}


def test_json_lines_with_and_without_speakers(tmp_path):
    rows = [
        GOOD | {"speakers": ["A", "B"]},
        {"turns": [{"speaker": "A", "text": "hi"}, {"speaker": "B", "utterance": "hello"}]},
        {"turns": [{"text": "hi"}, "hello"], "id": 3},
    ]
    path = written(tmp_path / "a.jsonl.gz", "".join(json.dumps(row) + "\n" for row in rows))
    assert turns(path) == [(("hi", "hello"), ("A", "B"))] * 2 + [(("hi", "hello"), ())]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"dialogue_id": "x"}, "missing column: no column 'turns'"),
        ({"turns": "hi"}, "no turns: found"),
        ({"turns": ["hi", 3]}, "no turns: found"),
        (GOOD | {"speakers": ["A"]}, "speakers do not fit: found 1 speakers for 2 turns"),
        (GOOD | {"id": 7}, "duplicate dialogue: the id 7 was used in"),
    ],
)
def test_unusable_json(tmp_path, row, problem):
    path = written(tmp_path / "a.jsonl", "".join(json.dumps(one) + "\n" for one in (GOOD | {"id": 7}, row, GOOD)))
    rows = one_bad_row(partial(read_dialogues, path), f"{path}, line 2: {problem}")
    assert [one.turns for one in rows] == [("hi", "hello")] * 2


def test_a_table_has_a_row_for_each_turn(tmp_path):
    rows = [("a", 1, "U", "hi"), ("a", 3, "S", "hello, you"), ("b", 1, "U", "yes"), ("b", 2, "S", "no")]
    path = tmp_path / "a.csv"
    table(path, rows, COLUMNS)
    assert turns(path) == [(("hi", "hello, you"), ("U", "S")), (("yes", "no"), ("U", "S"))]
    table(path, [(one, turn, text) for one, turn, _, text in rows], ("dialogue", "turn", "text"))
    assert [speakers for _, speakers in turns(path)] == [(), ()]
    table(path, [*rows[:2], ("b", 2, "U", "no"), ("b", 2, "S", "no")], COLUMNS)
    assert len(one_bad_row(partial(read_dialogues, path), f"{path}, line 5: turn out of order: found turn '2'")) == 1
    table(path, [*rows, *rows[:2]], COLUMNS)
    message = f"{path}, line 6: duplicate dialogue: the id 'a' was used in {path}, line 2"
    assert len(one_bad_row(partial(read_dialogues, path), message)) == 2
    table(path, [("a", 1)], ("dialogue", "turn"))
    with pytest.raises(DataError, match="no column 'text'; found: 'dialogue', 'turn'"):
        turns(path)


def test_texts_with_marks(tmp_path):
    path = written(
        tmp_path / "a.txt", "Hi . __eou__ Hello . __eou__\n\nOne\ttwo \tthree\na __eou__ b __eou__ __eot__ c __eot__\n"
    )
    assert [one for one, _ in turns(path)] == [("Hi .", "Hello ."), ("One", "two", "three"), ("a b", "c")]
    with pytest.raises(DataError, match=r"unknown kind of file '.doc'"):
        turns(written(tmp_path / "a.doc", "x"))


def test_the_official_folders(tmp_path):
    dialogue = {
        "dialogue_id": "1_00000",
        "services": [],
        "turns": [{"speaker": "USER", "utterance": "hi", "frames": []}, {"speaker": "SYSTEM", "utterance": "yes"}],
    }
    for split in ("train", "dev", "test"):
        for number in (1, 2):
            written(tmp_path / f"sgd/{split}/dialogues_{number:03}.json", json.dumps([dialogue], indent=1))
        written(tmp_path / f"sgd/{split}/schema.json", "[]")
    found = splits(SchemaGuided(source=str(tmp_path / "sgd")).open_source())
    assert found == dict.fromkeys(("train", "val", "test"), [("hi", "yes")] * 2)
    for split in ("train", "validation", "test"):
        written(tmp_path / f"daily/{split}/dialogues_{split}.txt", f"{split} __eou__ b __eou__\n")
        written(tmp_path / f"daily/{split}/dialogues_act_{split}.txt", "1 2\n")
    found = splits(DailyDialog(source=str(tmp_path / "daily")).open_source())
    assert found == {"train": [("train", "b")], "val": [("validation", "b")], "test": [("test", "b")]}
    for name in ("Training", "Validation", "Test"):
        written(tmp_path / f"movies/{name}_Shuffled_Dataset.txt", f"{name}\tb\tc\n")
        written(tmp_path / f"movies/{name}_Shuffled_Dataset_Labels.txt", "tt1\n")
    found = splits(MovieTriples(source=str(tmp_path / "movies")).open_source())
    assert found == {"train": [("Training", "b", "c")], "val": [("Validation", "b", "c")], "test": [("Test", "b", "c")]}
    for name in ("training", "valid", "test"):
        written(tmp_path / f"ubuntu/raw_{name}_text.txt", f"{name} __eou__ __eot__ b __eou__ __eot__\n")
        written(tmp_path / f"ubuntu/raw_{name}_responses.txt", "b\n")
    found = splits(Ubuntu(source=str(tmp_path / "ubuntu")).open_source())
    assert found == {"train": [("training", "b")], "val": [("valid", "b")], "test": [("test", "b")]}
    with pytest.raises(DataError, match=r"found daily/, movies/, sgd/, ubuntu/; expected json lines"):
        Dialogues(source=str(tmp_path)).open_source()
