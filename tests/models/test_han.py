"""HAN against the paper's equations written as slow loops, its published size, and its two ablations."""

import pytest
import torch

from zoo.data.documents.batch import DocumentBatch
from zoo.data.documents.spec import DocumentSpec
from zoo.models import HAN

VARIANTS = [
    {"word_pooling": "mean", "sentence_pooling": "max"},
    {"word_pooling": "max", "sentence_pooling": "mean"},
]
"""Other ways through the network than its defaults, which keep the contract too."""

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


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def gru_loop(weights, suffix, inputs):
    """torch's GRU, one step after the other, in the paper's letters: r reset, z update, n candidate."""
    w_ir, w_iz, w_in = weights[f"weight_ih_l0{suffix}"].chunk(3)
    w_hr, w_hz, w_hn = weights[f"weight_hh_l0{suffix}"].chunk(3)
    b_ir, b_iz, b_in = weights[f"bias_ih_l0{suffix}"].chunk(3)
    b_hr, b_hz, b_hn = weights[f"bias_hh_l0{suffix}"].chunk(3)
    h, outputs = torch.zeros(w_hr.shape[1], dtype=torch.float64), []
    for x in inputs:
        r = sigmoid(w_ir @ x + b_ir + w_hr @ h + b_hr)
        z = sigmoid(w_iz @ x + b_iz + w_hz @ h + b_hz)
        n = (w_in @ x + b_in + r * (w_hn @ h + b_hn)).tanh()
        h = (1 - z) * n + z * h
        outputs.append(h)
    return outputs


def both_directions(encoder, inputs):
    weights = dict(encoder.named_parameters())
    forward = gru_loop(weights, "", inputs)
    backward = gru_loop(weights, "_reverse", inputs[::-1])[::-1]
    return [torch.cat(pair) for pair in zip(forward, backward, strict=True)]


def attend(pool, hidden):
    scores = torch.stack(
        [(pool.score.projection.weight @ h + pool.score.projection.bias).tanh() @ pool.score.context for h in hidden]
    )
    weights = scores.exp() / scores.exp().sum()
    return sum(a * h for a, h in zip(weights, hidden, strict=True)), weights


def test_equals_the_equations_written_as_loops():
    torch.manual_seed(0)
    model = HAN(SPEC, **SMALL).double().eval()
    output = model(batch_of(DOCUMENTS))
    for b, document in enumerate(DOCUMENTS):
        sentence_vectors = []
        for s, sentence in enumerate(document):
            vector, weights = attend(
                model.word_attention, both_directions(model.word_encoder, [model.embedding.weight[w] for w in sentence])
            )
            sentence_vectors.append(vector)
            torch.testing.assert_close(output.attention["word"][b, s, : len(sentence)], weights)
        v, weights = attend(model.sentence_attention, both_directions(model.sentence_encoder, sentence_vectors))
        torch.testing.assert_close(output.attention["sentence"][b, : len(document)], weights)
        torch.testing.assert_close(output.logits[b], model.classifier.weight @ v + model.classifier.bias)


def test_the_papers_size():
    model = HAN(DocumentSpec(vocabulary_size=1000, classes=tuple("12345")))
    non_embedding = sum(p.numel() for name, p in model.named_parameters() if not name.startswith("embedding"))
    assert non_embedding == 142_105


def test_max_pooling_has_no_weights_and_no_attention_parameters():
    model = HAN(SPEC, **SMALL, word_pooling="max", sentence_pooling="max")
    assert model(batch_of(DOCUMENTS)).attention == {}
    assert not [name for name, _ in model.named_parameters() if "attention" in name]


def test_an_unknown_pooling_is_named():
    with pytest.raises(ValueError, match="expected attention, mean or max, found 'median'"):
        HAN(SPEC, word_pooling="median")


def test_dropout_drops_in_training_only():
    torch.manual_seed(0)
    model = HAN(SPEC, **SMALL, dropout=0.5)
    batch = batch_of(DOCUMENTS)
    assert not torch.equal(model(batch).logits, model(batch).logits)
    model.eval()
    assert torch.equal(model(batch).logits, model(batch).logits)
