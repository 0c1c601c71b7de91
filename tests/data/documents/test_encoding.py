"""Padding, evidence and packings of a batch against a slow loop; texts at prediction."""

import datasets
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.data.documents.batch import DocumentBatch
from zoo.data.documents.encoding import DocumentEncoder
from zoo.data.documents.options import DocumentTextOptions
from zoo.data.stored import StoredSplit
from zoo.data.text.vocabulary import Vocabulary

DOCUMENTS = st.lists(st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=6), max_size=5), min_size=1, max_size=7)


def slow_batch(documents, labels, numbers):
    """The batch by three loops."""
    sentences = max(1, max(map(len, documents)))
    width = max([1, *(len(sentence) for document in documents for sentence in document)])
    words = torch.zeros(len(documents), sentences, width, dtype=torch.long)
    mask = torch.zeros(len(documents), sentences, width, dtype=torch.bool)
    evidence = torch.zeros(len(documents), sentences, width, dtype=torch.bool)
    for b, document in enumerate(documents):
        for s, sentence in enumerate(document):
            for w, word in enumerate(sentence):
                words[b, s, w], mask[b, s, w], evidence[b, s, w] = word, True, word % 3 == 0
    return DocumentBatch.of(words, mask, torch.tensor(labels), index=torch.tensor(numbers), evidence=evidence)


def stored(documents, evidence=True):
    columns = {
        "words": documents,
        "label": [len(document) % 4 for document in documents],
        "num_words": [sum(map(len, document)) for document in documents],
    }
    if evidence:
        columns["evidence"] = [[[word % 3 == 0 for word in s] for s in document] for document in documents]
    nested = datasets.List(datasets.List(datasets.Value("int32")))
    features = {"words": nested, "label": datasets.Value("int64"), "num_words": datasets.Value("int32")}
    if evidence:
        features["evidence"] = datasets.List(datasets.List(datasets.Value("bool")))
    found = datasets.Dataset.from_dict(columns, features=datasets.Features(features))
    return StoredSplit(found, [part.name for part in DocumentEncoder.parts], columns["num_words"])


def collate(rows):
    return DocumentEncoder(DocumentTextOptions(), [Vocabulary([])]).collate(rows)


@settings(max_examples=80)
@given(DOCUMENTS, st.data())
def test_collate_equals_a_slow_loop(documents, data):
    numbers = data.draw(st.lists(st.integers(0, len(documents) - 1), min_size=1, max_size=8))
    part = stored(documents)
    batch = collate(part.__getitems__(numbers))
    expected = slow_batch([documents[n] for n in numbers], [len(documents[n]) % 4 for n in numbers], numbers)
    for name in ("words", "word_mask", "sentence_mask", "index", "label", "evidence", "distinct", "word_at"):
        found, right = getattr(batch, name), getattr(expected, name)
        assert found.dtype == right.dtype, name
        assert torch.equal(found, right), name
    assert torch.equal(batch.word_packing.cell, expected.word_packing.cell)
    assert torch.equal(batch.sentence_packing.cell, expected.sentence_packing.cell)
    np.testing.assert_array_equal(part.lengths, [sum(map(len, document)) for document in documents])


def test_without_evidence():
    batch = collate(stored([[[1, 2]], []], evidence=False).__getitems__([1, 0]))
    assert batch.evidence is None
    assert batch.words.tolist() == [[[0, 0]], [[1, 2]]]
    assert batch.index.tolist() == [1, 0]
    assert batch.label.tolist() == [0, 1]
    assert len(stored([[[1, 2]], []])) == 2
    assert collate(stored([[[1, 2]]])[0]).words.tolist() == [[[1, 2]]]


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
    assert encoder.display(texts[0]) == [["The", "FOOD", "was", "n't", "good", "."], ["Été", "!"]]
    assert torch.equal(encoder(texts[0]).words, batch.words[:1])


def test_words_stand_where_the_batch_has_them(encoder):
    text = "One two three four five six seven. B.\n\nC d.\n\nE.\n\nF."
    words, batch = encoder.display(text), encoder(text)
    assert [len(sentence) for sentence in words] == batch.word_mask[0].sum(-1).tolist() == [6, 2, 3]


def test_nothing_but_empty_texts(encoder):
    batch = encoder(["", ""])
    assert batch.words.shape == (2, 1, 1)
    assert not batch.word_mask.any()
    assert len(encoder([])) == 0


def test_state_is_plain_and_comes_back(encoder, tmp_path):
    torch.save(encoder.state(), tmp_path / "state.pt")
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    again = DocumentEncoder.from_state(state)
    assert again.text_options == encoder.text_options
    assert torch.equal(again("The food.").words, encoder("The food.").words)
