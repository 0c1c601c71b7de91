"""Callbacks of every run: checkpoints, random states, checks, pictures."""

from zoo.callbacks.averaging import ExponentialAverage
from zoo.callbacks.checkpoint import (
    BestCheckpoint,
    BestCheckpointArtifact,
    FinalValidation,
    LastCheckpoint,
)
from zoo.callbacks.curves import CurvesPicture
from zoo.callbacks.finite import NonFiniteLoss, StopOnNonFiniteLoss
from zoo.callbacks.pictures import AttentionMaps, WholeTestPictures
from zoo.callbacks.predictions_table import PredictionsTable
from zoo.callbacks.progress import LearningRate, Progress, StepMetrics
from zoo.callbacks.random_state import RandomState
from zoo.callbacks.throughput import Throughput

__all__ = [
    "AttentionMaps",
    "BestCheckpoint",
    "BestCheckpointArtifact",
    "CurvesPicture",
    "ExponentialAverage",
    "FinalValidation",
    "LastCheckpoint",
    "LearningRate",
    "NonFiniteLoss",
    "PredictionsTable",
    "Progress",
    "RandomState",
    "StepMetrics",
    "StopOnNonFiniteLoss",
    "Throughput",
    "WholeTestPictures",
]
