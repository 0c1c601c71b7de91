"""Soft feedback: the decoder reads its whole output distribution, as the mean embedding under it, not one token.

The idea looks better than sampling, for the gradient passes from each step into the one before. It loses: a mean of
embeddings is no word's embedding, and in decoding the network meets words.
"""

from __future__ import annotations

import torch
from torch import Tensor

from zoo.data.batch import PairBatch
from zoo.data.spec import PairSpec
from zoo.objectives.cross_entropy import smoothing_share
from zoo.objectives.decay import decay as schedule
from zoo.objectives.feeding import walk
from zoo.objectives.loss import Loss, Network
from zoo.objectives.vocabulary import token_terms


class SoftFeedback:
    """Cross-entropy of the true tokens, where the decoder reads truth * (the true token) + (1 - truth) * p_t-1.

    p_t-1 is its distribution (B, 1, V) at the step before; with `detach` no gradient passes through it. The share of
    the true token is 0 by default and follows `decay`, `k`, `slope`, `floor` otherwise: see `zoo.objectives.decay`.
    """

    def __init__(
        self,
        *,
        decay: str = "constant",
        k: float = 0.0,
        slope: float = 0.0,
        floor: float = 0.0,
        detach: bool = False,
        label_smoothing: float = 0.0,
    ) -> None:
        self.truth = schedule(decay, k=k, slope=slope, floor=floor)
        self.detach = detach
        self.label_smoothing = smoothing_share(label_smoothing)

    def __call__(self, network: Network, batch: PairBatch, *, spec: PairSpec, step: int, need_weights: bool) -> Loss:
        share = self.truth(step)

        def feed(log_probs: Tensor, truth: Tensor) -> Tensor:
            own = (log_probs.detach() if self.detach else log_probs).exp() * (1 - share)
            return own.scatter_add(-1, truth[..., None], own.new_full((*truth.shape, 1), share))

        if share == 1:
            output = network(batch, need_weights=need_weights)
        else:
            output = walk(network, batch, feed, need_weights=need_weights)
        terms = token_terms(output.logits, batch, label_smoothing=self.label_smoothing, padding=spec.padding)
        return Loss(terms, output, {"truth": torch.full((), share, device=batch.source.device)})
