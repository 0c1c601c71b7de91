"""A penalty that pushes the attention on every position of the memory towards the same total.

Doubly stochastic attention: Kelvin Xu et al. Show, Attend and Tell. ICML 2015. https://arxiv.org/abs/1502.03044
"""

from __future__ import annotations

from zoo.arguments import Positive
from zoo.attention.source import source_attention
from zoo.errors import ConfigError
from zoo.layers.state import positions_of
from zoo.models.output import Output
from zoo.objectives.loss import Supervised, Term
from zoo.precision import precise


class CoverageLoss:
    """sum_s (tau - sum_t alpha_ts)^2 over the real positions of the memory, per example. At its minimum each position
    has a total attention of tau.

    tau = 1 is the paper's doubly stochastic attention. The rows of alpha sum to 1, so that T target tokens give S
    positions a total of T. The term can reach 0 only with tau = T / S, the meaning of None, and only if the network may
    attend to all S positions, not only to those with content.

    As in the paper, the term is divided by the number of examples. Cross-entropy is divided by the number of tokens,
    while the paper sums it over the caption. Divide a paper's `weight` by the mean length of a target.
    """

    def __init__(self, *, weight: float = 0.01, tau: Positive | None = None) -> None:
        if tau is not None and tau <= 0:
            raise ConfigError(f"tau={tau}: expected a number above 0, or null for T / S of each example")
        self.weight, self.tau = weight, tau

    def __call__(self, output: Output, batch: Supervised) -> Term:
        attention = source_attention(output.attention)
        if attention is None:
            raise ConfigError("regularizer: this network returns no attention on the memory to cover it with")
        attended = precise(attention).sum(1)  # (B, S)
        real = positions_of("source", output.memories, batch, attention).mask
        if self.tau is None:
            tau = batch.forced.mask.sum(1).to(attended.dtype) / real.sum(1).clamp(min=1)
        else:
            tau = attended.new_full((len(batch),), self.tau)
        missed = (tau[:, None] - attended).masked_fill(~real, 0.0)
        return Term("coverage", missed.square().sum(), len(batch), self.weight)
