"""Your own stories: both formats, splits by story, answers that training does not have, and the description."""

import json

import pytest

from tests.data.serving import prepared, written
from tests.data.stories.tiny import questions, read_slowly, text
from zoo.data.stories.own import OwnStories
from zoo.errors import DataError


def own(path, **options):
    return prepared(OwnStories(path=str(path), **options))


def record(who, place="the hall", **more):
    return json.dumps({"story": [f"{who} went to {place}."], "question": f"Where is {who}?", "answer": place, **more})


def test_whole_stories_are_drawn(tmp_path, cache_dir):
    path = written(tmp_path / "mine.txt", text(3, 40, asked=3))
    data = own(path)
    assert data.sizes == {"train": 96, "val": 12, "test": 12}
    facts = data.describe()["splits"]
    assert {name: part["stories"] for name, part in facts.items()} == {"train": 32, "val": 4, "test": 4}
    served = [one | {"shown": 0} for split in data.sizes for one in questions(data, split)]
    assert sorted(map(repr, served)) == sorted(repr(one | {"shown": 0}) for one in read_slowly(path))
    assert data.spec.tasks == ("stories",)


def test_lines_of_json_about_one_story_are_drawn_together(tmp_path, cache_dir):
    """Each line has one question. Otherwise stories of the test would be known from the training."""
    stories = [(who, place) for who in ("Mary", "John", "Bill", "Zoe", "Ann") for place in "abcdef"]
    lines = [record(*one, question=f"{word} is it?") for word in ("Where", "What", "Who") for one in stories]
    data = own(written(tmp_path / "mine.jsonl", "\n".join(lines)))
    told = {split: {str(one["story"]) for one in questions(data, split)} for split in data.sizes}
    assert {split: len(stories) for split, stories in told.items()} == {"train": 24, "val": 3, "test": 3}
    assert data.sizes == {"train": 72, "val": 9, "test": 9}


def test_json_lines_with_and_without_supporting_sentences(tmp_path, cache_dir):
    people = ["Mary", "John", "Bill", "Zoe"] * 5
    with_them = written(tmp_path / "a.jsonl", "\n".join(record(who, supporting=[0]) for who in people))
    data = own(with_them)
    one = questions(data, "test")[0]
    assert one["answer"] == "the hall" and one["supporting"] == {0}
    assert "the hall" in data.encoder.vocabulary
    without = written(tmp_path / "b.jsonl", "\n".join(record(who) for who in people))
    data = own(without)
    batch = next(iter(data.train_dataloader()))
    assert batch.supporting is None and batch.text is None and batch.task.tolist() == [0] * len(batch)


def test_files_of_their_own(tmp_path, cache_dir):
    folder = tmp_path / "mine"
    train, test = written(folder / "train.txt", text(1, 20)), written(folder / "test.txt", text(2, 5))
    data = own(folder)
    assert data.sizes == {"train": 36, "val": 4, "test": 10}
    assert questions(data, "test") == read_slowly(test)
    named = own(train, split={"test": str(test), "val": str(test)})
    assert named.sizes == {"train": 40, "val": 10, "test": 10}


def test_an_answer_that_training_lacks_is_an_error_with_its_line(tmp_path, cache_dir):
    train = written(tmp_path / "train.txt", text(1, 20))
    test = written(tmp_path / "test.txt", text(2, 1) + "1 Mary went to the moon.\n2 Where is Mary?\tmoon\t1\n")
    line = len(test.read_text().splitlines())
    options = {"path": str(train), "split": {"test": str(test)}}
    with pytest.raises(DataError, match=rf"^{test}, line {line}: answer that is not in training's vocabulary: 'moon'"):
        own(**options)
    data = own(**options, loader={"on_bad_row": "skip"})
    assert data.sizes["test"] == 2
    assert data.describe()["skipped"] == {"answer that is not in training's vocabulary": 1}
    test.write_text("1 Mary went to the moon.\n2 Where is Mary?\tmoon\t1\n")
    with pytest.raises(DataError, match="no answer of the test split is in training's vocabulary"):
        own(**options, loader={"on_bad_row": "skip"})


def test_an_answer_that_is_only_told_in_training_is_in_its_vocabulary(tmp_path, cache_dir):
    train = written(tmp_path / "train.txt", text(1, 20) + "1 Zoe went home.\n2 Who went?\tZoe\t1\n" * 3)
    test = written(tmp_path / "test.txt", "1 Zoe went home.\n2 Where is Zoe?\thome\t1\n")
    data = own(train, split={"test": str(test)})
    assert questions(data, "test")[0]["answer"] == "home"


def test_the_description(tmp_path, cache_dir):
    """Stories of one statement and one question."""
    names = [f"P{number}" for number in range(8)]
    train = [record(who, "the hall") for who in names] + [record(who, "the yard") for who in names[:2]]
    path = written(tmp_path / "train.jsonl", "\n".join(train))
    test = written(tmp_path / "test.jsonl", "\n".join([record("P0", "the hall"), record("Zoe", "the yard")]))
    data = own(path, split={"val": str(test), "test": str(test)})
    parts = data.describe()
    facts = parts["splits"]
    assert facts["train"]["answers"] == {"the hall": 8, "the yard": 2}
    assert facts["train"]["sentences"] == {"mean": 1.0, "median": 1.0, "max": 1, "bins": {"1": 10}}
    assert facts["train"]["words_of_a_sentence"]["mean"] == 4.0  # five of the statement, three of the question
    assert facts["test"]["unknown_rate"] == pytest.approx(2 / 16)  # Zoe, in the statement and in the question
    assert "test: 1 of 2 questions is in train too" in parts["notes"]
    assert any("80% of the training questions are of class 'the hall'" in note for note in parts["notes"])
    assert parts["examples"][0] == {"story": "P0 went to the hall.", "question": "Where is P0?", "answer": "the hall"}
    assert parts["contents"] == [f"vocabulary {2 + 15 + 2} words and answers, sentences of up to 5 words"]
