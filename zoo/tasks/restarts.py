"""Several networks of one architecture, which differ in where they began, trained as one.

Small networks that end in different optima are trained several times, and the best one is kept. One after the other
most of the time goes into calls; side by side every parameter has an axis more, and a step is one of them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.func import functional_call, vmap

from zoo.models.output import Output

APART = "/"
"""Stands for the dot in the names of parameters, which may have none here."""


class Restarts(nn.Module):
    """R networks on the same batches. What is random in their forward pass, such as dropout, is drawn once for all.

    The forward pass of any network that `torch.func.vmap` can follow will do. One that has `stacks = True` takes
    parameters with an axis more itself, which is faster. Buffers are those of the one network: none of them may learn.
    """

    def __init__(self, network: nn.Module, build: Callable[[], nn.Module], count: int) -> None:
        """`network` is the first of the R = `count` and gets the weights of the one that is `put` into it; `build`
        makes another."""
        super().__init__()
        self._network = (network,)  # a tuple, so that it is no part of this one
        begun = [dict(one.named_parameters()) for one in (network, *(build() for _ in range(count - 1)))]
        self.stacked = nn.ParameterDict(
            {
                name.replace(".", APART): nn.Parameter(torch.stack([one[name].detach() for one in begun]))
                for name in begun[0]
            }
        )
        self._counts = torch.zeros(
            count + 1, dtype=torch.long
        )  # no buffer: DDP would give all ranks those of the first

    def __len__(self) -> int:
        return len(self._counts) - 1

    def forward(self, batch: Any) -> Output:
        """The outputs of all, each tensor with an axis R before its own."""
        (network,) = self._network
        weights = {name.replace(APART, "."): weight for name, weight in self.stacked.items()}

        def one(weights: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
            output: Output = functional_call(network, weights, (batch,))
            return output.logits, output.attention, output.losses

        together = one if getattr(network, "stacks", False) else vmap(one, randomness="same")
        return Output(*together(weights))

    def put(self, number: int) -> None:
        """Copies the weights of one restart into the network."""
        (network,) = self._network
        with torch.no_grad():
            for name, weight in network.named_parameters():
                weight.copy_(self.stacked[name.replace(".", APART)][number])

    # which one is best

    @property
    def counted(self) -> bool:
        """Whether there were training examples since `begin`."""
        return bool(self._counts[-1])

    def count(self, wrong: Tensor, seen: int) -> None:
        """Adds training examples of the current epoch: how many of `seen` each restart (R,) got wrong."""
        self._counts = self._counts.to(wrong.device)
        self._counts[:-1] += wrong
        self._counts[-1] += seen

    def begin(self) -> None:
        """Forgets what was counted."""
        self._counts = torch.zeros_like(self._counts)

    def errors(self) -> Tensor:
        """(R,) share of the training examples since `begin` that each got wrong, over all ranks; NaN before any."""
        counts = self._counts.clone()
        if dist.is_available() and dist.is_initialized():
            dist.all_reduce(counts)
        return counts[:-1] / counts[-1]

    def best(self) -> int:
        """The restart with the lowest training error."""
        return int(self.errors().argmin())

    def get_extra_state(self) -> Tensor:
        """What was counted, for a checkpoint: a resumed epoch goes on with it, every rank with that of the first."""
        return self._counts.clone()

    def set_extra_state(self, state: Tensor) -> None:
        """What `get_extra_state` gave."""
        self._counts = state.clone()
