"""Non-monotonically triggered averaged SGD (Merity et al. 2017, https://arxiv.org/abs/1708.02182, algorithm 1)."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from zoo.arguments import Count, NonNegative, Positive


class NTASGD(torch.optim.SGD):
    """torch.optim.SGD, p = p - lr (g + weight_decay p), which begins to average its weights when the validation stops
    improving.

    That is after a validation whose value exceeds the least of all but the `patience` newest ones before it. From then
    on the average of these weights and of those after each step is validated, tested and stored, while the steps go on
    from the weights themselves at the same rate. `patience` is n in the paper, and its L is the time between two
    validations. torch.optim.ASGD with t0=0, lambd=0, which the authors use, has two weights fewer in its average.
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: Positive = 30.0,
        weight_decay: NonNegative = 0.0,
        patience: Count = 5,
        fused: bool = False,
    ) -> None:
        super().__init__(params, lr=lr, weight_decay=weight_decay, fused=fused)
        for group in self.param_groups:
            group |= {"patience": patience, "values": [], "averaged": None, "exchanged": False}

    @property
    def averaged(self) -> int | None:
        """The number of weights in the average; None before it begins."""
        return self.param_groups[0]["averaged"]

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Performs one step; with a `closure`, uses the gradients that it computes and returns its loss."""
        loss = super().step(closure)
        if self.averaged is not None:
            for group in self.param_groups:
                group["averaged"] += 1
                others = [self.state[parameter]["other"] for parameter in group["params"]]
                torch._foreach_lerp_(others, group["params"], 1 / group["averaged"])
        return loss

    def validated(self, value: float) -> None:
        """Take note of a validation, in which less is better, and begin to average if it is due."""
        if self.averaged is not None:
            return
        for group in self.param_groups:
            earlier = group["values"][: -group["patience"]]
            if earlier and value > min(earlier):
                group["averaged"] = 1
                for parameter in group["params"]:
                    self.state[parameter] = {**self.state[parameter], "other": parameter.detach().clone()}
            group["values"] = [*group["values"], value]

    def show(self, average: bool) -> bool:
        """Exchange the parameters with their averages, or back, unless that has been done; returns whether it was to be
        done. Only tensors change places: what was stored before keeps its numbers."""
        if self.averaged is None or self.param_groups[0]["exchanged"] == average:
            return False
        for group in self.param_groups:
            group["exchanged"] = average
            for parameter in group["params"]:
                state = self.state[parameter]
                self.state[parameter] = {**state, "other": parameter.data}
                parameter.data = state["other"]
        return True
