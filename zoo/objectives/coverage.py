"""Attention that leaves no source position out.

Doubly stochastic attention: Kelvin Xu et al. Show, Attend and Tell. ICML 2015. https://arxiv.org/abs/1502.03044
"""

from __future__ import annotations

import torch

from zoo.arguments import Positive
from zoo.attention.source import source_attention
from zoo.data.pairs.batch import PairBatch
from zoo.errors import ConfigError
from zoo.models.output import Output
from zoo.objectives.loss import Term


class Coverage:
    """sum_s (tau - sum_t alpha_ts)^2 over the real source positions, per sentence: each is attended tau in all.

    tau = 1 is the paper's doubly stochastic attention. The rows of alpha sum to 1, so that T target tokens give S
    source positions T in all: only with tau = T / S, which None stands for, can the term come to 0, and then only for a
    network that attends to the source's end too, which is one of the S.

    The term is divided by sentences as in the paper, but cross-entropy by tokens, where the paper sums over the
    sentence: divide a paper's `weight` by the mean length of a target.
    """

    def __init__(self, *, weight: float = 0.01, tau: Positive | None = None) -> None:
        if tau is not None and tau <= 0:
            raise ConfigError(f"tau={tau}: expected a number above 0, or null for T / S of each sentence")
        self.weight, self.tau = weight, tau

    def __call__(self, output: Output, batch: PairBatch) -> Term:
        attention = source_attention(output.attention)
        if attention is None:
            raise ConfigError("regularizer: this network returns no attention on the source to cover it with")
        attended = attention.to(torch.promote_types(attention.dtype, torch.float32)).sum(1)  # (B, S)
        if self.tau is None:
            tau = batch.forced.mask.sum(1).to(attended.dtype) / batch.source_mask.sum(1).clamp(min=1)
        else:
            tau = attended.new_full((len(batch),), self.tau)
        missed = (tau[:, None] - attended).masked_fill(~batch.source_mask, 0.0)
        return Term("coverage", missed.square().sum(), len(batch), self.weight)
