"""ConvS2S word by word against its whole pass, and what its state holds."""

import pytest
import torch

from tests.models.conv_s2s_loops import (
    SOURCES,
    SPEC,
    WIDE,
    batch_of,
    build,
)
from zoo.layers.convolution import WeightNormLinear


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
