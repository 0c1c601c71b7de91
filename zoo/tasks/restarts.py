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
        self._places = _places(network)
        # no buffers: DDP would give all ranks those of the first
        self._counts = torch.zeros(count + 1, dtype=torch.long)
        self._errors = torch.full((count,), torch.nan)

    def __len__(self) -> int:
        return len(self._errors)

    def forward(self, batch: Any) -> Output:
        """The outputs of all, each tensor with an axis R before its own."""
        (network,) = self._network
        weights = {place: self.stacked[name.replace(".", APART)] for place, name in self._places.items()}

        def one(weights: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
            output: Output = functional_call(network, weights, (batch,), tie_weights=False)
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

    def begin(self) -> None:
        """Forgets what was counted: an epoch begins."""
        self._counts = torch.zeros_like(self._counts)

    def count(self, wrong: Tensor, seen: int) -> None:
        """Adds training examples of the current epoch: how many of `seen` each restart (R,) got wrong."""
        self._counts = self._counts.to(wrong.device)
        self._counts[:-1] += wrong
        self._counts[-1] += seen

    def settle(self) -> None:
        """Brings `errors` up to what was counted in this epoch, on all ranks; each of them has to call it."""
        counts = self._counts.to(next(self.parameters()).device, copy=True)
        if dist.is_available() and dist.is_initialized():
            dist.all_reduce(counts)
        if counts[-1]:
            self._errors = counts[:-1] / counts[-1]

    @property
    def errors(self) -> Tensor:
        """(R,) share of an epoch's training examples that each got wrong, over all ranks, when last settled; NaN before
        any."""
        return self._errors

    @property
    def best(self) -> int | None:
        """The restart with the lowest training error; None before any is known."""
        return None if self._errors.isnan().any() else int(self._errors.argmin())

    def get_extra_state(self) -> Tensor:
        """(2 R + 1,) the errors, and what this process has counted since the epoch began, for a checkpoint."""
        return torch.cat([self._errors.double().cpu(), self._counts.double().cpu()])  # they may be on two devices

    def set_extra_state(self, state: Tensor) -> None:
        """What `get_extra_state` gave. A checkpoint has the counts of the first process: it alone goes on with them."""
        first = not (dist.is_available() and dist.is_initialized()) or dist.get_rank() == 0
        errors, counts = state.split([len(self), len(self) + 1])
        self._errors = errors.to(self._errors.dtype)
        self._counts = counts.long() if first else torch.zeros_like(counts, dtype=torch.long)


def _places(network: nn.Module) -> dict[str, str]:
    """The places of a network that have a parameter, each once, and of each the name of its parameter: one parameter
    can stand in several modules, and one module in several others."""
    name_of = {parameter: name for name, parameter in network.named_parameters()}
    return {
        f"{module_name}.{name}" if module_name else name: name_of[parameter]
        for module_name, module in network.named_modules()
        for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False)
    }
