"""Networks that write, against the papers' equations as slow loops over one example."""

import math
from functools import partial

import pytest
import torch

from tests.families import family_of
from tests.models.cells import ENCODER, SPEC, batch_of, captions_of
from tests.models.equations import (
    DOUBLE,
    additive,
    assert_drops,
    assert_equals_the_equations,
    exactly,
    halve,
    largest_of_pairs,
    layers,
    linear,
    lstm,
    mean,
    pairs_of,
    sigmoid,
    softmax,
    weights_of,
)
from tests.models.variants import VARIANTS
from zoo.attention.local import MonotonicWindow, PredictedWindow
from zoo.models import CaptionRNNSearch, EncoderDecoder, Luong, RNNSearch, Seq2SeqLSTM, ShowAndTell, ShowAttendTell
from zoo.models.seq2seq_lstm import reversed_words

PAIRS = family_of("translation")
REACH = 2
SMALL = {"embedding_dim": 4, "hidden_dim": 5}

# Each function gives the scores (T, V) of an example and its weights (T, S) or None, from its source, the words or the
# cells of an image, and the tokens that are read. `keep` multiplies where dropout acts.


def joined_gru(rnn, x, h, context, *, reset_first):
    """h' of one step of one row; `context` = (C_r c, C_z c, C c)."""
    (w_r, w_z, w), (u_r, u_z, u), (b_r, b_z, b), (k_r, k_z, k) = (part.chunk(3) for part in weights_of(rnn))
    r = sigmoid(w_r @ x + b_r + u_r @ h + k_r + context[0])
    z = sigmoid(w_z @ x + b_z + u_z @ h + k_z + context[1])
    inner = u @ (r * h) + k + context[2] if reset_first else r * (u @ h + k + context[2])
    n = (w @ x + b + inner).tanh()
    return z * h + (1 - z) * n


def encoder_decoder(model, source, read, keep=1.0):
    zero = torch.zeros(model.encoder.hidden_size, dtype=DOUBLE)
    h, shared = zero, model.encoder is model.decoder
    for token in source:
        x = keep * model.source_embedding.weight[token]
        h = joined_gru(model.encoder, x, h, (zero,) * 3, reset_first=not shared)
    c = linear(model.summary, h).tanh()
    h = linear(model.initial_state, c).tanh()
    context = [part @ c for part in model.gates_context.weight.chunk(3)]
    scores = []
    for token in read:
        y = keep * model.target_embedding.weight[token]
        h = joined_gru(model.decoder, y, h, context, reset_first=False)
        s = linear(model.output_hidden, h) + linear(model.output_token, y) + linear(model.output_context, c)
        scores.append(linear(model.vocabulary, linear(model.bottleneck, keep * largest_of_pairs(s))))
    return torch.stack(scores), None


def seq2seq_lstm(model, source, read, keep=1.0):
    zero = torch.zeros(model.encoder.hidden_size, dtype=DOUBLE)
    states = [(zero, zero)] * model.encoder.num_layers
    for token in [*reversed(source[:-1]), *source[-1:]] if model.reverse_source else source:
        _, states = layers(model.encoder, keep * model.source_embedding.weight[token], states, keep)
    scores = []
    for token in read:
        h, states = layers(model.decoder, keep * model.target_embedding.weight[token], states, keep)
        scores.append(linear(model.vocabulary, keep * h))
    return torch.stack(scores), None


def score_of(model, h_t, h_s, s):
    """Section 3.1; of a word at position s."""
    name, score = type(model.score).__name__, model.score
    if name == "DotScore":
        return h_t @ h_s
    if name == "GeneralScore":
        return h_t @ score.projection.weight @ h_s
    if name == "ConcatScore":
        return score.v @ (score.weight @ torch.cat([h_t, h_s])).tanh()
    assert name == "LocationScore"
    return score.projection.weight[s] @ h_t


def luong_weights(model, h_t, memory, t):
    """a_t over the words of one sentence, sections 3.1 and 3.2; its end, the last of `memory`, is not attended."""
    memory, end = memory[:-1], torch.zeros(1, dtype=DOUBLE)
    length = len(memory)
    if not length:
        return end
    scores = [score_of(model, h_t, h_s, s) for s, h_s in enumerate(memory)]
    centre = p = t
    if isinstance(model.window, MonotonicWindow):
        centre = min(t, length - 1)
    if isinstance(model.window, PredictedWindow):
        p = length * sigmoid(model.window.v @ (model.window.projection.weight @ h_t).tanh())
        centre = math.floor(p.detach())
    inside = [s for s in range(length) if model.window is None or centre - REACH <= s <= centre + REACH]
    total = sum(scores[s].exp() for s in inside)
    weights = [scores[s].exp() / total if s in inside else torch.zeros((), dtype=DOUBLE) for s in range(length)]
    if isinstance(model.window, PredictedWindow):
        sigma = REACH / 2
        weights = [a * (-((s - p) ** 2) / (2 * sigma**2)).exp() for s, a in enumerate(weights)]
    return torch.cat([torch.stack(weights), end])


def luong(model, source, read, keep=1.0):
    zero = torch.zeros(model.encoder.hidden_size, dtype=DOUBLE)
    states, memory = [(zero, zero)] * model.encoder.num_layers, []
    order = 1 - 2 * model.reverse_source
    for word in source[::order]:
        h_s, states = layers(model.encoder, keep * model.source_embedding.weight[word], states, keep)
        memory.append(h_s)
    memory, fed, scores, found = memory[::order], zero, [], []
    for t, token in enumerate(read):
        x = keep * model.target_embedding.weight[token]
        h_t, states = layers(model.decoder, torch.cat([x, fed]) if model.input_feeding else x, states, keep)
        a = luong_weights(model, h_t, memory, t)
        context = sum(a_s * h_s for a_s, h_s in zip(a, memory, strict=True))
        fed = keep * linear(model.attentional, torch.cat([context, h_t])).tanh()
        scores.append(linear(model.vocabulary, fed))
        found.append(a)
    return torch.stack(scores), torch.stack(found)


def gru(sums, s, u_r, u_z, u):
    """A.1.1 and A.1.2, from what the input and the context give to the three sums."""
    x_r, x_z, x = sums
    r, z = sigmoid(x_r + u_r @ s), sigmoid(x_z + u_z @ s)
    return (1 - z) * s + z * (x + u @ (r * s)).tanh()


def encode(model, source, keep=1.0):
    """The states forward and backward h_1, ..., h_S of one sentence, two lists."""
    sides = []
    for suffix, words in (("_l0", source), ("_l0_reverse", source[::-1])):
        w, u, b, k = weights_of(model.encoder, suffix)
        h, states = torch.zeros(len(u) // 3, dtype=DOUBLE), []
        for token in words:
            h = gru((w @ (keep * model.source_embedding.weight[token]) + b + k).chunk(3), h, *u.chunk(3))
            states.append(h)
        sides.append(states)
    return sides[0], sides[1][::-1]


def decode(model, h, s, read, keep=1.0):
    """From the annotations h, a list, and s_0."""
    scores, found = [], []
    for token in read:
        y = keep * model.target_embedding.weight[token]
        a = softmax([additive(model.score, s, h_j) for h_j in h])
        c = mean(a, h)
        t = linear(model.output_state, s) + linear(model.output_token, y) + linear(model.output_context, c)
        scores.append(model.vocabulary.weight @ (keep * largest_of_pairs(t)))
        found.append(torch.stack(a))
        sums = linear(model.decoder_token, y) + linear(model.decoder_context, c)
        s = gru(sums.chunk(3), s, *model.decoder_state.weight.chunk(3))
    return torch.stack(scores), torch.stack(found)


def show_and_tell(model, cells, read, keep=1.0):
    seen = keep * (model.image.weight @ (sum(cells) / len(cells)))
    m = c = torch.zeros(model.lstm.hidden_size, dtype=DOUBLE)
    if not model.at_every_step:
        m, c = lstm(model.lstm, seen, m, c)  # (10)
    scores = []
    for token in read:
        word = keep * model.embedding.weight[token]
        m, c = lstm(model.lstm, torch.cat([word, seen]) if model.at_every_step else word, m, c)  # (11), (12)
        scores.append(linear(model.vocabulary, keep * m))
    return torch.stack(scores), None


def show_attend_tell(model, vectors, read, keep=1.0, place=None):
    """`place(t, weights)` is the place that hard attention reads."""
    m = sum(vectors) / len(vectors)
    if model.initial is not None:
        m = keep * linear(model.initial, m).clamp(min=0)
    h, c = linear(model.initial_hidden, m).tanh(), linear(model.initial_cell, m).tanh()
    scores, found = [], []
    for t, token in enumerate(read):
        y = model.embedding.weight[token]
        energies = []
        for a in vectors:
            key = linear(model.key, a)
            if model.energy == "deep_tanh":
                key = linear(model.deep_key, key).tanh()
            inner = key + linear(model.query, h)
            energies.append(model.v @ (inner.clamp(min=0) if model.energy == "relu" else inner.tanh()))
        alpha = torch.stack(softmax(energies))
        z = mean(alpha, vectors)
        if place is not None:
            z = vectors[place(t, alpha)]
        if model.gate is not None:
            z = sigmoid(linear(model.gate, h)) * z
        sums = linear(model.decoder_token, y) + linear(model.decoder_context, z) + linear(model.decoder_state, h)
        i, f, g, o = sums.chunk(4)
        c = sigmoid(f) * c + sigmoid(i) * g.tanh()
        h = sigmoid(o) * c.tanh()
        s = keep * h
        if model.deep_output:
            s = keep * (linear(model.output_hidden, s) + y + linear(model.output_context, z)).tanh()
        scores.append(linear(model.vocabulary, s))
        found.append(alpha)
    return torch.stack(scores), torch.stack(found)


def rnnsearch(model, source, read, keep=1.0):
    forward, backward = encode(model, source, keep)
    h = [torch.cat(pair) for pair in zip(forward, backward, strict=True)]
    return decode(model, h, linear(model.initial_state, backward[0]).tanh(), read, keep)


def caption_rnnsearch(model, h, read, keep=1.0):
    return decode(model, h, linear(model.initial_state, sum(h) / len(h)).tanh(), read, keep)


FEEDING = [{"input_feeding": feeding} for feeding in (True, False)]
SCORED = [
    {"score": score, "attention": attention} | feeding
    for score in ("dot", "general", "concat", "location")
    for attention in ("global", "local_m", "local_p")
    for feeding in FEEDING
]
DEEP = [
    {"num_layers": depth, "reverse_source": reverse, "attention": "local_p"}
    for depth in (1, 3)
    for reverse in (True, False)
]
ATTENDED = [{}, *VARIANTS["show_attend_tell"], {"gate": "vector"}, {"energy": "relu"}, {"gate": "none"}]
FULL, SOME = PAIRS.batch(3, empty=False), PAIRS.batch(3)
IMAGES = {"encoder": ENCODER}
NETWORKS = {
    caption_rnnsearch: (CaptionRNNSearch, IMAGES | {"attention_dim": 7, "maxout_dim": 3}, batch_of(), [{}], [{}]),
    encoder_decoder: (EncoderDecoder, {"maxout_dim": 3}, SOME, [{}, {"shared": True}], [{}]),
    luong: (
        Luong, {"num_layers": 2, "window": REACH, "init_range": 0.7}, FULL, SCORED + DEEP,
        [{"num_layers": 3} | feeding for feeding in FEEDING],
    ),
    rnnsearch: (RNNSearch, {"attention_dim": 6, "maxout_dim": 3}, FULL, [{}], [{}]),
    seq2seq_lstm: (
        Seq2SeqLSTM, {"num_layers": 3, "init_range": 0.8}, SOME, [{}, *VARIANTS["seq2seq_lstm"]], [{}]
    ),
    show_and_tell: (ShowAndTell, IMAGES, batch_of(), [{}, {"feed": "every_step"}], [{}, {"feed": "every_step"}]),
    show_attend_tell: (
        ShowAttendTell, IMAGES | {"attention_dim": 3}, batch_of(), ATTENDED, [{}, {"deep_output": False}]
    ),
}  # fmt: skip
"""By its equations the class of each network, sizes, batch, the settings that are compared, and those with dropout."""


def model_of(slow, spec=None, **settings):
    torch.manual_seed(0)
    cls, sizes, *_ = NETWORKS[slow]
    spec = spec or (SPEC if "encoder" in sizes else PAIRS.spec)
    return exactly(cls(spec, **SMALL | sizes | settings), biases=True)


def rows(slow, model, batch, keep=1.0, place=None):
    """Results of `slow` for each example; `place(row, t, weights)` is the place that hard attention reads."""
    examples = captions_of(batch) if "encoder" in NETWORKS[slow][1] else pairs_of(batch)
    options = ({} if place is None else {"place": partial(place, row)} for row in range(len(batch)))
    return [slow(model, *one, keep, **other) for one, other in zip(examples, options, strict=True)]


def ways(column):
    cases = [(slow, way) for slow, network in NETWORKS.items() for way in network[column]]
    return [pytest.param(slow, way, id=f"{slow.__name__}-{way}") for slow, way in cases]


@pytest.mark.parametrize(("slow", "way"), ways(3))
def test_equals_the_equations(slow, way):
    model, batch = model_of(slow, **way), NETWORKS[slow][2]
    assert_equals_the_equations(model, batch, rows(slow, model, batch))


@pytest.mark.parametrize(("slow", "way"), ways(4))
def test_dropout_acts_where_the_loops_have_it_in_training_alone(slow, way, monkeypatch):
    halve(monkeypatch)
    batch = NETWORKS[slow][2]
    model, plain = (model_of(slow, dropout=rate, **way) for rate in (0.5, 0.0))
    without_targets = family_of(model.tasks[0]).without_targets(batch)
    assert_drops(model, plain, batch, rows(slow, model, batch, keep=0.5), without_targets)


def test_words_are_reversed_inside_their_length_and_the_end_stays_last():
    tokens = torch.tensor([[5, 6, 7, 8, 3], [5, 6, 3, 0, 0], [9, 3, 0, 0, 0], [3, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    expected = torch.tensor([[8, 7, 6, 5, 3], [6, 5, 3, 0, 0], [9, 3, 0, 0, 0], [3, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    assert torch.equal(reversed_words(tokens, tokens > 0), expected)
