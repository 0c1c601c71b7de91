"""Ancestral sampling: each token drawn from the network's distribution given those before it."""

from __future__ import annotations

from typing import Annotated

import torch
from annotated_types import Gt, Le
from torch import Tensor

from zoo.arguments import Count, Natural, Positive
from zoo.attention.softmax import draw
from zoo.decoding.hypothesis import Hypothesis
from zoo.decoding.protocol import Decoding, Examples, Generating, Specials
from zoo.decoding.rollout import Rollout, rollout
from zoo.decoding.rules import Bound, Rules
from zoo.errors import ConfigError


class Sampling(Decoding):
    """Draws `samples` sequences for each example, token by token.

    Tokens that the rules forbid have probability 0. The log-probabilities are divided by `temperature`. Only the
    `top_k` most probable tokens remain (0: all of them), and of these the smallest set with at least `top_p` of their
    probability. The rest is scaled to sum to 1. Of equally probable tokens the lower ids remain.
    Lengths have the same meaning as in `Greedy`. Raises ConfigError for a value that makes no sense.
    """

    def __init__(
        self,
        *,
        samples: Count = 1,
        temperature: Positive = 1.0,
        top_k: Natural = 0,
        top_p: Annotated[float, Gt(0), Le(1)] = 1.0,
        min_length: Bound = (0.0, 0.0),
        max_length: Bound = (2.0, 10.0),
        no_repeat_ngram: Natural = 0,
    ) -> None:
        if samples < 1:
            raise ConfigError(f"samples={samples}: draw at least 1")
        if not temperature > 0:  # NaN too
            raise ConfigError(f"temperature={temperature}: give more than 0; greedy decoding is its limit at 0")
        if top_k < 0:
            raise ConfigError(f"top_k={top_k}: give 0 (all) or how many tokens to draw from")
        if not 0 < top_p <= 1:
            raise ConfigError(f"top_p={top_p}: give a probability above 0, at most 1")
        self.samples, self.temperature, self.top_k, self.top_p = samples, temperature, top_k, top_p
        self.rules = Rules(min_length, max_length, no_repeat_ngram)

    def draw(
        self, network: Generating, batch: Examples, specials: Specials, generator: torch.Generator | None = None
    ) -> Rollout:
        """Return the sequences as tensors. Their log-probabilities have gradients where these are on, for REINFORCE.

        `generator` is on the batch's device. By default torch's own generator is used.
        """

        def choose(log_probs: Tensor) -> tuple[Tensor, Tensor]:
            distribution = self.distribution(log_probs)
            tokens = draw(distribution.detach().exp(), generator)
            return tokens, distribution.gather(2, tokens[:, :, None]).squeeze(2)

        return rollout(network, batch, specials, rules=self.rules, choose=choose, samples=self.samples)

    @torch.no_grad()
    def __call__(
        self, network: Generating, batch: Examples, specials: Specials, generator: torch.Generator | None = None
    ) -> list[list[Hypothesis]]:
        """Return `samples` hypotheses for each example, the likeliest first. Two of them may be equal."""
        if not len(batch):
            return []
        drawn = self.draw(network, batch, specials, generator).hypotheses(specials)
        return [sorted(each, key=lambda hypothesis: -hypothesis.score) for each in drawn]

    def distribution(self, log_probs: Tensor) -> Tensor:
        """Log-probabilities (..., V), -inf at forbidden tokens -> those that tokens are drawn from."""
        log_probs = (log_probs / self.temperature).log_softmax(-1)
        if self.top_k == 0 and self.top_p == 1:
            return log_probs
        ordered, ids = log_probs.detach().sort(dim=-1, descending=True, stable=True)
        kept = torch.ones_like(ordered, dtype=torch.bool)
        if self.top_k:
            kept[..., self.top_k :] = False
        probabilities = ordered.masked_fill(~kept, -torch.inf).softmax(-1)
        kept &= probabilities.cumsum(-1) - probabilities < self.top_p  # what is more probable does not reach p yet
        kept = torch.zeros_like(kept).scatter(-1, ids, kept)
        return log_probs.masked_fill(~kept, -torch.inf).log_softmax(-1)
