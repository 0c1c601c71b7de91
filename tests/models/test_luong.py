"""The equations of Luong's attention as slow loops: scores, windows, feeding."""

import math

import torch

from tests.families import family_of
from tests.models.equations import (
    DOUBLE,
    exactly,
    layers,
    linear,
    pairs_of,
    sigmoid,
)
from zoo.attention.local import MonotonicWindow, PredictedWindow
from zoo.models import Luong

PAIRS = family_of("translation")
BATCH = PAIRS.batch(3, empty=False)
EQUATIONS = [
    {"score": score, "attention": attention, "input_feeding": feeding}
    for score in ("dot", "general", "concat", "location")
    for attention in ("global", "local_m", "local_p")
    for feeding in (True, False)
]
EQUATIONS += [
    {"num_layers": depth, "reverse_source": reverse, "attention": "local_p"}
    for depth in (1, 3)
    for reverse in (True, False)
]
DROPPING = [{"num_layers": 3, "input_feeding": feeding} for feeding in (True, False)]
REACH = 2


def model_of(**settings):
    torch.manual_seed(0)
    small = {"embedding_dim": 4, "hidden_dim": 5, "num_layers": 2, "window": REACH, "init_range": 0.7}
    return exactly(Luong(PAIRS.spec, **small | settings))


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


def weights_of(model, h_t, memory, t):
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


def slow(model, source, read, keep=1.0):
    """Scores (T, V) and weights (T, S) of one sentence. `keep` replaces dropout."""
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
        a = weights_of(model, h_t, memory, t)
        context = sum(a_s * h_s for a_s, h_s in zip(a, memory, strict=True))
        fed = keep * linear(model.attentional, torch.cat([context, h_t])).tanh()
        scores.append(linear(model.vocabulary, fed))
        found.append(a)
    return torch.stack(scores), torch.stack(found)


def rows(model, batch, keep=1.0):
    return [slow(model, *pair, keep) for pair in pairs_of(batch)]
