"""REINFORCE against a critic: a second network predicts what samples of an example will cost.

Irwan Bello, Hieu Pham, Quoc V. Le, Mohammad Norouzi, Samy Bengio. Neural Combinatorial Optimization with Reinforcement
Learning. 2016. https://arxiv.org/abs/1611.09940
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from zoo.arguments import Count, Natural, Positive
from zoo.errors import ConfigError
from zoo.objectives.loss import Supervised, TargetSpec, Term
from zoo.objectives.policy_gradient import Expected, PolicyGradient, References, Weight
from zoo.objectives.reward import Reward


class ReinforceCritic(PolicyGradient):
    """The baseline is the cost that a `critic` predicts for an example, such as the length of a tour. The critic is a
    module that returns (B,) for a batch, and the reward is minus the cost. It learns by the mean squared error, added
    to the loss with the weight `critic_weight`. None of that gradient reaches the network, and none of the network's
    gradient the critic.

    The critic's parameters belong to the objective: they are in the optimiser, count in the norm for gradient clipping,
    and are in the checkpoint. Prediction does not load them.
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
        """`critic` makes the module from the data's spec: in a configuration a node with `_partial_: true`."""
        super().__init__(reward=reward, weight=weight, samples=samples, extra=extra)
        if not critic_weight > 0:
            raise ConfigError(f"critic_weight={critic_weight}: expected more than 0, or the critic learns nothing")
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
        return Expected(rewarded.detach(), (Term("critic", error, rewards.numel(), self.critic_weight),))
