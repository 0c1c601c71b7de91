"""Learning from a reward: the network draws samples, and those with a higher reward than a baseline become likelier.

Notation: B examples, K samples of each.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Annotated, Any, Literal

import torch
from annotated_types import Gt, Le
from torch import Tensor, nn

from zoo.arguments import Count, Natural, Positive, Share
from zoo.decoding import Greedy, Rollout, Sampling
from zoo.errors import ConfigError
from zoo.layers.modes import evaluating
from zoo.layers.packing import Forced
from zoo.objectives.cross_entropy import token_terms
from zoo.objectives.loss import Loss, Network, Supervised, TargetSpec, Term
from zoo.objectives.rewards import Reward
from zoo.values import Checked

Weight = Annotated[float, Gt(0), Le(1)]  # The share of the reward's loss, above 0
Baseline = Literal["leave_one_out", "moving_average"]

References = Callable[[], Iterable[Sequence[Sequence[int]]]]
"""Returns the reference sequences of each training example, in the order of `Batch.index`: ids without begin and
end."""

Expected = tuple[Tensor, tuple[Term, ...]]
"""A baseline without a gradient, whose shape broadcasts to the rewards (B, K), and the loss terms that train it."""


class PolicyGradient(Checked, nn.Module, ABC):
    """The loss -(reward - baseline) log p(sample), averaged over samples and examples.

    Its expected gradient is that of minus the expected reward, for any baseline that does not depend on the sample.

    Ronald J. Williams. Simple statistical gradient-following algorithms. 1992. https://doi.org/10.1007/BF00992696
    Marc'Aurelio Ranzato et al. (MIXER). ICLR 2016. https://arxiv.org/abs/1511.06732

    `weight` is the share of this loss. Cross-entropy has the rest, and teaches the order of words, which a reward may
    ignore. With `weight=1` cross-entropy is computed only if a regulariser needs the attention.

    `samples` sequences are drawn for each example from torch's default generator, which each rank seeds by itself. A
    sample has at most `extra` tokens more than the longest target of the batch, and at most `spec.longest_target`. At
    that length the end follows with certainty. In data without targets the longest target counts as one token for each
    unit of the longest `memory_length`, and the end. References are then empty, and `weight` must be 1.
    """

    name: str

    def __init__(self, *, reward: Reward, weight: Weight = 0.5, samples: Count = 1, extra: Natural = 10) -> None:
        super().__init__()
        self.reward, self.weight, self.samples, self.extra = reward, weight, samples, extra

    def build(self, spec: TargetSpec, references: References | None = None) -> None:
        """Prepare the objective when the data's spec is known. A subclass builds the modules that it trains besides the
        network.

        A reward may have a method `check`, which receives the spec and raises ConfigError if the data do not fit. It
        may have a method `read`, which receives the result of `references`.
        """
        reward: Any = self.reward
        if hasattr(reward, "check"):
            reward.check(spec)
        if hasattr(reward, "read") and references is not None:
            reward.read(references())

    @abstractmethod
    def expected(self, batch: Supervised, rewards: Tensor, greedy_rewards: Callable[[], Tensor]) -> Expected:
        """Return the baseline for the `rewards` (B, K) of samples. `greedy_rewards()` returns the rewards (B, 1) of the
        greedy hypotheses."""

    def forward(self, network: Network, batch: Supervised, *, spec: TargetSpec, step: int, need_weights: bool) -> Loss:
        """Return the terms of the reward, of a learned baseline and of cross-entropy, if that has a share.

        The logs are the mean reward, the mean baseline, and as `advantage` the mean absolute difference between them.
        Raises ConfigError if targets are needed and missing.
        """
        forced: Forced | None = None
        try:
            forced = batch.forced
            most = forced.mask.shape[1]
        except ValueError:  # the right answers may be unknown, such as shortest tours
            if self.weight < 1 or need_weights:
                what = f"objective.weight={self.weight}" if self.weight < 1 else "regularizer"
                raise ConfigError(
                    f"{what}: these data have no targets, which cross-entropy or a regularizer needs; set "
                    "objective.weight=1 and regularizer=null, or use data with targets"
                ) from None
            most = int(batch.memory_length.max()) + 1 if len(batch) else 1
        longest = (0, min(most + self.extra, spec.longest_target))

        def rewards_of(samples: Rollout) -> Tensor:
            """(B, K); waits for the device, because rewards are computed in Python."""
            count = samples.tokens.shape[1]
            references: list[list[int]] = [[] for _ in range(len(batch))]
            if forced is not None:
                true = batch.true_tokens if samples.truth is None else samples.truth
                references = _until_end(forced.packing.unpack(true), forced.mask, spec)
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
        forced_terms = token_terms(output, batch, label_smoothing=0.0, padding=spec.padding, weight=1 - self.weight)
        return Loss((earned, *forced_terms, *terms), output, logs)


class Reinforce(PolicyGradient):
    """REINFORCE (Williams 1992) with the mean reward of other samples as baseline.

    `baseline` = leave_one_out | moving_average. The first is the mean over the other samples of the example (Kool, van
    Hoof and Welling 2019, https://openreview.net/forum?id=r1lgTGL5DE). The second is the mean over all batches before,
    where the weight of a batch is multiplied by `momentum` at each step. It is stored in the checkpoint. With several
    ranks it is that of the first rank, whose buffers DDP copies to the others.
    """

    name = "reinforce"
    total: Tensor
    counted: Tensor

    def __init__(
        self,
        *,
        reward: Reward,
        weight: Weight = 0.5,
        samples: Count = 5,
        baseline: Baseline = "leave_one_out",
        momentum: Share = 0.99,
        extra: Natural = 10,
    ) -> None:
        super().__init__(reward=reward, weight=weight, samples=samples, extra=extra)
        if baseline == "leave_one_out" and samples < 2:
            raise ConfigError("baseline=leave_one_out needs samples of at least 2: with 1 there is no other")
        self.leave_one_out, self.momentum = baseline == "leave_one_out", momentum
        remembers = not self.leave_one_out
        self.register_buffer("total", torch.zeros(()), persistent=remembers)
        self.register_buffer("counted", torch.zeros(()), persistent=remembers)

    def expected(self, batch: Supervised, rewards: Tensor, greedy_rewards: Callable[[], Tensor]) -> Expected:
        if self.leave_one_out:
            return (rewards.sum(1, keepdim=True) - rewards) / (rewards.shape[1] - 1), ()
        average = (self.total / self.counted.clamp(min=1 - self.momentum)).to(rewards.dtype)
        if self.training:
            self.total.mul_(self.momentum).add_((1 - self.momentum) * rewards.mean())
            self.counted.mul_(self.momentum).add_(1 - self.momentum)
        return average, ()


class ReinforceCritic(PolicyGradient):
    """REINFORCE with a learned baseline: minus the cost that a `critic` predicts for the example, such as the length of
    a tour (Bello et al. 2016, https://arxiv.org/abs/1611.09940).

    The critic is a module that maps a batch to costs (B,). Its loss is the mean squared error, with the weight
    `critic_weight`. Its gradient does not reach the network, and the network's gradient does not reach the critic.

    The critic's parameters belong to the objective. They are in the optimiser, in the norm for gradient clipping, and
    in the checkpoint. Prediction does not load them.
    """

    name = "reinforce"

    def __init__(
        self,
        *,
        reward: Reward,
        critic: Callable[[TargetSpec], nn.Module],
        weight: Weight = 1.0,
        samples: Count = 1,
        critic_weight: Positive = 1.0,
        extra: Natural = 0,
    ) -> None:
        """`critic` builds the module from the data's spec; in a configuration it is a node with `_partial_: true`."""
        super().__init__(reward=reward, weight=weight, samples=samples, extra=extra)
        if isinstance(critic, nn.Module) or not callable(critic):
            raise ConfigError("critic: expected what makes the critic from the data's spec; give it _partial_: true")
        self.make, self.critic_weight = critic, critic_weight
        self.critic: nn.Module | None = None

    def build(self, spec: TargetSpec, references: References | None = None) -> None:
        super().build(spec, references)
        self.critic = self.make(spec)

    def expected(self, batch: Supervised, rewards: Tensor, greedy_rewards: Callable[[], Tensor]) -> Expected:
        assert self.critic is not None, "build() comes first"
        rewarded = -self.critic(batch)[:, None].to(rewards.dtype)  # (B, 1)
        error = (rewarded - rewards.detach()).square().sum()
        return rewarded.detach(), (Term("critic", error, rewards.numel(), self.critic_weight),)


class SelfCritical(PolicyGradient):
    """REINFORCE with the reward of the greedy hypothesis as baseline (Rennie et al. 2017,
    https://arxiv.org/abs/1612.00563), which is decoded without dropout. The paper draws one sample per example.
    """

    name = "self_critical"

    def expected(self, batch: Supervised, rewards: Tensor, greedy_rewards: Callable[[], Tensor]) -> Expected:
        return greedy_rewards(), ()


def _until_end(rows: Tensor, mask: Tensor, spec: TargetSpec) -> list[list[int]]:
    """The ids before the end in each row of (R, T). The `mask` (R, T) is True at tokens, a prefix of each row."""
    written = zip(rows.tolist(), mask.sum(1).tolist(), strict=True)
    return [list(takewhile(lambda token: token != spec.end, row[:length])) for row, length in written]
