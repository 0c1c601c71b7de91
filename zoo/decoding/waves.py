"""Makes sounds sample by sample, each from the network's distribution after all samples before it.

Notation: B sounds, N samples that are known, M samples that are made, L levels.
"""

from typing import Any, Protocol

import torch
from torch import Tensor

from zoo.decoding.pixels import chosen
from zoo.decoding.protocol import counted
from zoo.precision import precise


class MakesSamples(Protocol):
    """A network that can score one sample after another, see `zoo.models.network.SampleNetwork`."""

    def start(self, batch: Any) -> tuple[Tensor, Any]:
        """The scores (B, L) of the sample after those of the batch, and a state."""

    def step(self, levels: Tensor, state: Any) -> tuple[Tensor, Any]:
        """The scores (B, L) of the sample after `levels` (B,), and the next state."""


@torch.no_grad()
def make_samples(network: MakesSamples, batch: Any, random: Tensor, *, temperature: float = 1.0) -> Tensor:
    """(B, N + M) levels: the samples of a batch, and those that follow them.

    Args:
        network: in evaluation mode.
        batch: its `samples` (B, N) are known and have no padding; it also has what the network depends on.
        random: (B, M) uniform numbers from 0 to 1, which decide what is made.
        temperature: divides the scores; 0 takes the most probable level.
    """
    made = [batch.samples]
    scores, state = network.start(batch)
    for number in counted(torch.tensor([random.shape[1]])):
        levels = chosen(precise(scores), temperature, random[:, number - 1]).to(batch.samples.dtype)
        made.append(levels[:, None])
        if number < random.shape[1]:
            scores, state = network.step(levels, state)
    return torch.cat(made, 1)
