"""The loop that attends to an image before each step against the readable step of its network, in value and every
gradient. The tests of the network compare both with the paper's equations, and have the drawn places."""

from dataclasses import replace

import pytest
import torch

from tests.models.cells import PIXELS, SMALL, batch_of, pixels
from tests.models.equations import assert_the_loop_is_the_steps
from tests.models.test_equations import model_of, show_attend_tell
from zoo.layers.loops import additive


@pytest.mark.parametrize("at_once", [1, 2, 100], ids="{} rows".format)
@pytest.mark.parametrize("gate", ["none", "scalar", "vector"])
@pytest.mark.parametrize("energy", ["tanh", "relu"])
def test_the_loop_is_the_steps(energy, gate, at_once, monkeypatch):
    """The result does not depend on the number of rows whose sums are in memory at once. The encoder is trained."""
    monkeypatch.setattr(additive, "ON_CPU", at_once * 6 * 3)
    model, batch = model_of(show_attend_tell, PIXELS, encoder=SMALL, energy=energy, gate=gate), batch_of(pixels())
    assert_the_loop_is_the_steps(model, batch, replace(batch, target=None, target_mask=None))


def test_long_scores_do_not_overflow():
    model, batch = model_of(show_attend_tell).float(), batch_of(batch_of().image.float())
    model.v.data.mul_(1000)
    output = model(batch)
    weights = batch.target_packing.pack(output.attention["source"])
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(weights)))
    output.logits.sum().backward()
    assert all(part.grad.isfinite().all() for part in model.parameters() if part.grad is not None)
