"""ConvS2S word by word against its whole pass, and what its state holds."""

import pytest
import torch
from torch.nn import functional as F

from tests.models.conv_s2s_loops import (
    DEEP,
    DOUBLE,
    SOURCES,
    SPEC,
    TARGETS,
    WIDE,
    assert_same,
    batch_of,
    build,
    gradients,
    probe,
    steps,
)
from zoo.layers.convolution import WeightNormLinear


@pytest.mark.parametrize("settings", [DEEP, WIDE], ids=["one width", "many widths"])
def test_steps_give_what_the_whole_pass_gives(settings):
    model, batch = build(settings), batch_of(SOURCES, TARGETS)
    output, mask = model(batch), batch.target_mask[..., None]
    whole = batch.target_packing.unpack(output.logits.log_softmax(-1))
    stepwise, attention = steps(model, batch)
    torch.testing.assert_close(stepwise * mask, whole, rtol=1e-10, atol=1e-10)
    assert attention.keys() == output.attention.keys()
    for name, a in attention.items():
        torch.testing.assert_close(a * mask, output.attention[name], rtol=1e-10, atol=1e-10)
    weight = probe(batch) * mask
    assert_same(gradients(model, (stepwise * weight).sum()), gradients(model, (whole * weight).sum()))


def test_three_hypotheses_give_what_each_gives_alone():
    model, batch = build(WIDE), batch_of(SOURCES)
    tokens = torch.tensor([[[4, 5, 6], [7, 7, 8], [9, 10, 4]], [[5, 5, 5], [4, 6, 8], [3, 2, 1]]])  # (steps, B, K)
    parents = torch.tensor([[2, 2, 0], [0, 1, 2], [1, 0, 1]])
    begin = torch.full((3, 1), SPEC.begin)
    first = model.step(begin, model.start(batch)).state.follow(torch.zeros(3, 3, dtype=torch.long))
    second = model.step(tokens[0], first).state.follow(parents)
    together = model.step(tokens[1], second)
    for k in range(3):
        state = model.step(begin, model.start(batch)).state
        state = model.step(tokens[0].gather(1, parents[:, k : k + 1]), state).state
        alone = model.step(tokens[1, :, k : k + 1], state)
        torch.testing.assert_close(together.log_probs[:, k], alone.log_probs[:, 0], rtol=1e-12, atol=1e-12)
        for name, a in alone.attention.items():
            torch.testing.assert_close(together.attention[name][:, k], a[:, 0], rtol=1e-12, atol=1e-12)


def test_a_step_changes_no_state_and_keeps_as_much_as_before():
    model = build(WIDE)
    state = model.start(batch_of(SOURCES))
    shapes = {name: part.shape for name, part in state.hypotheses.items()}
    for token in (SPEC.begin, 4, 5, 6):
        copies = {name: part.clone() for name, part in (state.memory | state.hypotheses).items()}
        after = model.step(torch.full((3, 1), token), state).state
        assert all(torch.equal(part, copies[name]) for name, part in (state.memory | state.hypotheses).items())
        assert all(after.memory[name] is part for name, part in state.memory.items())
        assert {name: part.shape for name, part in after.hypotheses.items()} == shapes
        state = after


def test_a_step_computes_no_weight_norm(monkeypatch):
    model, batch = build(WIDE), batch_of(SOURCES)
    state = model.start(batch)
    for name in ("weight", "scale"):
        monkeypatch.delattr(WeightNormLinear, name)
    model.step(torch.full((3, 1), SPEC.begin), state)
    with pytest.raises(AttributeError):
        model.start(batch)


def test_probabilities_of_one_word_are_that_word():
    model, tokens = build(DEEP), torch.tensor([[4, 7], [5, 5], [9, 12]])
    state = model.start(batch_of(SOURCES)).follow(torch.zeros(3, 2, dtype=torch.long))
    by_id, by_distribution = model.step(tokens, state), model.step(F.one_hot(tokens, 13).to(DOUBLE), state)
    torch.testing.assert_close(by_distribution.log_probs, by_id.log_probs, rtol=1e-12, atol=1e-12)


def test_some_of_the_sentences_go_on_alone():
    model, rows = build(DEEP), torch.tensor([2, 0])
    state = model.start(batch_of(SOURCES))
    every, some = model.step(torch.full((3, 1), 2), state), model.step(torch.full((2, 1), 2), state.sentences(rows))
    torch.testing.assert_close(some.log_probs, every.log_probs[rows], rtol=1e-12, atol=1e-12)
