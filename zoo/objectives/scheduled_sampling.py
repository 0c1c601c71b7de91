"""Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks.

Samy Bengio, Oriol Vinyals, Navdeep Jaitly, Noam Shazeer. NIPS 2015. https://arxiv.org/abs/1506.03099
"""

from __future__ import annotations

import torch
from torch import Tensor

from zoo.arguments import NonNegative, Probability, Share
from zoo.objectives.decay import DecayName
from zoo.objectives.fed import FedObjective
from zoo.objectives.feeding import likeliest, sampled
from zoo.objectives.loss import TargetSpec


class ScheduledSampling(FedObjective):
    """Cross-entropy of the true tokens, where the decoder reads a true token with probability epsilon_i and else one of
    its own.

    Every token of every target has a coin of its own. Its own token is drawn from the model's distribution, or with
    `greedy` the likeliest, never padding or begin; no gradient passes through it. `decay`, `k`, `slope` and `floor`
    give epsilon at optimiser step i: see `zoo.objectives.decay`.
    """

    share_name = "epsilon"

    def __init__(
        self,
        *,
        decay: DecayName = "inverse_sigmoid",
        k: NonNegative = 1000.0,
        slope: NonNegative = 0.0,
        floor: Probability = 0.0,
        greedy: bool = False,
        label_smoothing: Share = 0.0,
    ) -> None:
        super().__init__(decay=decay, k=k, slope=slope, floor=floor, label_smoothing=label_smoothing)
        self.choose = likeliest if greedy else sampled

    def feed(self, log_probs: Tensor, truth: Tensor, share: float, spec: TargetSpec) -> Tensor:
        told = torch.rand(truth.shape, device=truth.device) < share  # a coin per token
        return torch.where(told, truth, self.choose(log_probs, spec))
