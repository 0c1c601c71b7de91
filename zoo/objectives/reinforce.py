"""REINFORCE: samples that earn more than expected become likelier.

Ronald J. Williams. Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning. Machine
Learning 8, 1992. https://doi.org/10.1007/BF00992696
Wouter Kool, Herke van Hoof, Max Welling. Buy 4 REINFORCE Samples, Get a Baseline for Free! ICLR workshop 2019.
https://openreview.net/forum?id=r1lgTGL5DE
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import torch
from torch import Tensor

from zoo.arguments import Count, Natural, Share
from zoo.errors import ConfigError, one_of
from zoo.objectives.loss import Supervised
from zoo.objectives.policy_gradient import Expected, PolicyGradient, Weight
from zoo.objectives.reward import Reward

Baseline = Literal["leave_one_out", "moving_average"]


class Reinforce(PolicyGradient):
    """The baseline is `leave_one_out`, the mean reward of the example's other samples, or `moving_average`, that of
    the batches before, each counting `momentum` times the one after it.

    The moving average travels in the checkpoint. Over several ranks it is that of the first, whose buffers DDP hands to
    the others.
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
        one_of("baseline", baseline, get_args(Baseline))
        if baseline == "leave_one_out" and samples < 2:
            raise ConfigError("baseline=leave_one_out needs samples of at least 2: with 1 there is no other")
        if not 0 <= momentum < 1:
            raise ConfigError(f"momentum={momentum}: expected a number from 0 up to 1, without 1")
        self.leave_one_out, self.momentum = baseline == "leave_one_out", momentum
        remembers = not self.leave_one_out
        self.register_buffer("total", torch.zeros(()), persistent=remembers)
        self.register_buffer("counted", torch.zeros(()), persistent=remembers)

    def expected(self, batch: Supervised, rewards: Tensor, greedy_rewards: Callable[[], Tensor]) -> Expected:
        if self.leave_one_out:
            return Expected((rewards.sum(1, keepdim=True) - rewards) / (rewards.shape[1] - 1))
        average = (self.total / self.counted.clamp(min=1 - self.momentum)).to(rewards.dtype)
        if self.training:
            self.total.mul_(self.momentum).add_((1 - self.momentum) * rewards.mean())
            self.counted.mul_(self.momentum).add_(1 - self.momentum)
        return Expected(average)
