"""Prepared documents: description and vectors."""

import numpy as np
import pytest

from zoo.data.documents.ag_news import AgNews
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
    assert train["words"]["max"] == max(sum(map(len, item.sentences)) for item in items)
    assert train["classes"] == {name: sum(item.label == n for item in items) for n, name in enumerate(news.TOPICS)}
    texts = [" ".join(word for sentence in item.sentences for word in sentence) for item in items[:3]]
    assert max(map(len, texts)) > 300
    assert about["examples"] == [
        {"label": news.TOPICS[item.label], "text": text if len(text) <= 300 else text[:300] + " ..."}
        for item, text in zip(items, texts, strict=False)
    ]


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


def test_histogram_by_hand():
    found = histogram(np.array([0, 1, 1, 2, 3, 4, 7, 8]))
    assert found["bins"] == {"0": 1, "1": 2, "2-3": 2, "4-7": 2, "8-15": 1}
    assert found["mean"] == 3.25
    assert found["median"] == 2.5
    assert found["max"] == 8
    assert histogram(np.array([5, 64]))["bins"] == {"4-7": 1, "8-15": 0, "16-31": 0, "32-63": 0, "64-127": 1}
    assert histogram(np.array([0]))["bins"] == {"0": 1}
