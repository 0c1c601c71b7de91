"""HAN against the paper's equations written as slow loops, its published size, and its two ablations."""

import pytest
import torch

from tests.models.equations import both_directions, halve, linear
from zoo.data.documents.batch import DocumentBatch, DocumentSpec
from zoo.models import HAN

SPEC = DocumentSpec(vocabulary_size=30, classes=("a", "b", "c"))
SMALL = {
    "embedding_dim": 4,
    "word_hidden_dim": 3,
    "word_attention_dim": 5,
    "sentence_hidden_dim": 2,
    "sentence_attention_dim": 3,
}


def batch_of(documents):
    """A padded batch from documents given as lists of sentences of word ids."""
    sentences = max(len(document) for document in documents)
    width = max(len(sentence) for document in documents for sentence in document)
    words = torch.zeros(len(documents), sentences, width, dtype=torch.long)
    for b, document in enumerate(documents):
        for s, sentence in enumerate(document):
            words[b, s, : len(sentence)] = torch.tensor(sentence)
    return DocumentBatch(words, words != 0)


DOCUMENTS = [[[2, 3, 4], [5]], [[6, 2]], [[7, 8, 9, 10, 2], [3, 3], [11, 12, 13]]]


def attend(pool, hidden):
    scores = torch.stack(
        [(pool.score.projection.weight @ h + pool.score.projection.bias).tanh() @ pool.score.context for h in hidden]
    )
    weights = scores.exp() / scores.exp().sum()
    return sum(a * h for a, h in zip(weights, hidden, strict=True)), weights


@pytest.mark.parametrize("keep", [1.0, 0.5])
def test_equals_the_equations_written_as_loops(keep, monkeypatch):
    """In training too, where dropout halves words, sentences and documents."""
    halve(monkeypatch)
    torch.manual_seed(0)
    model = HAN(SPEC, **SMALL, dropout=0.5).double().train(keep < 1)
    output = model(batch_of(DOCUMENTS))
    for b, document in enumerate(DOCUMENTS):
        sentence_vectors = []
        for s, sentence in enumerate(document):
            words = [keep * model.embedding.weight[w] for w in sentence]
            vector, weights = attend(model.word_attention, both_directions(model.word_encoder, words))
            sentence_vectors.append(keep * vector)
            torch.testing.assert_close(output.attention["word"][b, s, : len(sentence)], weights)
        v, weights = attend(model.sentence_attention, both_directions(model.sentence_encoder, sentence_vectors))
        torch.testing.assert_close(output.attention["sentence"][b, : len(document)], weights)
        torch.testing.assert_close(output.logits[b], linear(model.classifier, keep * v))


def test_max_pooling_has_no_weights_and_no_attention_parameters():
    model = HAN(SPEC, **SMALL, word_pooling="max", sentence_pooling="max")
    assert model(batch_of(DOCUMENTS)).attention == {}
    assert not [name for name, _ in model.named_parameters() if "attention" in name]
