"""The gate of two stacks of convolutions, tanh(value) * sigmoid(opening), with a backward pass derived by hand.

van den Oord et al. 2016, https://arxiv.org/abs/1606.05328, equation 2 and figure 2. In plain operations on a CPU, gates
and padding took a quarter of a training step. Here value and opening are copied apart, because tanh and sigmoid are two
to four times as fast on contiguous numbers, and only their results are stored.

Notation: B pictures, D channels of the result, H rows, W columns, p and q further rows and columns of a convolution's
output, which are ignored.
"""

import torch
from torch import Tensor

from zoo.layers.loops.loop import Loop, sigmoid_backward, tanh_backward
from zoo.layers.masked import down


def gate(x: Tensor, size: torch.Size, above: Tensor | None = None) -> Tensor:
    """tanh(value) * sigmoid(opening) of the sum of `x` and of `above`, moved down by one row.

    Args:
        x: (B, 2 D, H + p, W + q), the values first.
        size: H and W.
        above: (B, 2 D, H + p, W), or None for 0.

    Returns:
        (B, D, H, W), on a CPU channels_last.
    """
    if x.device.type != "cpu" or torch.compiler.is_compiling():
        return plain(x, size, above)
    return Gate(size)(x, above)


def plain(x: Tensor, size: torch.Size, above: Tensor | None = None) -> Tensor:
    """Compute `gate` in plain differentiable operations. This is the definition of `Gate`."""
    height, width = size
    x = x[:, :, :height, :width]
    if above is not None:
        x = x + down(above[:, :, :height])
    value, opening = x.chunk(2, 1)
    return value.tanh() * opening.sigmoid()


class Gate(Loop):
    """The operations of `plain`, with the same result."""

    def __init__(self, size: torch.Size) -> None:
        self.size = size

    def forward(self, x: Tensor, above: Tensor | None) -> Tensor:
        height, width = self.size
        halves = [half.clone(memory_format=torch.channels_last) for half in x[:, :, :height, :width].chunk(2, 1)]
        if above is not None:
            for half, other in zip(halves, above[:, :, : height - 1].chunk(2, 1), strict=True):
                half[:, :, 1:].add_(other)
        self.shapes = x.shape, None if above is None else above.shape
        self.value, self.opening = halves[0].tanh_(), halves[1].sigmoid_()
        return self.value * self.opening

    def backward(self, d_y: Tensor) -> tuple[Tensor | None, ...]:
        (height, width), (shape, shape_above) = self.size, self.shapes
        d_x = self._around(shape, height, width)
        d_sum = d_x[:, :, :height, :width]
        d_value, d_opening = d_sum.chunk(2, 1)
        product = d_y * self.opening
        tanh_backward.grad_input(product, self.value, grad_input=d_value)
        torch.mul(d_y, self.value, out=product)
        sigmoid_backward.grad_input(product, self.opening, grad_input=d_opening)
        if shape_above is None:
            return d_x, None
        d_above = self._around(shape_above, height - 1, width)
        d_above[:, :, : height - 1] = d_sum[:, :, 1:]
        return d_x, d_above

    def _around(self, shape: torch.Size, height: int, width: int) -> Tensor:
        """A map that is 0 below and to the right of height x width values, which are not filled."""
        like = self.value
        made = torch.empty(shape, dtype=like.dtype, device=like.device, memory_format=torch.channels_last)
        made[:, :, height:] = 0
        made[..., width:] = 0
        return made
