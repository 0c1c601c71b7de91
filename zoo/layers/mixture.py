"""Mixtures of bivariate normal distributions with a Bernoulli variable, all in log space.

Graves 2013, https://arxiv.org/abs/1308.0850, equations (15)-(26). The numbers of a point are its offset (x, y), and e,
which is 1 at the end of a stroke.

Notation: M components; z = (x - mu) / sigma for each coordinate, rho the correlation.
"""

from __future__ import annotations

from math import log, pi
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from zoo.precision import precise

LOWEST = log(1e-4)
"""The lowest log sigma. Offsets that are exactly 0 would make a density without bound."""
MOST_CORRELATED = 8.5
"""The largest atanh of a correlation in size: float32 cannot tell rho from 1 beyond."""


class Mixture(NamedTuple):
    """The distribution of the next point, for any leading shape (...)."""

    end: Tensor  # (...) the logit of e
    log_weight: Tensor  # (..., M)
    mean: Tensor  # (..., M, 2)
    log_sd: Tensor  # (..., M, 2)
    atanh_rho: Tensor  # (..., M)

    @classmethod
    def of(cls, outputs: Tensor, bias: float = 0.0) -> Mixture:
        """The distribution that a network's `outputs` (..., 1 + 6M) describe: the logit of e, then M weights, 2 M
        means, 2 M log standard deviations and M correlations.

        `bias` above 0 gives smaller deviations and prefers the likelier components, equations (61) and (62).
        """
        end, weights, means, deviations, correlations = precise(outputs).split(sizes(count(outputs)), -1)
        return cls(
            end[..., 0],
            (weights * (1 + bias)).log_softmax(-1),  # (19), (62)
            means.unflatten(-1, (-1, 2)),  # (20)
            (deviations.unflatten(-1, (-1, 2)) - bias).clamp_min(LOWEST),  # (21), (61)
            correlations.clamp(-MOST_CORRELATED, MOST_CORRELATED),  # (22)
        )

    def log_prob(self, point: Tensor) -> Tensor:
        """(...) the log-density of points (..., 3), the probability of e included, equations (23)-(26)."""
        point = point.expand(*self.end.shape, 3)
        z = (point[..., None, :2] - self.mean) * (-self.log_sd).exp()
        x, y = z.unbind(-1)
        size = self.atanh_rho.abs()
        log_rest = -2 * (size + F.softplus(-2 * size) - log(2))  # ln(1 - rho^2)
        # Z / (1 - rho^2) as a sum of squares, which does not cancel where rho is near 1
        distance = (x - self.atanh_rho.tanh() * y) ** 2 * (-log_rest).exp() + y**2
        normal = -log(2 * pi) - self.log_sd.sum(-1) - (log_rest + distance) / 2
        ended = -F.binary_cross_entropy_with_logits(self.end, point[..., 2], reduction="none")
        return (self.log_weight + normal).logsumexp(-1) + ended

    def expected(self) -> Tensor:
        """(..., 2) the mean offset."""
        return (self.log_weight.exp()[..., None] * self.mean).sum(-2)

    def draw(self, uniform: Tensor, normal: Tensor) -> Tensor:
        """(..., 3) points, from uniform numbers (..., 2) and standard normal ones (..., 2)."""
        below = self.log_weight.exp().cumsum(-1)
        chosen = (below <= uniform[..., :1] * below[..., -1:]).sum(-1).clamp(max=below.shape[-1] - 1)[..., None]
        mean, log_sd = (
            part.gather(-2, chosen[..., None].expand(*chosen.shape, 2)).squeeze(-2) for part in (self.mean, self.log_sd)
        )
        rho = self.atanh_rho.gather(-1, chosen).squeeze(-1).tanh()
        first, second = normal.unbind(-1)
        second = rho * first + (1 - rho**2).clamp_min(0).sqrt() * second
        offset = mean + log_sd.exp() * torch.stack([first, second], -1)
        ended = (uniform[..., 1] < self.end.sigmoid()).to(offset.dtype)
        return torch.cat([offset, ended[..., None]], -1)


def sizes(components: int) -> list[int]:
    """The widths of the parts of the outputs, which are 1 + 6M together."""
    return [1, components, 2 * components, 2 * components, components]


def count(outputs: Tensor) -> int:
    """M, from outputs (..., 1 + 6M)."""
    return (outputs.shape[-1] - 1) // 6
