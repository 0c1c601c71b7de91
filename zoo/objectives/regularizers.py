"""Regularisers of attention: penalties on its entropy and on looking twice at one position, and one that pushes its
totals over the memory towards a number.

alpha_ts, at target position t on position s of the memory, is the mean over layers and heads.
"""

import torch
from torch import Tensor

from zoo.arguments import Positive
from zoo.errors import ConfigError
from zoo.layers.state import positions_of, source_attention
from zoo.models.output import Output
from zoo.objectives.loss import Supervised, Term
from zoo.precision import precise
from zoo.values import Checked


class AttentionEntropy:
    """-sum_t sum_s alpha_ts log alpha_ts over the real target positions, divided by their number; in nats.

    A positive `weight` sharpens alpha, a negative one spreads it and delays that it settles.
    """

    def __init__(self, *, weight: float = 0.01) -> None:
        self.weight = weight

    def __call__(self, output: Output, batch: Supervised) -> Term:
        rows = batch.forced.packing.pack(_attention(output))  # (N, S)
        least = torch.finfo(rows.dtype).tiny  # the derivative at 0 is infinite: padding and underflow would give NaN
        entropy = -(rows * rows.clamp(min=least).log()).sum()
        return Term("attention_entropy", entropy, len(rows), self.weight)


class CoverageLoss(Checked):
    """sum_s (tau - sum_t alpha_ts)^2 over the real positions of the memory, per example. At its minimum each position
    has a total attention of tau.

    tau = 1 is doubly stochastic attention (Xu et al. 2015, https://arxiv.org/abs/1502.03044). The rows of alpha sum to
    1, so that T target tokens give S positions a total of T. The term can reach 0 only with tau = T / S, the meaning of
    None, and only if the network may attend to all S positions, not only to those with content.

    As in the paper, the term is divided by the number of examples. Cross-entropy is divided by the number of tokens,
    while the paper sums it over the caption. Divide a paper's `weight` by the mean length of a target.
    """

    def __init__(self, *, weight: float = 0.01, tau: Positive | None = None) -> None:
        self.weight, self.tau = weight, tau

    def __call__(self, output: Output, batch: Supervised) -> Term:
        attention = _attention(output)
        attended = attention.sum(1)  # (B, S)
        real = positions_of("source", output.memories, batch, attention).mask
        if self.tau is None:
            tau = batch.forced.mask.sum(1).to(attended.dtype) / real.sum(1).clamp(min=1)
        else:
            tau = attended.new_full((len(batch),), self.tau)
        missed = (tau[:, None] - attended).masked_fill(~real, 0.0)
        return Term("coverage", missed.square().sum(), len(batch), self.weight)


class OverlapLoss(Checked):
    """sum_t sum_s min(alpha_ts, o_ts) over the real target positions, divided by their number. o_ts is the sum of the
    attention on s before t. The term is 0 where no position is attended twice.

    Abigail See, Peter J. Liu, Christopher D. Manning. ACL 2017. https://arxiv.org/abs/1704.04368 (equation 12). It is
    their coverage loss. They train without it first: from the start it makes the network worse.
    """

    def __init__(self, *, weight: Positive = 1.0) -> None:
        self.weight = weight

    def __call__(self, output: Output, batch: Supervised) -> Term:
        attention = _attention(output)  # (B, T, S)
        before = attention.cumsum(1) - attention
        rows = batch.forced.packing.pack(torch.minimum(attention, before).sum(-1))
        return Term("overlap", rows.sum(), len(rows), self.weight)


def _attention(output: Output) -> Tensor:
    """alpha (B, T, S), in float32 at least. Raises ConfigError where a network returns none."""
    attention = source_attention(output.attention)
    if attention is None:
        raise ConfigError("regularizer: this network returns no attention on the memory, which this term is about")
    return precise(attention)
