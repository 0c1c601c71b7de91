"""Show, attend and tell against its equations written as slow loops: every variant, its start, its steps, its size.
Hard attention has tests of its own."""

import re

import pytest
import torch

from tests.catalogue import ROOT
from tests.models.cells import ENCODER, PIXELS, SMALL, SPEC, assert_made_once, batch_of, captions_of
from tests.models.equations import (
    exactly,
    linear,
    mean,
    sigmoid,
    softmax,
)
from tests.models.variants import VARIANTS
from zoo.models import ShowAttendTell
from zoo.run.compose import compose

BATCH = batch_of()
EQUATIONS = [{}, *VARIANTS["show_attend_tell"], {"gate": "vector"}, {"energy": "relu"}, {"gate": "none"}]
DROPPING = [{}, {"deep_output": False}]
SIZES = {"embedding_dim": 4, "hidden_dim": 5, "attention_dim": 3}


def model_of(spec=SPEC, encoder=ENCODER, **settings):
    torch.manual_seed(0)
    return exactly(ShowAttendTell(spec, encoder=encoder, **SIZES | settings), biases=True)


def slow(model, vectors, read, keep=1.0, place=None):
    """Scores (T, V) and weights (T, S) of one caption, from a list of annotation vectors and the ids that are read.

    `keep` replaces dropout; `place(t, weights)` is the place that hard attention reads.
    """
    m = keep * linear(model.initial, sum(vectors) / len(vectors)).clamp(min=0)
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


def rows(model, batch, keep=1.0, place=None):
    """`place(row, t, weights)` is the place that hard attention reads."""
    for row, (vectors, read) in enumerate(captions_of(batch)):
        here = None if place is None else lambda t, alpha, row=row: place(row, t, alpha)
        yield slow(model, vectors, read, keep, here)


def test_an_image_is_read_once_however_many_captions_it_has():
    model = model_of(PIXELS, SMALL, energy="deep_tanh")
    parts = ("encoder", "key", "deep_key", "initial", "initial_hidden", "initial_cell")
    assert_made_once(model, [getattr(model, name) for name in parts], steps=True)


@pytest.mark.parametrize("data", ["flickr8k", "flickr30k", "coco"])
def test_the_papers_runs_weigh_their_terms_beside_a_mean_over_words(data):
    """The weights are those of the authors' code for a likelihood summed over a caption, divided by the number of words
    that the header gives. RMSProp's epsilon is added to squares of gradients."""
    for attention in ("soft", "hard"):
        name = f"show_attend_tell_{data}" + "_hard" * (attention == "hard")
        text = (ROOT / f"conf/experiment/{name}.yaml").read_text(encoding="utf-8")
        words = float(re.search(r"caption has about ([\d.]+) words", text)[1])
        run = compose([f"experiment={name}"])
        assert run.model.attention == attention
        if attention == "soft":
            penalty = run.regularizer.doubly_stochastic
            assert (penalty.weight * words, penalty.tau) == (pytest.approx(64 / 196, rel=0.03), 1)
        else:
            assert run.model.hard.reward * words == pytest.approx(0.1, rel=0.03)
            assert run.model.hard.entropy * words == pytest.approx(0.002, rel=0.03)
            assert run.model.hard.divide_by == "nothing"
        if run.hydra.runtime.choices.optimizer == "rmsprop_graves":
            assert run.optimizer.eps * words**2 == pytest.approx(1e-4, rel=0.03)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"gate": "scaler"}, "gate=scaler: expected scalar, vector or none.*did you mean 'scalar'"),
        ({"hard": {"rewards": 1.0}}, "rewards: unknown key; did you mean reward"),
    ],
)
def test_an_unknown_name_is_named(settings, said):
    with pytest.raises(ValueError, match=said):
        ShowAttendTell(SPEC, encoder=ENCODER, **settings)
