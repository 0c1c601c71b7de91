"""Objectives that train a generating network, the rewards that they learn from, and regularisers to add to any."""

from zoo.objectives.cross_entropy import CrossEntropy
from zoo.objectives.feeding import ScheduledSampling, SoftFeedback
from zoo.objectives.loss import Loss, Network, Objective, Regularizer, Supervised, TargetSpec, Term
from zoo.objectives.policy_gradient import PolicyGradient, Reinforce, ReinforceCritic, SelfCritical
from zoo.objectives.regularizers import AttentionEntropy, CoverageLoss, OverlapLoss
from zoo.objectives.rewards import CiderReward, Reward, SentenceBLEU, TourLength

__all__ = [
    "AttentionEntropy",
    "CiderReward",
    "CoverageLoss",
    "CrossEntropy",
    "Loss",
    "Network",
    "Objective",
    "OverlapLoss",
    "PolicyGradient",
    "Regularizer",
    "Reinforce",
    "ReinforceCritic",
    "Reward",
    "ScheduledSampling",
    "SelfCritical",
    "SentenceBLEU",
    "SoftFeedback",
    "Supervised",
    "TargetSpec",
    "Term",
    "TourLength",
]
