"""The RMSProp of Graves 2013, https://arxiv.org/abs/1308.0850, equations (38)-(41).

torch.optim.RMSprop with `centered` differs: its epsilon is outside the root, and its momentum accumulates steps before
they are multiplied by the learning rate. Here the epsilon of 1e-4 inside the root is far above the squares of small
gradients. For these the method is gradient descent with momentum, so the loss must be a sum over the sequence.
"""

from collections.abc import Callable, Iterable
from typing import Any, overload

import torch
from torch import Tensor
from torch.optim import Optimizer

from zoo.arguments import Positive, Share


class GravesRMSprop(Optimizer):
    """n = s n + (1 - s) g^2;  m = s m + (1 - s) g;  d = momentum d - lr g / sqrt(n - m^2 + eps);  p = p + d.

    `smoothing` is s, `eps` is inside the root; n, m and d start at 0.
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: Positive = 1e-4,
        smoothing: Share = 0.95,
        momentum: Share = 0.9,
        eps: Positive = 1e-4,
    ) -> None:
        super().__init__(params, {"lr": lr, "smoothing": smoothing, "momentum": momentum, "eps": eps})

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], float]) -> float: ...

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Performs one step; with a `closure`, uses the gradients that it computes and returns its loss."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, group)
        return loss

    def _move(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state.update({name: torch.zeros_like(parameter) for name in ("square", "mean", "move")})
        square, mean, move = state["square"], state["mean"], state["move"]
        rest = 1 - group["smoothing"]
        square.mul_(group["smoothing"]).addcmul_(gradient, gradient, value=rest)  # (38)
        mean.mul_(group["smoothing"]).add_(gradient, alpha=rest)  # (39)
        variance = (square - mean.square()).clamp_(min=0)  # for constant gradients only rounding errors remain
        root = variance.add_(group["eps"]).sqrt_()
        move.mul_(group["momentum"]).addcdiv_(gradient, root, value=-group["lr"])  # (40)
        parameter.add_(move)  # (41)
