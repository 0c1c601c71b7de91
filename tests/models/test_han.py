"""HAN against the paper's equations written as slow loops, its published size, and its two ablations."""

import pytest
import torch

from tests.families import family_of
from tests.models.equations import both_directions, halve, linear
from zoo.models import HAN

SMALL = {
    "embedding_dim": 4,
    "word_hidden_dim": 3,
    "word_attention_dim": 5,
    "sentence_hidden_dim": 2,
    "sentence_attention_dim": 3,
}


FAMILY = family_of("classification")
BATCH = FAMILY.part(FAMILY.batch(1), [0, 1, 2, 3])


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
    model = HAN(FAMILY.spec, **SMALL, dropout=0.5).double().train(keep < 1)
    output = model(BATCH)
    for b, rows in enumerate(zip(BATCH.words, BATCH.word_mask, strict=True)):
        document = [words[mask].tolist() for words, mask in zip(*rows, strict=True) if mask.any()]
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
    model = HAN(FAMILY.spec, **SMALL, word_pooling="max", sentence_pooling="max")
    assert model(BATCH).attention == {}
    assert not [name for name, _ in model.named_parameters() if "attention" in name]
