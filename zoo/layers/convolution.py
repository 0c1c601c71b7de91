"""Gated convolutions over packed rows, with weight normalisation.

Notation: N real positions of B rows, I and O features of a linear map, d channels, k kernel size.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.layers.packing import Packing
from zoo.linear import linear

ROOT_HALF = 0.5**0.5  # keeps the variance of a sum of two


def window_index(packing: Packing, kernel: int, *, causal: bool) -> Tensor:
    """(N, k) the packed positions that each position's window holds, counted from 1, in the order of time.

    A causal window ends at its position; any other has its position in the middle. Outside the row a window holds the
    index 0, and `windows` reads zeros there. Raises ValueError for an even `kernel` that is not causal, since it has no
    middle.
    """
    if not causal and kernel % 2 == 0:
        raise ValueError(f"a centred window has an odd number of frames, got {kernel}")
    before = kernel - 1 if causal else kernel // 2
    framed = F.pad(packing.numbers(), (before, kernel - 1 - before))
    return framed.unfold(1, kernel, 1).flatten(0, 1).index_select(0, packing.cell)


def windows(frames: Tensor, index: Tensor) -> Tensor:
    """(N, d) frames and (N, k) `window_index` -> (N, k * d): the frames of each window side by side."""
    with_zeros = torch.cat([frames.new_zeros(1, frames.shape[1]), frames])
    return with_zeros.index_select(0, index.flatten()).view(index.shape[0], index.shape[1] * frames.shape[1])


def continued_index(packing: Packing, before: int) -> tuple[Tensor, Tensor]:
    """The frames that causal windows of size k = `before` + 1 hold, where each of B rows continues `before` frames.

    Both results are numbers of rows of [(B * before, d) frames before; (N, d) packed frames]: those of the window of
    each position, (N, k), and those of the last `before` frames of each row, (B, before). The real positions of a row
    are a prefix.
    """
    rows = packing.shape[0]
    count, device = rows * before, packing.cell.device
    numbers = packing.numbers()  # (B, T), from 1
    framed = torch.cat([torch.arange(count, device=device).view(rows, before), numbers - 1 + count], 1)
    begin = packing.row * framed.shape[1] + packing.time  # (N,) the cell of the first frame of each window
    window = framed.flatten()[begin[:, None] + torch.arange(before + 1, device=device)]
    ends = (numbers > 0).sum(1, keepdim=True) + torch.arange(before, device=device)
    return window, framed.gather(1, ends)


class WeightNormLinear(nn.Module):
    """y = W x + b with the rows of W split into direction and length: W_o = g_o V_o / |V_o|.

    Salimans and Kingma 2016, equation 2; torch.nn.utils.parametrizations.weight_norm of torch.nn.Linear, without its
    hooks. At the start W = V ~ N(0, gain / I), g = |V| and b = 0.
    """

    def __init__(self, in_features: int, out_features: int, *, gain: float = 1.0) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.randn(out_features, in_features) * (gain / in_features) ** 0.5)
        self.length = nn.Parameter(self.direction.detach().norm(dim=1))
        self.bias = nn.Parameter(torch.zeros(out_features))

    def weight(self) -> Tensor:
        """(O, I) the matrix W."""
        return torch._weight_norm(self.direction, self.length[:, None], 0)

    def scale(self) -> Tensor:
        """(O,) the factors g / |V| that make W of V."""
        return self.length / self.direction.norm(dim=1)

    def forward(self, x: Tensor, scale: Tensor | None = None) -> Tensor:
        """(..., I) -> (..., O).

        With `scale` (..., O), which is `scale()` computed once for many calls with few rows each, W is not formed: the
        products with V are scaled instead. Training through such calls then keeps no copy of W for each of them.
        """
        if scale is None:
            return F.linear(x, self.weight(), self.bias)
        return linear(x, self.direction) * scale + self.bias


class GatedConvolution(WeightNormLinear):
    """A convolution of kernel size k and a gated linear unit: [A; B] = W [x_1; ...; x_k] + b, y = A * sigmoid(B).

    Dauphin et al. 2016, equation 1, with weight normalisation: an output unit's norm is taken over all frames of the
    window and all their channels. W is (2 * out_channels, k * in_channels); W.view(-1, k, in_channels) are the weights
    of torch.nn.Conv1d with the last two axes exchanged. At the start W ~ N(0, gain / (k * in_channels)).
    """

    def __init__(self, in_channels: int, out_channels: int, kernel: int, *, gain: float = 1.0) -> None:
        super().__init__(kernel * in_channels, 2 * out_channels, gain=gain)
        self.kernel = kernel

    def forward(self, x: Tensor, scale: Tensor | None = None) -> Tensor:
        """(..., k * in_channels) frames of each window side by side -> (..., out_channels)."""
        y = super().forward(x, scale)
        if torch.compiler.is_exporting():  # ONNX files of glu have a value called `first`, as `start` has an output
            value, gate = y.chunk(2, -1)
            return value * gate.sigmoid()
        return F.glu(y, -1)
