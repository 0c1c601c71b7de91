"""Evaluation and back."""

import pytest
import torch
from torch import nn

from zoo.layers.modes import evaluating


def test_every_part_returns_to_its_mode_whatever_happens():
    network = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(), nn.Dropout()))
    network[1][0].eval()  # as if it were frozen
    modes = [part.training for part in network.modules()]

    @evaluating(network)
    def fail():
        assert not any(part.training for part in network.modules())
        assert not torch.is_grad_enabled()
        raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [part.training for part in network.modules()] == modes == [True, True, True, False, True]
    assert torch.is_grad_enabled()
