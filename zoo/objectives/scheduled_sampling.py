"""Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks.

Samy Bengio, Oriol Vinyals, Navdeep Jaitly, Noam Shazeer. NIPS 2015. https://arxiv.org/abs/1506.03099
"""

from __future__ import annotations

import torch
from torch import Tensor

from zoo.data.batch import PairBatch
from zoo.data.spec import PairSpec
from zoo.objectives.cross_entropy import smoothing_share
from zoo.objectives.decay import decay as schedule
from zoo.objectives.feeding import likeliest, sampled, walk
from zoo.objectives.loss import Loss, Network
from zoo.objectives.vocabulary import token_terms


class ScheduledSampling:
    """Cross-entropy of the true tokens, where the decoder reads a true token with probability epsilon_i and else one of
    its own.

    Every token of every sentence has a coin of its own. Its own token is drawn from the model's distribution, or with
    `greedy` the likeliest, never padding or begin; no gradient passes through it. `decay`, `k`, `slope` and `floor`
    give epsilon at optimiser step i: see `zoo.objectives.decay`. Where it is exactly 1 the batch goes through
    `forward`.
    """

    def __init__(
        self,
        *,
        decay: str = "inverse_sigmoid",
        k: float = 1000.0,
        slope: float = 0.0,
        floor: float = 0.0,
        greedy: bool = False,
        label_smoothing: float = 0.0,
    ) -> None:
        self.epsilon = schedule(decay, k=k, slope=slope, floor=floor)
        self.choose = likeliest if greedy else sampled
        self.label_smoothing = smoothing_share(label_smoothing)

    def __call__(self, network: Network, batch: PairBatch, *, spec: PairSpec, step: int, need_weights: bool) -> Loss:
        epsilon = self.epsilon(step)

        def feed(log_probs: Tensor, truth: Tensor) -> Tensor:
            told = torch.rand(truth.shape, device=truth.device) < epsilon  # a coin per token
            return torch.where(told, truth, self.choose(log_probs, spec))

        if epsilon == 1:
            output = network(batch, need_weights=need_weights)
        else:
            output = walk(network, batch, feed, need_weights=need_weights)
        terms = token_terms(output.logits, batch, label_smoothing=self.label_smoothing, padding=spec.padding)
        return Loss(terms, output, {"epsilon": torch.full((), epsilon, device=batch.source.device)})
