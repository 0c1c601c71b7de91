"""Objectives that run the decoder step by step along the targets, but let it read other tokens than the true ones.

How often it reads the true token follows a schedule of scheduled sampling: Samy Bengio, Oriol Vinyals, Navdeep Jaitly,
Noam Shazeer. NIPS 2015. https://arxiv.org/abs/1506.03099 (section 2.4).

Notation: N real target positions, R examples that have a target at a step, V vocabulary.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from zoo.arguments import NonNegative, Probability, Share
from zoo.attention.softmax import draw
from zoo.decoding.protocol import Specials
from zoo.errors import ConfigError, one_of
from zoo.layers import walk as by_steps
from zoo.models.output import Output
from zoo.objectives.cross_entropy import token_terms
from zoo.objectives.loss import Loss, Network, Supervised, TargetSpec
from zoo.precision import precise_dtype
from zoo.values import Checked

Decay = Callable[[int], float]  # Optimiser steps taken -> the share of true tokens, 0 to 1


def _inverse_sigmoid(step: int, k: float, slope: float) -> float:
    """k / (k + exp(i / k)): about k log k steps to a half."""
    exponent = step / k - math.log(k)  # the share is 1 / (1 + e^exponent), and e^710 overflows
    return math.exp(-exponent) / (1 + math.exp(-exponent)) if exponent > 0 else 1 / (1 + math.exp(exponent))


DecayName = Literal["linear", "exponential", "inverse_sigmoid", "constant"]
DECAYS: dict[DecayName, tuple[Callable[..., float], str, Callable[[float, float], bool]]] = {
    "linear": (lambda i, k, slope: k - slope * i, "k > 0 and slope > 0", lambda k, slope: k > 0 and slope > 0),
    "exponential": (lambda i, k, _: k**i, "0 < k < 1 and slope = 0", lambda k, slope: 0 < k < 1 and slope == 0),
    "inverse_sigmoid": (_inverse_sigmoid, "k >= 1 and slope = 0", lambda k, slope: k >= 1 and slope == 0),
    "constant": (lambda i, k, _: k, "0 <= k <= 1 and slope = 0", lambda k, slope: 0 <= k <= 1 and slope == 0),
}
"""The share at step i before it is bounded, and the constants that the schedule allows, in words and as a check. With k
above 1 the first (k - 1) / slope steps of a linear schedule are all true tokens."""


def schedule(name: DecayName, *, k: float, slope: float = 0.0, floor: float = 0.0) -> Decay:
    """The schedule `name` with the paper's constants: k, c (`slope`) and the least share epsilon (`floor`).

    k has another meaning in each schedule. Raises ConfigError for an unknown name, and for constants that a schedule
    cannot have.
    """
    one_of("decay", name, DECAYS)
    function, expected, fits = DECAYS[name]
    if not (fits(k, slope) and 0 <= floor <= 1):
        raise ConfigError(
            f"decay={name} needs {expected}, and a floor from 0 to 1; got k={k}, slope={slope}, floor={floor}"
        )
    return lambda step: min(1.0, max(floor, function(step, k, slope)))


class FedObjective(Checked, ABC):
    """Cross-entropy of the true tokens, where `feed` chooses at each step what the decoder reads. The share of true
    tokens, logged as `share_name`, follows a `schedule`. At exactly 1 the batch goes through
    `forward`."""

    share_name: str

    def __init__(
        self, *, decay: DecayName, k: NonNegative, slope: NonNegative, floor: Probability, label_smoothing: Share
    ) -> None:
        self.share = schedule(decay, k=k, slope=slope, floor=floor)
        self.label_smoothing = label_smoothing

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


class ScheduledSampling(FedObjective):
    """Cross-entropy of the true tokens, where the decoder reads a true token with probability epsilon_i and else one of
    its own (Bengio et al. 2015, https://arxiv.org/abs/1506.03099).

    Every token of every target has a coin of its own. Its own token is drawn from the model's distribution, or with
    `greedy` the likeliest, never padding or begin; no gradient passes through it. `decay`, `k`, `slope` and `floor`
    give epsilon at optimiser step i: see `schedule`.
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
        true = torch.rand(truth.shape, device=truth.device) < share  # a coin per token
        return torch.where(true, truth, self.choose(log_probs, spec))


class SoftFeedback(FedObjective):
    """Cross-entropy of the true tokens, where the decoder reads truth * (the true token) + (1 - truth) * p_t-1.

    p_t-1 is its distribution (R, 1, V) at the step before, read as the mean embedding under it; with `detach` no
    gradient passes through it. The share of the true token is 0 by default and follows `decay`, `k`, `slope`, `floor`
    otherwise: see `schedule`.

    The idea looks better than sampling, since the gradient passes from each step into the previous one. The result is
    worse (BLEU 77, with true tokens 95, results/translation.md). A mean of embeddings is not the embedding of a word,
    and in decoding the network reads words.
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


def walk(network: Network, batch: Supervised, feed: by_steps.Feed, *, need_weights: bool) -> Output:
    """Return log-probabilities (N, V), in the order of `batch.forced.packing`, and the attention of `network`, which
    reads `feed` after the first token."""
    read, _, packing = batch.forced
    start = network.start(batch)
    log_probs, attention = by_steps.walk(network.step, start, read, packing, feed=feed, need_weights=need_weights)
    return Output(log_probs, attention, memories=start.memories, possible=start.possible, truth=start.truth)


def sampled(log_probs: Tensor, specials: Specials) -> Tensor:
    """Draw a token from each distribution (..., V), never padding or begin: ids (...), without a gradient."""
    return draw(possible(log_probs, specials).exp())


def likeliest(log_probs: Tensor, specials: Specials) -> Tensor:
    """The likeliest token of each distribution (..., V), never padding or begin: ids (...)."""
    return possible(log_probs, specials).argmax(-1)


def possible(log_probs: Tensor, specials: Specials) -> Tensor:
    """A copy of (..., V), at least in float32, -inf at padding and begin, which a decoder never writes."""
    scores = log_probs.detach().to(precise_dtype(log_probs.dtype), copy=True)
    scores[..., specials.padding] = -torch.inf
    scores[..., specials.begin] = -torch.inf
    return scores
