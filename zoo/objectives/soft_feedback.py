"""Soft feedback: the decoder reads its whole output distribution, as the mean embedding under it, not one token.

The idea looks better than sampling, since the gradient passes from each step into the previous one. The result is
worse (BLEU 77, with true tokens 95, results/translation.md). A mean of embeddings is not the embedding of a word, and
in decoding the network reads words.
"""

from __future__ import annotations

from torch import Tensor

from zoo.arguments import NonNegative, Probability, Share
from zoo.objectives.decay import DecayName
from zoo.objectives.fed import FedObjective
from zoo.objectives.loss import TargetSpec


class SoftFeedback(FedObjective):
    """Cross-entropy of the true tokens, where the decoder reads truth * (the true token) + (1 - truth) * p_t-1.

    p_t-1 is its distribution (R, 1, V) at the step before; with `detach` no gradient passes through it. The share of
    the true token is 0 by default and follows `decay`, `k`, `slope`, `floor` otherwise: see `zoo.objectives.decay`.
    """

    share_name = "truth"

    def __init__(
        self,
        *,
        decay: DecayName = "constant",
        k: NonNegative = 0.0,
        slope: NonNegative = 0.0,
        floor: Probability = 0.0,
        detach: bool = False,
        label_smoothing: Share = 0.0,
    ) -> None:
        super().__init__(decay=decay, k=k, slope=slope, floor=floor, label_smoothing=label_smoothing)
        self.detach = detach

    def feed(self, log_probs: Tensor, truth: Tensor, share: float, spec: TargetSpec) -> Tensor:
        own = (log_probs.detach() if self.detach else log_probs).exp() * (1 - share)
        return own.scatter_add(-1, truth[..., None], own.new_full((*truth.shape, 1), share))
