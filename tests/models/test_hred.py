"""HRED against its equations, reply by reply; no reply sees itself or what comes after it."""

from dataclasses import replace

import pytest
import torch

from tests.families import family_of
from tests.models.equations import (
    DOUBLE,
    additive,
    assert_equal,
    assert_same_gradients,
    exactly,
    largest_of_pairs,
    linear,
    mean,
    sigmoid,
    softmax,
    weights_of,
)
from zoo.models.hred import HRED

FAMILY = family_of("dialogue")
SIZES = {"embedding_dim": 4, "hidden_dim": 5, "context_dim": 6, "output_dim": 3, "attention_dim": 4}


def network(**options):
    torch.manual_seed(0)
    return exactly(HRED(FAMILY.spec, **SIZES | options), biases=True)


def gru(rnn, x, h, context=None, suffix="_l0"):
    """The new state of the authors' GRU, whose update gate mixes in the candidate."""
    w, u, b, k = (part.chunk(3) for part in weights_of(rnn, suffix))
    more = [0, 0, 0] if context is None else context.chunk(3)
    r, z = (sigmoid(w[n] @ x + b[n] + u[n] @ h + k[n] + more[n]) for n in (0, 1))
    n = (w[2] @ x + b[2] + u[2] @ (r * h) + k[2] + more[2]).tanh()
    return (1 - z) * h + z * n


def words_of(model, ids):
    """The states of the words of a turn, and the vector of the turn."""
    zero, inputs = torch.zeros(5, dtype=DOUBLE), [model.embedding.weight[one] for one in ids]
    sides = []
    for suffix, read in (("_l0", inputs), ("_l0_reverse", inputs[::-1]))[: 1 + model.encoder.bidirectional]:
        states = [zero]
        for x in read:
            states.append(gru(model.encoder, x, states[-1], suffix=suffix))
        sides.append(states[1:])
    last = torch.cat([states[-1] for states in sides])
    return [torch.cat(pair) for pair in zip(sides[0], *(side[::-1] for side in sides[1:]), strict=True)], last


def reply(model, turns, read):
    """Scores (T, V) of one reply to `turns`, lists of ids, and the weights on all words and on the turns."""
    s, contexts, words = torch.zeros(6, dtype=DOUBLE), [], []
    for ids in turns:
        states, u = words_of(model, ids)
        s = gru(model.context, u, s)
        words.append(states)
        contexts.append(s)
    d, scores, of_words, of_turns = linear(model.initial_state, s).tanh(), [], [], []
    for token in read:
        y = model.embedding.weight[token] * (token != FAMILY.spec.begin)
        gates, output = linear(model.gates_context, s), linear(model.output_context, s)
        if model.attention is not None:
            a = [softmax([additive(model.attention.words, d, h) for h in states]) for states in words]
            r = [mean(*pair) for pair in zip(a, words, strict=True)]
            turn_score = model.attention.turns
            inner = [
                turn_score.query_projection.weight @ d
                + turn_score.key_projection.weight @ g
                + linear(model.attention.read, one)
                for one, g in zip(r, contexts, strict=True)
            ]
            b = softmax([turn_score.v @ one.tanh() for one in inner])
            c = mean(b, r)
            gates, output = gates + linear(model.gates_attended, c), output + linear(model.output_attended, c)
            of_words.append(torch.stack([one * weight for row, one in zip(a, b, strict=True) for weight in row]))
            of_turns.append(torch.stack(b))
        d = gru(model.decoder, y, d, gates)
        o = linear(model.output_hidden, d) + linear(model.output_token, y) + output
        scores.append(linear(model.vocabulary, largest_of_pairs(o) if model.maxout else o))
    return torch.stack(scores), of_words, of_turns


def history(batch, row):
    turns = zip(batch.turns[batch.dialogue[row]], batch.word_mask[batch.dialogue[row]], strict=True)
    return [ids[mask].tolist() for ids, mask in list(turns)[: int(batch.turn[row])]]


@pytest.mark.parametrize(
    "options", [{}, {"bidirectional": True, "maxout": True}, {"attention": "hierarchical", "bidirectional": True}]
)
def test_equals_the_equations(options):
    model, batch = network(**{"bidirectional": False} | options), FAMILY.batch(1, empty=False)
    output, packing = model(batch), batch.target_packing
    scores = packing.unpack(output.logits)
    expected = torch.zeros_like(scores)
    for row in range(len(batch)):
        read = batch.target_input[row][batch.target_mask[row]].tolist()
        found, of_words, of_turns = reply(model, history(batch, row), read)
        expected[row, : len(read)] = found
        if model.attention is not None:
            words, turns = of_words[0].shape[0], of_turns[0].shape[0]
            assert_equal(output.attention["source"][row, : len(read), :words], torch.stack(of_words))
            assert_equal(output.attention["turn"][row, : len(read), :turns], torch.stack(of_turns))
    assert_equal(scores, expected)
    random = torch.randn_like(scores)
    assert_same_gradients(model, (scores * random).sum(), (expected * random).sum())


@pytest.mark.parametrize("attention", ["none", "hierarchical"])
def test_no_reply_sees_later_turns(attention):
    model, batch = network(attention=attention), FAMILY.batch(1)
    later = batch.word_mask.clone()
    later[0, 0] = False  # of the first dialogue all but its first turn, which its first reply follows
    later[1:] = False
    other = replace(batch, turns=batch.turns.masked_fill(later, 7), distinct=None, word_at=None, source=None)
    before, after = (batch.target_packing.unpack(model(one).logits) for one in (batch, other))
    assert torch.equal(before[0], after[0])
    assert not torch.allclose(before[1], after[1])


def test_a_context_ends_with_its_dialogue():
    """The state after the last turn of a short dialogue is not changed by the steps of a longer one."""
    model, batch = network(), FAMILY.batch(1, empty=False)
    alone = FAMILY.part(batch, [2])
    scores = batch.target_packing.unpack(model(batch).logits)[2]
    found = alone.target_packing.unpack(model(alone).logits)[0]
    assert_equal(scores[: len(found)], found)
