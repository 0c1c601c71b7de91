"""Prepared documents: description, vectors, and the written words."""

import csv
import subprocess
import sys

import numpy as np
import pytest

from zoo.data.documents.ag_news import AgNews
from zoo.data.documents.own import OwnDocuments
from zoo.data.documents.samples import news
from zoo.data.stored import histogram
from zoo.errors import DataError


def prepared(**options):
    data = AgNews(**{"text": {"minimum_frequency": 1}, "sample": {"train": 60, "val": 20, "test": 30}} | options)
    data.prepare_data()
    data.setup()
    return data


def test_description(cache_dir):
    about = prepared().describe()
    items = list(news.generate(110, seed=1))[:60]
    train = about["splits"]["train"]
    words = [sum(map(len, item.sentences)) for item in items]
    assert train["words"]["mean"] == pytest.approx(np.mean(words), abs=0.005)
    assert train["words"]["median"] == np.median(words)
    assert train["words"]["max"] == max(words)
    bins = train["words"]["bins"]
    assert bins["32-63"] == sum(32 <= n <= 63 for n in words)
    assert sum(bins.values()) == sum(train["sentences"]["bins"].values()) == 60
    first = min(words).bit_length()
    assert next(iter(bins)) == f"{2 ** (first - 1)}-{2**first - 1}"
    assert train["classes"] == {name: sum(item.label == n for item in items) for n, name in enumerate(news.TOPICS)}
    assert len(about["examples"]) == 3
    texts = [" ".join(word for sentence in item.sentences for word in sentence) for item in items[:3]]
    assert max(map(len, texts)) > 300
    assert about["examples"] == [
        {"label": news.TOPICS[item.label], "text": text if len(text) <= 300 else text[:300] + " ..."}
        for item, text in zip(items, texts, strict=False)
    ]
    assert about["vocabulary_size"] > 100
    assert about["skipped"] == {}


def test_vectors(tmp_path, cache_dir, caplog):
    path = tmp_path / "my vectors.txt"
    path.write_text("the 1 2 3\non 4 5 6\nzebra 7 8 9\n")
    data = prepared(vectors=str(path))
    with caplog.at_level("INFO", "zoo"):
        vectors = data.vectors()
    vocabulary = data.encoder.vocabulary
    assert vectors.rows.shape == (len(vocabulary), 3)
    assert vectors.rows[vocabulary.encode(["the"])].tolist() == [[1, 2, 3]]
    assert vectors.found.sum() == 2
    assert not vectors.found[:2].any()
    assert f"my vectors.txt has vectors for {2 / len(vocabulary):.1%} of {len(vocabulary)} words" in caplog.text
    assert prepared().vectors() is None
    path.write_text("the 1 2 3 4\non 4 5 6 7\nzebra 7 8 9 9\n")
    assert prepared(vectors=str(path)).vectors().rows.shape[1] == 4
    with pytest.raises(DataError, match=r"none.txt: No such file .*\(data.vectors\); expected: a file of word2vec"):
        prepared(vectors=str(tmp_path / "none.txt"))


def test_a_model_that_needs_a_batch_does_not_load_lightning():
    modules = "sys, zoo.data.documents.batch, zoo.data.pairs.batch, zoo.data.documents.spec, zoo.data.pairs.spec"
    program = f"import {modules}\nassert not {{'lightning', 'datasets'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_histogram_by_hand():
    found = histogram(np.array([0, 1, 1, 2, 3, 4, 7, 8]))
    assert found["bins"] == {"0": 1, "1": 2, "2-3": 2, "4-7": 2, "8-15": 1}
    assert found["mean"] == 3.25
    assert found["median"] == 2.5
    assert found["max"] == 8
    assert histogram(np.array([5, 64]))["bins"] == {"4-7": 1, "8-15": 0, "16-31": 0, "32-63": 0, "64-127": 1}
    assert histogram(np.array([0]))["bins"] == {"0": 1}


def test_evaluation_keeps_the_words_as_written_and_training_does_not(tmp_path, cache_dir):
    rows = [(f"The FOOD{n} wasn't good. Été!", n % 2) for n in range(40)]
    path = tmp_path / "a.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    data = OwnDocuments(path=str(path), text={"minimum_frequency": 2})
    data.prepare_data()
    data.setup()
    assert next(iter(data.train_dataloader())).text is None
    for loader in (data.val_dataloader(), data.test_dataloader()):
        for batch in loader:
            assert len(batch.text) == len(batch)
            for number, document in enumerate(batch.text):
                assert [len(sentence) for sentence in document] == [6, 2]
                assert document[0][0] == "The"
                assert document[0][1].startswith("FOOD")
                assert document[1] == ["Été", "!"]
                known = data.encoder.vocabulary.decode(batch.words[number, 0, :6].tolist())
                assert known == ["the", "<unk>", "was", "n't", "good", "."]
            first = batch.to("cpu").first(1)
            assert first.text == batch.text[:1]
    texts = data.encoder(["The FOOD! Bad.", ""]).text
    assert texts == ([["The", "FOOD", "!"], ["Bad", "."]], [])


def test_generated_documents_keep_their_words_for_evaluation_too(cache_dir):
    data = prepared()
    batch = next(iter(data.test_dataloader()))
    for number, document in enumerate(batch.text):
        mask = batch.word_mask[number]
        assert [len(sentence) for sentence in document] == mask.sum(1)[mask.any(1)].tolist()
