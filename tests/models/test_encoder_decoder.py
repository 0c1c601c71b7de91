"""The equations of the RNN encoder-decoder as slow loops."""

import torch

from tests.families import family_of
from tests.models.equations import (
    DOUBLE,
    exactly,
    largest_of_pairs,
    linear,
    pairs_of,
    sigmoid,
    weights_of,
)
from tests.models.variants import VARIANTS
from zoo.models import EncoderDecoder

PAIRS = family_of("translation")
BATCH = PAIRS.batch(3)
EQUATIONS = [{}, *VARIANTS["encoder_decoder"]]


def model_of(**settings):
    torch.manual_seed(0)
    sizes = {"embedding_dim": 4, "hidden_dim": 5, "maxout_dim": 3}
    return exactly(EncoderDecoder(PAIRS.spec, **sizes | settings), biases=True)


def gru(rnn, x, h, context, *, reset_first):
    """h' of one step of one row; `context` = (C_r c, C_z c, C c)."""
    (w_r, w_z, w), (u_r, u_z, u), (b_r, b_z, b), (k_r, k_z, k) = (part.chunk(3) for part in weights_of(rnn))
    r = sigmoid(w_r @ x + b_r + u_r @ h + k_r + context[0])
    z = sigmoid(w_z @ x + b_z + u_z @ h + k_z + context[1])
    inner = u @ (r * h) + k + context[2] if reset_first else r * (u @ h + k + context[2])
    n = (w @ x + b + inner).tanh()
    return z * h + (1 - z) * n


def slow(model, source, read, keep=1.0):
    """Scores (T, V) of one sentence, token by token. `keep` multiplies where dropout acts."""
    zero = torch.zeros(model.encoder.hidden_size, dtype=DOUBLE)
    h, shared = zero, model.encoder is model.decoder
    for token in source:
        h = gru(model.encoder, keep * model.source_embedding.weight[token], h, (zero,) * 3, reset_first=not shared)
    c = linear(model.summary, h).tanh()
    h = linear(model.initial_state, c).tanh()
    context = [part @ c for part in model.gates_context.weight.chunk(3)]
    scores = []
    for token in read:
        y = keep * model.target_embedding.weight[token]
        h = gru(model.decoder, y, h, context, reset_first=False)
        s = linear(model.output_hidden, h) + linear(model.output_token, y) + linear(model.output_context, c)
        scores.append(linear(model.vocabulary, linear(model.bottleneck, keep * largest_of_pairs(s))))
    return torch.stack(scores), None


def rows(model, batch, keep=1.0):
    return [slow(model, *pair, keep) for pair in pairs_of(batch)]
