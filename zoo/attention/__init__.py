"""How a query looks at a memory: scores, and the way from scores to weights."""

from zoo.attention.attend import Attention, Memory, per_query, weighted_mean
from zoo.attention.local import MonotonicWindow, PredictedWindow
from zoo.attention.multihead import MultiHeadAttention
from zoo.attention.restricted import causal_mask, neighbourhood_mask
from zoo.attention.scores import (
    SCORES,
    AdditiveScore,
    ConcatScore,
    ContextScore,
    CosineScore,
    DotScore,
    Form,
    GeneralScore,
    LocationScore,
    ScaledDotScore,
    Score,
    ScoreName,
    score,
)
from zoo.attention.softmax import masked_softmax, segment_softmax

__all__ = [
    "SCORES",
    "AdditiveScore",
    "Attention",
    "ConcatScore",
    "ContextScore",
    "CosineScore",
    "DotScore",
    "Form",
    "GeneralScore",
    "LocationScore",
    "Memory",
    "MonotonicWindow",
    "MultiHeadAttention",
    "PredictedWindow",
    "ScaledDotScore",
    "Score",
    "ScoreName",
    "causal_mask",
    "masked_softmax",
    "neighbourhood_mask",
    "per_query",
    "score",
    "segment_softmax",
    "weighted_mean",
]
