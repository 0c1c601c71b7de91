"""Spectrally normalised layers for pictures: W / sigma(W), where sigma is the largest singular value.

Miyato et al. 2018, https://arxiv.org/abs/1802.05957. Each reading of a weight in training makes one step of power
iteration. In eval mode the vectors u and v stay as they are.

Notation: B pictures, I and O channels, H rows, W columns, k kernel size.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import spectral_norm

from zoo.precision import without_autocast


def normalise_(network: nn.Module) -> None:
    """Put spectral normalisation on every convolution, linear map and embedding of a network.

    The weights start by Glorot and Bengio (2010) and the biases at 0.
    """
    for layer in list(network.modules()):
        if isinstance(layer, nn.Conv2d | nn.Linear | nn.Embedding):
            nn.init.xavier_uniform_(layer.weight)
            if isinstance(bias := getattr(layer, "bias", None), Tensor):
                nn.init.zeros_(bias)
            spectral_norm(layer)


def weight_of(layer: nn.Module) -> Tensor:
    """The weight of a layer, in full precision: autocast would round the products of the power iteration."""
    with without_autocast(next(layer.parameters()).device):
        return layer.weight  # type: ignore[return-value]


class Convolution(nn.Conv2d):
    """A convolution with an odd kernel that keeps the sides. It can also double or halve them, in fewer products.

    A 3 x 3 kernel after a doubling reads each value up to four times. Its sums over these readings are a transposed
    convolution with a 4 x 4 kernel and stride 2, and a halving is its mirror image: 16 products in place of 36.
    """

    widening: Tensor

    def __init__(self, inputs: int, outputs: int, kernel: int, *, bias: bool = True) -> None:
        super().__init__(inputs, outputs, kernel, padding=kernel // 2, bias=bias)
        self.margin = kernel // 2
        twice = torch.eye(kernel, kernel + 1) + torch.eye(kernel + 1)[1:]  # a weight is read at two places of a side
        self.register_buffer("widening", torch.kron(twice, twice), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, I, H, W) -> (B, O, H, W)."""
        return F.conv2d(x, weight_of(self), self.bias, padding=self.margin)

    def halved(self, x: Tensor) -> Tensor:
        """The convolution, and then means over 2 x 2 places: (B, I, 2 H, 2 W) -> (B, O, H, W)."""
        return F.conv2d(x, self._wide() / 4, self.bias, stride=2, padding=self.margin)

    def doubled(self, x: Tensor) -> Tensor:
        """Each value repeated at 2 x 2 places, and then the convolution: (B, I, H, W) -> (B, O, 2 H, 2 W)."""
        wide = self._wide(flipped=True).transpose(0, 1)
        return F.conv_transpose2d(x, wide, self.bias, stride=2, padding=self.margin)

    def _wide(self, *, flipped: bool = False) -> Tensor:
        """(O, I, k + 1, k + 1): sums of the weights over the 2 x 2 places at which each is read."""
        weight = weight_of(self).flatten(2)
        side = self.kernel_size[0] + 1
        with without_autocast(weight.device):
            sums = weight @ (self.widening.flip(1) if flipped else self.widening)
        return sums.unflatten(2, (side, side))
