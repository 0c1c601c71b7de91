"""The soft window: Gaussians that move along a text, and never back.

Graves 2013, https://arxiv.org/abs/1308.0850, equations (46)-(51). Positions are numbered from 1.

Notation: B examples, K Gaussians, H width of the hidden state, U positions.
"""

from math import log

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Positive
from zoo.attention.addressing import precise_linear


class SoftWindow(nn.Module):
    """phi(t, u) = sum over k of alpha_k exp(-beta_k (kappa_k - u)^2), and kappa_k = its value before + exp(.).

    The weights phi are not normalised. A window starts to move by 1 / `pace` positions per step, so that it crosses a
    text at the pace of its strokes. At first the weights of a step sum to about 0.65.
    """

    def __init__(self, hidden_dim: Count, windows: Count = 10, pace: Positive = 25.0) -> None:
        """`pace` is the expected number of steps per position."""
        super().__init__()
        self.windows = windows
        self.projection = nn.Linear(hidden_dim, 3 * windows)  # alpha, beta, kappa
        with torch.no_grad():
            alpha, _, kappa = self.projection.bias.split(windows)
            alpha.sub_(1 + log(windows))
            kappa.sub_(log(pace))

    def forward(self, h: Tensor, kappa: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """(B, H) and kappa (B, K) of the step before -> phi (B, U) for U = `count` positions, and kappa (B, K)."""
        alpha, beta, moved = precise_linear(self.projection, h).exp().chunk(3, 1)  # (48), (49) and the sum in (50)
        kappa = kappa + moved  # (51)
        u = torch.arange(1, count + 1, device=h.device, dtype=kappa.dtype)
        bells = (-beta[:, :, None] * (kappa[:, :, None] - u) ** 2).exp()  # (B, K, U)
        return (alpha[:, None] @ bells)[:, 0], kappa  # (46)
