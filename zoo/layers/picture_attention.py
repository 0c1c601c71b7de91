"""Self-attention over the places of a feature map (Zhang et al. 2019, https://arxiv.org/abs/1805.08318, section 3).

Equations: (1) beta_ji = softmax_i(s_ij), s_ij = f(x_i)^T g(x_j): the weight of place i for the output at place j.
(2) o_j = v(sum_i beta_ji h(x_i)). (3) y = gamma o + x, where gamma starts at 0.

Form `paper`: f, g and h have C / 8 channels, and all places are keys. Form `code`, the authors' program: h has C / 2
channels, and keys and values are maxima over 2 x 2 places. An odd side is rounded up, so that each place has a key.

Notation: B pictures, C channels, H rows, W columns, N = H W places, M keys, D channels of a query, V of a value.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.layers.spectral import Convolution, weight_of
from zoo.precision import precise_dtype

Form = Literal["code", "paper"]


class PictureAttention(nn.Module):
    """Attention of each place to all others, added to the map. Raises ValueError unless 8 divides the channels."""

    def __init__(self, channels: int, form: Form) -> None:
        super().__init__()
        if channels % 8:
            raise ValueError(f"attention needs a multiple of 8 channels, found {channels}")
        self.pooled = form == "code"
        values = channels // 2 if self.pooled else channels // 8
        self.query = Convolution(channels, channels // 8, 1, bias=False)  # g
        self.key = Convolution(channels, channels // 8, 1, bias=False)  # f
        self.value = Convolution(channels, values, 1, bias=False)  # h
        self.output = Convolution(values, channels, 1, bias=False)  # v
        self.gamma = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Features (B, C, H, W) -> features of the same shape, weights (B, N, M)."""
        queries = self.query(x).flatten(2).transpose(1, 2)  # (B, N, D)
        memory = F.conv2d(x, torch.cat([weight_of(self.key), weight_of(self.value)]))  # one product for both
        if self.pooled:
            memory = F.max_pool2d(memory, 2, ceil_mode=True)
        keys, values = memory.flatten(2).transpose(1, 2).split([queries.shape[2], self.output.in_channels], 2)
        scores = queries @ keys.transpose(1, 2)
        weights = scores.softmax(-1, dtype=precise_dtype(scores.dtype))  # (B, N, M)    (1)
        mixed = (weights.to(values.dtype) @ values).transpose(1, 2).unflatten(2, x.shape[2:])
        return x + F.conv2d(mixed, self.gamma * weight_of(self.output)), weights  # (2), (3)
