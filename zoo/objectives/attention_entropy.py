"""A penalty on the entropy of attention: a positive weight sharpens it, a negative one delays that it settles."""

from __future__ import annotations

import torch

from zoo.attention.source import source_attention
from zoo.errors import ConfigError
from zoo.models.output import Output
from zoo.objectives.loss import Supervised, Term
from zoo.precision import precise


class AttentionEntropy:
    """-sum_t sum_s alpha_ts log alpha_ts over the real target positions, divided by their number; in nats.

    alpha is the mean over layers and heads. A positive `weight` sharpens it, a negative one spreads it.
    """

    def __init__(self, *, weight: float = 0.01) -> None:
        self.weight = weight

    def __call__(self, output: Output, batch: Supervised) -> Term:
        attention = source_attention(output.attention)
        if attention is None:
            raise ConfigError("regularizer: this network returns no attention on the memory to take the entropy of")
        rows = batch.forced.packing.pack(attention)  # (N, S)
        rows = precise(rows)
        least = torch.finfo(rows.dtype).tiny  # the derivative at 0 is infinite: padding and underflow would give NaN
        entropy = -(rows * rows.clamp(min=least).log()).sum()
        return Term("attention_entropy", entropy, len(rows), self.weight)
