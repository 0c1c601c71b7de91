"""Batches of documents from texts: sentences, limits, empty texts."""

import pytest
import torch

from zoo.data.documents.encoding import DocumentEncoder, DocumentTextOptions
from zoo.data.text.vocabulary import Vocabulary


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


def test_words_stand_where_the_batch_has_them(encoder):
    text = "One two three four five six seven. B.\n\nC d.\n\nE.\n\nF."
    words, batch = encoder.display(text), encoder(text)
    assert [len(sentence) for sentence in words] == batch.word_mask[0].sum(-1).tolist() == [6, 2, 3]


def test_nothing_but_empty_texts(encoder):
    batch = encoder(["", ""])
    assert batch.words.shape == (2, 1, 1)
    assert not batch.word_mask.any()
    assert len(encoder([])) == 0
