"""Documents: batches from texts, description, vectors."""

import numpy as np
import pytest
import torch

from tests.data.serving import prepared
from zoo.data.documents.ag_news import AgNews
from zoo.data.documents.encoding import DocumentEncoder, DocumentTextOptions
from zoo.data.documents.samples import news
from zoo.data.stored import histogram
from zoo.data.text.vocabulary import Vocabulary
from zoo.errors import DataError


def small(**options):
    sizes = {"train": 60, "val": 20, "test": 30}
    return prepared(AgNews(text={"minimum_frequency": 1}, sample=sizes, **options))


def test_description(cache_dir):
    about = small().describe()
    items = list(news.generate(110, seed=1))[:60]
    train = about["splits"]["train"]
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
    data = small(vectors=str(path))
    with caplog.at_level("INFO", "zoo"):
        vectors = data.vectors()
    vocabulary = data.encoder.vocabulary
    assert vectors.rows.shape == (len(vocabulary), 3)
    assert vectors.rows[vocabulary.encode(["the"])].tolist() == [[1, 2, 3]]
    assert vectors.found.sum() == 2
    assert not vectors.found[:2].any()
    assert f"my vectors.txt has vectors for {2 / len(vocabulary):.1%} of {len(vocabulary)} words" in caplog.text
    assert small().vectors() is None
    path.write_text("the 1 2 3 4\non 4 5 6 7\nzebra 7 8 9 9\n")
    assert small(vectors=str(path)).vectors().rows.shape[1] == 4
    with pytest.raises(DataError, match=r"none.txt: No such file .*\(data.vectors\); expected: a file of word2vec"):
        small(vectors=str(tmp_path / "none.txt"))


def test_histogram_by_hand():
    found = histogram(np.array([0, 1, 1, 2, 3, 4, 7, 8]))
    assert found["bins"] == {"0": 1, "1": 2, "2-3": 2, "4-7": 2, "8-15": 1}
    assert found["mean"] == 3.25
    assert found["median"] == 2.5
    assert found["max"] == 8
    assert histogram(np.array([5, 64]))["bins"] == {"4-7": 1, "8-15": 0, "16-31": 0, "32-63": 0, "64-127": 1}
    assert histogram(np.array([0]))["bins"] == {"0": 1}


@pytest.fixture
def encoder():
    vocabulary = Vocabulary(["the", "food", "was", "good", ".", "n't"])
    return DocumentEncoder(DocumentTextOptions(max_sentences=3, max_words=6), [vocabulary])


def test_texts(encoder):
    texts = ["The FOOD wasn't good. Été!", "", "<br />", "Good."]
    batch = encoder(texts)
    assert batch.words.tolist() == [
        [[2, 3, 4, 7, 5, 6], [1, 1, 0, 0, 0, 0]],
        [[0] * 6, [0] * 6],
        [[0] * 6, [0] * 6],
        [[5, 6, 0, 0, 0, 0], [0] * 6],
    ]
    assert batch.label is None
    assert batch.evidence is None
    assert batch.sentence_mask.tolist() == [[True, True], [False, False], [False, False], [True, False]]
    assert batch.text == tuple(map(encoder.display, texts))
    assert encoder.display(texts[0]) == [["The", "FOOD", "was", "n't", "good", "."], ["Été", "!"]]
    assert torch.equal(encoder(texts[0]).words, batch.words[:1])
    assert torch.equal(batch.distinct[batch.word_at], batch.word_packing.pack(batch.words))
    assert batch.distinct.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert batch.sentence_packing.cell.tolist() == [0, 6, 1]  # rows of two: the first sentences, then the second one


def test_limits_cut_the_batch_and_what_is_shown_alike(encoder):
    text = "One two three four five six seven. B.\n\nC d.\n\nE.\n\nF."
    words, batch = encoder.display(text), encoder(text)
    assert [len(sentence) for sentence in words] == batch.word_mask[0].sum(-1).tolist() == [6, 2, 3]


def test_empty_texts(encoder):
    batch = encoder(["", ""])
    assert batch.words.shape == (2, 1, 1) and not batch.word_mask.any()
    assert len(encoder([])) == 0
