"""The most probable token at every step."""

from __future__ import annotations

import torch
from torch import Tensor

from zoo.arguments import Natural
from zoo.decoding.hypothesis import Hypothesis
from zoo.decoding.protocol import Decoding, Examples, Generating, Specials
from zoo.decoding.rollout import Rollout, rollout
from zoo.decoding.rules import Bound, Rules


class Greedy(Decoding):
    """Writes the most probable token at every step until the end; of equally probable ones that with the lowest id.

    A length (a, b) means a L + b tokens, the end counted, for a memory of length L. See `zoo.decoding.rules`.
    """

    def __init__(
        self,
        *,
        min_length: Bound = (0.0, 0.0),
        max_length: Bound = (2.0, 10.0),
        no_repeat_ngram: Natural = 0,
    ) -> None:
        self.rules = Rules(min_length, max_length, no_repeat_ngram)

    def draw(self, network: Generating, batch: Examples, specials: Specials) -> Rollout:
        """Return one sequence for each example as tensors, with gradients where they are on."""
        return rollout(network, batch, specials, rules=self.rules, choose=_most_probable)

    @torch.no_grad()
    def __call__(self, network: Generating, batch: Examples, specials: Specials) -> list[list[Hypothesis]]:
        """A list of one hypothesis for each example."""
        if not len(batch):
            return []
        return self.draw(network, batch, specials).hypotheses(specials)


def _most_probable(log_probs: Tensor) -> tuple[Tensor, Tensor]:
    tokens = log_probs.argmax(2)  # the first of equals
    return tokens, log_probs.gather(2, tokens[:, :, None]).squeeze(2)
