"""Callbacks of every run: checkpoints, random states, checks, pictures."""

from zoo.callbacks.artifact import BestCheckpointArtifact
from zoo.callbacks.attention_maps import AttentionMaps
from zoo.callbacks.averaging import ExponentialAverage
from zoo.callbacks.checkpoint import BestCheckpoint, FinalValidation, Interrupted, LastCheckpoint
from zoo.callbacks.finite import NonFiniteLoss, StopOnNonFiniteLoss
from zoo.callbacks.learning_rate import LearningRate
from zoo.callbacks.predictions_table import PredictionsTable
from zoo.callbacks.progress import Progress
from zoo.callbacks.random_state import RandomState
from zoo.callbacks.throughput import Throughput
from zoo.callbacks.whole_test import WholeTestPictures

__all__ = [
    "AttentionMaps",
    "BestCheckpoint",
    "BestCheckpointArtifact",
    "ExponentialAverage",
    "FinalValidation",
    "Interrupted",
    "LastCheckpoint",
    "LearningRate",
    "NonFiniteLoss",
    "PredictionsTable",
    "Progress",
    "RandomState",
    "StopOnNonFiniteLoss",
    "Throughput",
    "WholeTestPictures",
]
