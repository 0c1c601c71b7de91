"""CBT, CNN and the Daily Mail: every source, and every layout of the official files."""

import datasets
import pytest
import torch

from tests.data.cloze.blocks import NAMES, block, question_file, write_blocks
from tests.data.serving import batches, prepared, served
from zoo.data.cloze.batch import BLANK
from zoo.data.cloze.cbt import ChildrensBookTest
from zoo.data.cloze.cnn import Cnn, DailyMail
from zoo.data.cloze.module import MISSING
from zoo.data.cloze.samples import stories
from zoo.errors import ConfigError, DataError

SMALL = {"train": 60, "val": 20, "test": 30}


def corpus(cls=ChildrensBookTest, **options):
    return prepared(cls(**{"sample": SMALL} | options))


# samples


@pytest.mark.parametrize(
    ("cls", "options", "said"),
    [
        (ChildrensBookTest, {}, "NE questions"),
        (ChildrensBookTest, {"kind": "CN"}, "CN questions"),
        (Cnn, {}, "anonymous questions"),
        (DailyMail, {}, "anonymous questions"),
    ],
)
def test_samples(cls, options, said, cache_dir):
    data = corpus(cls, **options)
    assert data.sizes == SMALL
    assert data.source_description == f"sample: 110 generated {said}, seed 1"
    assert data.spec.vocabulary_size == len(data.encoder.vocabulary)
    assert data.spec.blank == 2
    assert data.encoder.vocabulary.words.count(BLANK) == 1
    splits = data.describe()["splits"]
    assert splits["test"]["candidates"] == 10
    assert splits["train"]["unknown_rate"] == 0
    given = {"kind": "NE", "anonymous": cls is not ChildrensBookTest} | options
    questions = list(stories.generate(110, seed=1, **given))
    for split, part in (("train", questions[:60]), ("test", questions[80:])):
        assert served(data, split, "answer") == [one.candidates.index(one.answer) for one in part]
    vocabulary = data.encoder.vocabulary
    fields = ("document", "document_mask", "query", "query_mask", "evidence", "occurrence", "answer")
    for question, one in zip(questions[60:80], served(data, "val", *fields), strict=True):
        document, mask, query, query_mask, evidence, occurrence, answer = one
        words = [word for sentence in question.sentences for word in sentence]
        assert document[mask].tolist() == vocabulary.encode(words)
        assert vocabulary.decode(query[query_mask].tolist()) == question.query
        told = [n in question.evidence for n, sentence in enumerate(question.sentences) for _ in sentence]
        assert evidence[mask].tolist() == told
        assert {words[at] for at in (occurrence == answer).nonzero()[:, 0].tolist()} == {question.answer}


def test_the_sample_has_names_and_things_alone(cache_dir):
    with pytest.raises(ConfigError, match=r"data.kind=V: the sample removes only NE or CN; use one of these, data."):
        corpus(kind="V")
    with pytest.raises(ConfigError, match=r"data.kind=NN: expected NE, CN, V or P"):
        ChildrensBookTest(kind="NN")


def test_description(cache_dir):
    about = corpus().describe()
    questions = list(stories.generate(110, seed=1))[:60]
    train = about["splits"]["train"]
    assert train["query_words"]["max"] == max(len(one.query) for one in questions)
    flat = [[word for sentence in one.sentences for word in sentence] for one in questions]
    first = [words.index(one.answer) / len(words) for one, words in zip(questions, flat, strict=True)]
    assert train["first_answer_share"] == pytest.approx(sum(first) / 60)
    best = [max(one.candidates, key=words.count) for one, words in zip(questions, flat, strict=True)]
    right = sum(one.answer == said for one, said in zip(questions, best, strict=True))
    assert train["most_frequent_is_right_share"] == right / 60
    share = about["splits"]["test"]["most_frequent_is_right_share"]
    assert about["notes"] == [
        f"test: always choosing the most frequent candidate of the document is right in {share:.1%}"
    ]


# files


def official(folder, kind="NE"):
    for name, count in (("train", 12), ("valid_2000ex", 4), ("test_2500ex", 5)):
        write_blocks(folder / f"cbtest_{kind}_{name}.txt", [block(n + len(name)) for n in range(count)])
    return folder


def test_the_official_folder(tmp_path, cache_dir):
    official(tmp_path / "CBTest" / "data", "NE")
    official(tmp_path / "CBTest" / "data", "CN")
    for path in (tmp_path / "CBTest", tmp_path / "CBTest" / "data"):
        data = corpus(source=str(path), kind="CN")
        assert data.sizes == {"train": 12, "val": 4, "test": 5}
        # the second time they are prepared already, whatever they are called
        assert data.source_description == f"path: {tmp_path / 'CBTest'}, 21 CN questions"
    with pytest.raises(DataError, match=r"no cbtest_P_train.txt; there are training questions of the kinds CN, NE "):
        corpus(source=str(tmp_path / "CBTest"), kind="P")


def test_own_files_of_that_form(tmp_path, cache_dir):
    path = write_blocks(tmp_path / "mine.txt", [block(n) for n in range(40)])
    data = corpus(source=str(path), split={"val": 0.1, "test": 0.2})
    assert data.sizes == {"train": 28, "val": 4, "test": 8}
    folder = tmp_path / "mine"
    write_blocks(folder / "train.txt", [block(n) for n in range(9)])
    write_blocks(folder / "dev.txt", [block(n) for n in range(9)])
    data = corpus(source=str(folder), split={"test": 0.3})
    assert data.sizes == {"train": 6, "val": 9, "test": 3}
    assert "val: 6 of 9 questions are in train too" in data.describe()["notes"]


def test_a_training_answer_that_stands_nowhere_is_left_out_and_one_of_the_test_stays(tmp_path, cache_dir):
    away = {n: f"{n} Bob met the cats" for n in range(1, 21)}
    for name in ("train", "valid", "test"):
        blocks = [block(1), block(11), block(2, lines=away), block(21)]
        write_blocks(tmp_path / f"cbtest_NE_{name}.txt", blocks)
    data = corpus(source=str(tmp_path))
    assert data.sizes == {"train": 3, "val": 4, "test": 4}
    splits = data.describe()["splits"]
    assert splits["train"]["dropped"] == {MISSING: 1}
    assert "dropped" not in splits["test"]
    assert splits["test"]["answers_missing"] == 1
    assert "test: the answers of 1 of 4 questions are not in their documents" in "".join(data.describe()["notes"])
    occurrence, answer, candidates = served(data, "test", "occurrence", "answer", "candidate_mask")[2]
    assert not (occurrence == answer).any() and candidates.all()


def test_words_that_differ_in_case_alone_may_share_a_vector(tmp_path, cache_dir):
    official(tmp_path)
    kept, lower = (corpus(source=str(tmp_path), text={"lower": lower}) for lower in (False, True))
    assert "Then" in kept.encoder.vocabulary
    assert "Then" not in lower.encoder.vocabulary
    assert "ann" in lower.encoder.vocabulary
    assert lower.describe()["splits"]["test"]["unknown_rate"] < 0.2
    for one, other in zip(batches(kept, "test"), batches(lower, "test"), strict=True):
        assert torch.equal(one.occurrence, other.occurrence)
    few = corpus(source=str(tmp_path), text={"vocabulary_size": 6}).encoder.vocabulary
    assert few.words == ["<pad>", "<unk>", BLANK, "cats", "met", "the"]


def test_cnn(tmp_path, cache_dir):
    for split, count in (("training", 5), ("validation", 2), ("test", 3)):
        for n in range(count):
            question_file(tmp_path / "cnn" / "questions" / split / f"{n:03}.question", query=f"@placeholder saw {n}")
    (tmp_path / "cnn" / "questions" / "test" / "notes.txt").write_text("no question")
    for path in (tmp_path / "cnn", tmp_path / "cnn" / "questions"):
        data = corpus(Cnn, source=str(path))
        assert data.sizes == {"train": 5, "val": 2, "test": 3}
    assert [" ".join(text.query) for text in served(data, "test", "text")] == [f"XXXXX saw {n}" for n in range(3)]
    question_file(tmp_path / "cnn" / "questions" / "test" / "001.question", query="@placeholder met 1")
    text = served(corpus(Cnn, source=str(path)), "test", "text")[1]
    assert " ".join(text.query) == "XXXXX met 1"  # the prepared data were of another file
    with pytest.raises(ConfigError, match=r"not on the Hugging Face hub; download dailymail.tgz of the questions from"):
        corpus(DailyMail, source="hub")


# the hub


def record(n, **changes):
    lines = [line.split(" ", 1)[1] for line in block(n)]
    question, answer = lines[20].split("\t")[:2]
    return {"sentences": lines[:20], "question": question, "answer": answer, "options": list(NAMES)} | changes


def test_the_hub(cache_dir, monkeypatch):
    asked = []

    def load(repository, *, name, split):
        asked.append((repository, name, split))
        return datasets.Dataset.from_list([record(n + len(split)) for n in range(4)])

    monkeypatch.setattr(datasets, "load_dataset", load)
    data = corpus(source="hub", kind="V")
    assert asked == [("cam-cst/cbt", "V", split) for split in ("train", "validation", "test")]
    assert data.sizes == {"train": 4, "val": 4, "test": 4}
    assert data.source_description == "hub: cam-cst/cbt V, 12 questions"
    text = served(data, "test", "text")[0]
    assert text.query == ["Then", BLANK, "slept", "4", "."] and len(text.sentence_ends) == 20
    assert data.open_source().identity != ChildrensBookTest(source="hub", kind="P").open_source().identity


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"answer": None}, "answer not among the candidates"),
        ({"sentences": None}, "empty document"),
        ({"question": None}, "no blank"),
    ],
)
def test_a_row_of_the_hub_that_asks_nothing(cache_dir, monkeypatch, changes, problem):
    rows = [record(0), record(1, **changes)]
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: datasets.Dataset.from_list(rows))
    with pytest.raises(DataError, match=f"cam-cst/cbt, NE, train, row 2: {problem}"):
        corpus(source="hub")
