"""The common part of the objectives that feed the decoder with other tokens than the true ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial

import torch
from torch import Tensor

from zoo.arguments import NonNegative, Probability, Share
from zoo.objectives.cross_entropy import smoothing_share
from zoo.objectives.decay import DecayName
from zoo.objectives.decay import decay as schedule
from zoo.objectives.feeding import walk
from zoo.objectives.loss import Loss, Network, Supervised, TargetSpec
from zoo.objectives.vocabulary import token_terms


class FedObjective(ABC):
    """Cross-entropy of the true tokens, where `feed` chooses at each step what the decoder reads. The share of true
    tokens, logged as `share_name`, follows a schedule of `zoo.objectives.decay`. At exactly 1 the batch goes through
    `forward`."""

    share_name: str

    def __init__(
        self, *, decay: DecayName, k: NonNegative, slope: NonNegative, floor: Probability, label_smoothing: Share
    ) -> None:
        self.share = schedule(decay, k=k, slope=slope, floor=floor)
        self.label_smoothing = smoothing_share(label_smoothing)

    @abstractmethod
    def feed(self, log_probs: Tensor, truth: Tensor, share: float, spec: TargetSpec) -> Tensor:
        """Log-probabilities (R, 1, V) of a token and the true token (R, 1) -> ids (R, 1) or distributions (R, 1, V) to
        read."""

    def __call__(self, network: Network, batch: Supervised, *, spec: TargetSpec, step: int, need_weights: bool) -> Loss:
        share = self.share(step)
        if share == 1:
            output = network(batch, need_weights=need_weights)
        else:
            output = walk(network, batch, partial(self.feed, share=share, spec=spec), need_weights=need_weights)
        terms = token_terms(output, batch, label_smoothing=self.label_smoothing, padding=spec.padding)
        return Loss(terms, output, {self.share_name: torch.full((), share, device=output.logits.device)})
