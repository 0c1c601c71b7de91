"""The common part of learning from a reward: samples, their rewards, the gradient estimate, and the share of
cross-entropy.

Notation: B examples, K samples of each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Annotated, NamedTuple

import torch
from annotated_types import Gt, Le
from torch import Tensor, nn

from zoo.arguments import Count, Natural
from zoo.decoding import Greedy, Rollout, Sampling
from zoo.errors import ConfigError
from zoo.layers.modes import evaluating
from zoo.objectives.loss import Loss, Network, Supervised, TargetSpec, Term
from zoo.objectives.reward import Reward
from zoo.objectives.vocabulary import token_terms

Weight = Annotated[float, Gt(0), Le(1)]
"""The share of the reward's loss, above 0."""


References = Callable[[], Iterable[Sequence[Sequence[int]]]]
"""Returns the right answers for each example of the training split, in the order of `Batch.index`: one or more
sequences of ids without begin and end."""


class Expected(NamedTuple):
    """The rewards that samples were expected to earn."""

    baseline: Tensor
    """In a shape that fits the rewards (B, K), and without a gradient."""
    terms: tuple[Term, ...] = ()
    """The loss terms of a baseline that is learned."""


class PolicyGradient(nn.Module, ABC):
    """-(reward - baseline) log p(sample), averaged over samples and examples: in the mean over samples its gradient is
    that of minus the expected reward, whatever the baseline, if that does not depend on the sample.

    Ronald J. Williams. Simple statistical gradient-following algorithms. 1992. https://doi.org/10.1007/BF00992696
    Marc'Aurelio Ranzato et al. (MIXER). ICLR 2016. https://arxiv.org/abs/1511.06732

    `weight` is the share of this loss, and cross-entropy has the rest. It preserves the order of words, which the
    reward may ignore. With 1 there is no cross-entropy, unless a regulariser needs the attention.

    `samples` are drawn for each example from torch's default generator, which each rank seeds by itself. They may be
    `extra` tokens longer than the batch's longest target, but never longer than `spec.longest_target`. There the end
    follows with certainty. Without targets, the longest target counts as one token for each unit of the longest
    `memory_length`, and the end. References are then empty, and `weight` has to be 1.
    """

    name: str

    def __init__(self, *, reward: Reward, weight: Weight, samples: Count, extra: Natural) -> None:
        super().__init__()
        if not 0 < weight <= 1:
            raise ConfigError(f"weight={weight}: expected a share above 0 and at most 1")
        if samples < 1 or extra < 0:
            raise ConfigError(f"samples={samples}, extra={extra}: expected at least 1 sample, and extra of at least 0")
        self.reward, self.weight, self.samples, self.extra = reward, weight, samples, extra

    def build(self, spec: TargetSpec, references: References | None = None) -> None:
        """Build the parts that are learned besides the network, when the data's spec is known: by default none.

        A reward that does not fit all data has a `check`, which raises ConfigError. A reward that needs all right
        answers of the training split has a `read`, which receives the result of `references`.
        """
        check: Callable[[TargetSpec], None] | None = getattr(self.reward, "check", None)
        if check is not None:
            check(spec)
        read: Callable[[Iterable[Sequence[Sequence[int]]]], None] | None = getattr(self.reward, "read", None)
        if read is not None and references is not None:
            read(references())

    @abstractmethod
    def expected(self, batch: Supervised, rewards: Tensor, greedy_rewards: Callable[[], Tensor]) -> Expected:
        """Return the baseline of the samples of `batch`, which earned the `rewards` (B, K). `greedy_rewards()` returns
        the rewards (B, 1) of the greedy hypotheses."""

    def forward(self, network: Network, batch: Supervised, *, spec: TargetSpec, step: int, need_weights: bool) -> Loss:
        """Return the term of the reward, those of a learned baseline, and cross-entropy where it has a share.

        Logs the mean reward, the mean baseline, and as `advantage` the mean size of their difference. Raises
        ConfigError if targets are needed and missing.
        """
        try:
            forced = batch.forced
        except ValueError:  # the right answers may be unknown, such as shortest tours
            if self.weight < 1 or need_weights:
                what = f"objective.weight={self.weight}" if self.weight < 1 else "regularizer"
                raise ConfigError(
                    f"{what}: these data have no targets, which cross-entropy or a regularizer needs; set "
                    "objective.weight=1 and regularizer=null, or use data with targets"
                ) from None
            most = int(batch.memory_length.max()) + 1 if len(batch) else 1
            references: list[list[int]] = [[] for _ in range(len(batch))]
        else:
            most = forced.mask.shape[1]
            references = _until_end(forced.packing.unpack(batch.true_tokens), forced.mask, spec)
        longest = (0, min(most + self.extra, spec.longest_target))

        def rewards_of(samples: Rollout) -> Tensor:
            """(B, K); waits for the device, as the reward is counted in Python."""
            count = samples.tokens.shape[1]
            repeated = [reference for reference in references for _ in range(count)]
            written = _until_end(samples.tokens.flatten(0, 1), samples.mask.flatten(0, 1), spec)
            rewards = self.reward(written, repeated, batch)
            if len(rewards) != len(repeated):
                raise ConfigError(f"reward: {len(rewards)} numbers for {len(repeated)} hypotheses; expected as many")
            like = samples.log_probs
            return torch.as_tensor(rewards, dtype=like.dtype, device=like.device).view(-1, count)

        def greedy_rewards() -> Tensor:
            with evaluating(network):
                return rewards_of(Greedy(max_length=longest).draw(network, batch, spec))

        samples = Sampling(samples=self.samples, max_length=longest).draw(network, batch, spec)
        rewards = rewards_of(samples)
        baseline, terms = self.expected(batch, rewards, greedy_rewards)
        advantage = rewards - baseline
        total = -(advantage * samples.log_probs.sum(2)).sum()
        logs = {"reward": rewards.mean(), "baseline": baseline.mean(), "advantage": advantage.abs().mean()}
        earned = Term(self.name, total, rewards.numel(), self.weight)
        if self.weight == 1 and not need_weights:
            return Loss((earned, *terms), None, logs)
        output = network(batch, need_weights=need_weights)
        told = token_terms(output, batch, label_smoothing=0.0, padding=spec.padding, weight=1 - self.weight)
        return Loss((earned, *told, *terms), output, logs)


def _until_end(rows: Tensor, mask: Tensor, spec: TargetSpec) -> list[list[int]]:
    """The ids of each row of (R, T) before its end; `mask` (R, T) True at tokens, a prefix of each row."""
    written = zip(rows.tolist(), mask.sum(1).tolist(), strict=True)
    return [list(takewhile(lambda token: token != spec.end, row[:length])) for row, length in written]
