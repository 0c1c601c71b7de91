"""Self-critical Sequence Training for Image Captioning.

Steven J. Rennie, Etienne Marcheret, Youssef Mroueh, Jerret Ross, Vaibhava Goel. CVPR 2017.
https://arxiv.org/abs/1612.00563
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.objectives.loss import Supervised
from zoo.objectives.policy_gradient import Expected, PolicyGradient, Weight
from zoo.objectives.reward import Reward


class SelfCritical(PolicyGradient):
    """The baseline is the reward of what the network would put out now: its greedy hypothesis, decoded without dropout.

    Only samples that beat it become likelier. The paper draws one sample of each example.
    """

    name = "self_critical"

    def __init__(self, *, reward: Reward, weight: Weight = 0.5, samples: Count = 1, extra: Natural = 10) -> None:
        super().__init__(reward=reward, weight=weight, samples=samples, extra=extra)

    def expected(self, batch: Supervised, rewards: Tensor, greedy_rewards: Callable[[], Tensor]) -> Expected:
        return Expected(greedy_rewards())
