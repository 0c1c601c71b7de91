"""The equations of sequence to sequence with LSTMs as slow loops, and the order of the source."""

import torch

from tests.families import family_of
from tests.models.equations import (
    DOUBLE,
    exactly,
    layers,
    linear,
    pairs_of,
)
from tests.models.variants import VARIANTS
from zoo.models import Seq2SeqLSTM
from zoo.models.seq2seq_lstm import reversed_words

PAIRS = family_of("translation")
BATCH = PAIRS.batch(3)
EQUATIONS = [{}, *VARIANTS["seq2seq_lstm"]]


def model_of(**settings):
    torch.manual_seed(0)
    sizes = {"embedding_dim": 4, "hidden_dim": 5, "num_layers": 3, "init_range": 0.8}
    return exactly(Seq2SeqLSTM(PAIRS.spec, **sizes | settings))


def slow(model, source, read, keep=1.0):
    """Scores (T, V) of one sentence, token by token. `keep` multiplies where dropout acts."""
    zero = torch.zeros(model.encoder.hidden_size, dtype=DOUBLE)
    states = [(zero, zero)] * model.encoder.num_layers
    for token in [*reversed(source[:-1]), *source[-1:]] if model.reverse_source else source:
        _, states = layers(model.encoder, keep * model.source_embedding.weight[token], states, keep)
    scores = []
    for token in read:
        h, states = layers(model.decoder, keep * model.target_embedding.weight[token], states, keep)
        scores.append(linear(model.vocabulary, keep * h))
    return torch.stack(scores), None


def rows(model, batch, keep=1.0):
    return [slow(model, *pair, keep) for pair in pairs_of(batch)]


def test_words_are_reversed_inside_their_length_and_the_end_stays_last():
    tokens = torch.tensor([[5, 6, 7, 8, 3], [5, 6, 3, 0, 0], [9, 3, 0, 0, 0], [3, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    expected = torch.tensor([[8, 7, 6, 5, 3], [6, 5, 3, 0, 0], [9, 3, 0, 0, 0], [3, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    assert torch.equal(reversed_words(tokens, tokens > 0), expected)
