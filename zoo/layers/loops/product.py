"""A linear layer of many rows, forward and backward by the faster of torch's libraries.

torch.nn.functional.linear multiplies by MKL, which takes twice as long as oneDNN on AMD's processors.
"""

import torch
from torch import Tensor

from zoo.layers.loops.loop import Loop
from zoo.linear import multiplied


class Product(Loop):
    """x W^T + b of x (R, I), a weight (O, I) and a bias (O,), all of one dtype."""

    def forward(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        self.x, self.weight = x, weight
        return multiplied(x, weight, bias)

    def backward(self, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        d_x = multiplied(gradient, self.weight.t()) if self.needs[0] else None
        return d_x, multiplied(self.x.t(), gradient.t()).t(), gradient.sum(0)


def product(x: Tensor, layer: torch.nn.Linear) -> Tensor:
    """The `layer` of x (R, I), which has its dtype."""
    found: Tensor = Product()(x, layer.weight, layer.bias)
    return found
