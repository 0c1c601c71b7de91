"""Objectives that train a generating network, one per file, and regularisers to add to any of them."""

from zoo.objectives.attention_entropy import AttentionEntropy
from zoo.objectives.cider_reward import CiderReward
from zoo.objectives.coverage import CoverageLoss
from zoo.objectives.cross_entropy import CrossEntropy
from zoo.objectives.loss import Loss, Network, Objective, Regularizer, Supervised, TargetSpec, Term
from zoo.objectives.reinforce import Reinforce
from zoo.objectives.reinforce_critic import ReinforceCritic
from zoo.objectives.reward import Reward, SentenceBLEU
from zoo.objectives.scheduled_sampling import ScheduledSampling
from zoo.objectives.self_critical import SelfCritical
from zoo.objectives.soft_feedback import SoftFeedback
from zoo.objectives.tour_length import TourLength

__all__ = [
    "AttentionEntropy",
    "CiderReward",
    "CoverageLoss",
    "CrossEntropy",
    "Loss",
    "Network",
    "Objective",
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
