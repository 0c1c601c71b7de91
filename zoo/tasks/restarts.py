"""Several networks of one architecture with different initial weights, trained side by side.

A small network that ends in different optima is trained several times, and the best result is kept. Trained one by
one, small networks spend most of their time in calls. Side by side, every parameter has one more axis, and one
step trains all of them.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.func import functional_call, vmap

from zoo.models.output import Output

APART = "/"  # Replaces the dot in names of parameters: the names of a ParameterDict must not contain dots


class Restarts(nn.Module):
    """R networks on the same batches. Random numbers of the forward pass, such as dropout masks, are drawn once and
    shared by all networks.

    Any network that `torch.func.vmap` can transform is accepted. A network with `stacks = True` handles the additional
    axis of its parameters itself, which is faster. All restarts share the buffers of one network, so that no buffer may
    change in training.
    """

    def __init__(self, network: nn.Module, build: Callable[[], nn.Module], count: int) -> None:
        """`network` is the first of R = `count` networks, and `put` copies the weights of a restart into it. `build`
        makes the others."""
        super().__init__()
        self._network = (network,)  # in a tuple, so that it is not a submodule
        begun = [dict(one.named_parameters()) for one in (network, *(build() for _ in range(count - 1)))]
        self.stacked = nn.ParameterDict(
            {
                name.replace(".", APART): nn.Parameter(torch.stack([one[name].detach() for one in begun]))
                for name in begun[0]
            }
        )
        self._places = _places(network)
        # not buffers: DDP would copy those of the first rank to all
        self.counts = torch.zeros(count + 1, dtype=torch.long)
        """(R + 1,) wrong answers of each restart and examples, counted by this process since the epoch began."""
        self.errors = torch.full((count,), torch.nan)
        """(R,) training error of each restart in the last settled epoch, over all ranks; NaN before the first."""

    def __len__(self) -> int:
        return len(self.errors)

    def forward(self, batch: Any) -> Output:
        """The outputs of all restarts: each tensor has R as its first axis."""
        (network,) = self._network
        weights = {place: self.stacked[name.replace(".", APART)] for place, name in self._places.items()}

        def one(weights: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
            output: Output = functional_call(network, weights, (batch,), tie_weights=False)
            return output.logits, output.attention, output.losses

        together = one if getattr(network, "stacks", False) else vmap(one, randomness="same")
        return Output(*together(weights))

    def put(self, number: int) -> None:
        """Copy the weights of one restart into the network."""
        (network,) = self._network
        with torch.no_grad():
            for name, weight in network.named_parameters():
                weight.copy_(self.stacked[name.replace(".", APART)][number])

    # which one is best

    def begin(self) -> None:
        """Forget the counts: an epoch begins."""
        self.counts = torch.zeros_like(self.counts)

    def count(self, wrong: Tensor, seen: int) -> None:
        """Count `seen` training examples of the current epoch, and the `wrong` (R,) answers of each restart."""
        self.counts = self.counts.to(wrong.device)
        self.counts[:-1] += wrong
        self.counts[-1] += seen

    def settle(self) -> None:
        """Compute `errors` from the counts of this epoch on all ranks. Every rank has to call it."""
        counts = self.counts.to(next(self.parameters()).device, copy=True)
        if dist.is_available() and dist.is_initialized():
            dist.all_reduce(counts)
        if counts[-1]:
            self.errors = counts[:-1] / counts[-1]

    @property
    def best(self) -> int | None:
        """The restart with the lowest training error; None before any is known."""
        return None if self.errors.isnan().any() else int(self.errors.argmin())

    def get_extra_state(self) -> Tensor:
        """(R,) the errors, for a checkpoint. The counts differ between ranks: the task remembers those."""
        return self.errors.double().cpu()

    def set_extra_state(self, state: Tensor) -> None:
        """Restore the errors. Older checkpoints have the counts of the first rank after them, which are not read."""
        self.errors = state[: len(self)].to(self.errors.dtype)


def _places(network: nn.Module) -> dict[str, str]:
    """Map each place of a network that holds a parameter to that parameter's name. Several modules can share one
    parameter, and a module can have several places."""
    name_of = {parameter: name for name, parameter in network.named_parameters()}
    return {
        f"{module_name}.{name}" if module_name else name: name_of[parameter]
        for module_name, module in network.named_modules()
        for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False)
    }
