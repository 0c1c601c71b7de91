"""Notes on data with which a score would deceive; and splits that have each class by its share."""

from collections import Counter

import datasets
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.serving import prepared, table
from zoo.data.documents.own import OwnDocuments
from zoo.data.notes import key, majority, repeated
from zoo.data.options import SplitOptions
from zoo.data.pairs.parallel import Parallel
from zoo.data.stored import draw_splits, spread
from zoo.data.trees.own import OwnTrees
from zoo.errors import DataError


def own(path, **options):
    return prepared(OwnDocuments(**{"path": path, "text": {"minimum_frequency": 1}, **options}))


def notes(data):
    return data.describe()["notes"]


VARIED = [(f"text {n} is {'good' if n % 2 else 'bad'} .", n % 2) for n in range(40)]


def test_nothing_is_said_of_good_data(tmp_path, cache_dir, caplog):
    assert notes(own(table(tmp_path / "a.csv", VARIED))) == []


def test_a_test_that_is_the_training_is_told(tmp_path, cache_dir, caplog):
    path = table(tmp_path / "a.csv", VARIED)
    with caplog.at_level("INFO", "zoo"):
        data = own(path, split={"test": path})
    line = "test: 36 of 40 documents are in train too"
    assert [line, "test: 4 of 40 documents are in val too"] == notes(data)
    assert any(line in record.getMessage() for record in caplog.records)
    data = own(path, split={"test": table(tmp_path / "b.csv", VARIED[:30]), "val": table(tmp_path / "c.csv", VARIED)})
    assert notes(data)[0] == "val: all 40 documents are in train too: a score on them shows nothing about new ones"
    assert notes(data)[1].startswith("test: all 30 documents are in train too: ")


def test_the_same_document_in_other_case_is_the_same(tmp_path, cache_dir):
    test = table(tmp_path / "b.csv", [("TEXT 3 is good.", 1), ("another text", 0)])
    (note,) = notes(own(table(tmp_path / "a.csv", VARIED), split={"test": test, "val": test}))[:1]
    assert note == "val: 1 of 2 documents is in train too"


@pytest.mark.parametrize(
    ("counts", "shares"), [((75, 25), ["75%"]), ((74, 26), []), ((60, 20, 20), []), ((70, 15, 15), ["70%"])]
)
def test_a_majority(counts, shares):
    found = majority({str(number): count for number, count in enumerate(counts)}, "pictures")
    always = "of the training pictures are of class '0': always predicting it is right as often"
    assert found == [f"{share} {always}" for share in shares]


def test_text_that_the_tokenizer_did_not_cut(tmp_path, cache_dir):
    chinese = [("这家餐厅很好。我喜欢，真的！" + "很" * (n % 7), n % 2) for n in range(40)]
    path = table(tmp_path / "a.csv", chinese)
    found = notes(own(path))
    assert "a training sentence has 1.0 words on average: data.text.tokenizer=words does not cut" in " ".join(found)
    found = notes(prepared(OwnTrees(path=path, trees="balanced")))
    assert "a training text has 1.0 words on average: data.text.tokenizer=words" in " ".join(found)
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{chr(0x4E00 + n) * 3}\tgood number {n}\n" for n in range(40)), encoding="utf-8")
    data = prepared(Parallel(path=str(pairs), text={"minimum_frequency": 1, "tokenizer": "whitespace"}))
    assert "a training source has 1.0 words on average" in " ".join(notes(data))
    assert "a training target" not in " ".join(notes(data))


def test_words_that_are_mostly_unknown(tmp_path, cache_dir):
    found = notes(own(table(tmp_path / "a.csv", VARIED), text={"minimum_frequency": 30}))
    assert not any("unknown" in note for note in found)  # text, is and the full stop are known
    rare = [(f"w{n} x{n} y{n} same", n % 2) for n in range(40)]
    assert notes(own(table(tmp_path / "b.csv", rare), text={"minimum_frequency": 2})) == [
        "75% of the training words are unknown: data.text.minimum_frequency=1 keeps them all"
    ]


def test_keys():
    assert key([["a", "b"]]) == key([["a", "b"]]) != key([["a"], ["b"]])
    keys = {name: np.array(numbers) for name, numbers in (("train", [1, 2]), ("val", [3]), ("test", [3, 4]))}
    assert repeated(keys, "pairs") == ["test: 1 of 2 pairs is in val too"]
    keys = {name: np.array([1]) for name in ("val", "test")}
    assert repeated(keys, "pairs") == ["test: 1 of 1 pairs is in val too"]


# splits


@settings(max_examples=100)
@given(st.lists(st.integers(0, 4), min_size=4, max_size=120), st.integers(0, 3))
def test_every_class_gives_its_share_and_stays_in_training(labels, seed):
    labels = np.array(labels)
    part = datasets.Dataset.from_dict({"label": labels, "number": np.arange(len(labels))})
    split = SplitOptions(val=0.2, test=0.1, seed=seed)
    sizes = [max(1, round(share * len(labels))) for share in (0.2, 0.1)]
    if sum(sizes) + len(set(labels.tolist())) > len(labels):
        with pytest.raises(DataError, match=r"a\.csv: too few documents \(\d+\) to draw val and test from them"):
            draw_splits({"train": part}, split, "a.csv", "documents", labels)
        return
    found = draw_splits({"train": part}, split, "a.csv", "documents", labels)
    numbers = {name: part["number"][:] for name, part in found.items()}
    assert sorted(number for part in numbers.values() for number in part) == list(range(len(labels)))
    assert all(list(part) == sorted(part) for part in numbers.values())
    assert [len(numbers["val"]), len(numbers["test"])] == sizes
    assert set(labels[numbers["train"]].tolist()) == set(labels.tolist())
    counts = Counter(labels.tolist())
    fill = sizes[0] / len(labels)  # rounded, and more where small classes give none
    for label, count in Counter(labels[numbers["val"]].tolist()).items():
        assert count <= max(fill * counts[label] + len(counts), 1)


def test_the_share_of_each_class_by_hand():
    labels = np.array([0] * 60 + [1] * 30 + [2] * 10)
    part = datasets.Dataset.from_dict({"label": labels})
    found = draw_splits({"train": part}, SplitOptions(val=0.2, test=0.1), "a", "documents", labels)
    for name, expected in (("train", [42, 21, 7]), ("val", [12, 6, 2]), ("test", [6, 3, 1])):
        assert np.bincount(found[name]["label"][:]).tolist() == expected
    other = draw_splits({"train": part}, SplitOptions(val=0.2, test=0.1, seed=2), "a", "documents", labels)
    assert np.bincount(other["val"]["label"][:]).tolist() == [12, 6, 2]


def test_groups_and_the_last_examples_by_hand():
    """Ten examples of five groups: a fifth is one group, whose examples stay together."""
    part = datasets.Dataset.from_dict({"number": range(10)})
    groups = np.array([3, 3, 7, 7, 7, 0, 9, 9, 9, 5])  # 3: 0-1, 7: 2-4, 0: 5, 9: 6-8, 5: 9
    split = SplitOptions(val=0.2, test=0.4)

    def drawn(**options):
        found = draw_splits({"train": part}, split, "a", "groups", **options)
        return {name: one["number"][:] for name, one in found.items()}

    assert drawn(last=True) == {"train": [0, 1, 2, 3], "val": [8, 9], "test": [4, 5, 6, 7]}
    # in ascending order the groups are 0, 3, 5, 7 and 9: the last is for validation, the two before it for the test
    assert drawn(groups=groups, last=True) == {"train": [0, 1, 5], "val": [6, 7, 8], "test": [2, 3, 4, 9]}
    some = drawn(groups=groups)
    assert sorted(number for numbers in some.values() for number in numbers) == list(range(10))
    assert [len(set(groups[some[name]])) for name in ("train", "val", "test")] == [2, 1, 2]


def test_runs_of_numbers_by_hand():
    assert spread(np.array([7, 2, 5]), np.array([3, 0, 2])).tolist() == [7, 8, 9, 5, 6]
    assert spread(np.zeros(0, int), np.zeros(0, int)).tolist() == []


def test_twenty_rows_with_a_class_of_one(tmp_path, cache_dir):
    rows = [(f"the text {n} and more of the same", "a" if n % 2 else "b") for n in range(19)] + [("the rare one", "c")]
    data = own(table(tmp_path / "a.csv", rows), text={"minimum_frequency": None})
    assert data.describe()["splits"]["train"]["classes"]["c"] == 1
    assert data.sizes == {"train": 16, "val": 2, "test": 2}
    assert data.encoder.vocabulary.words[2:4] == ["the", "and"]  # twice is often enough in so few
    (batch,) = data.train_dataloader()
    assert len(batch) == 16
