"""How a query looks at a memory: scores, and the way from scores to weights."""

from zoo.attention.local import MonotonicWindow, PredictedWindow
from zoo.attention.multihead import MultiHeadAttention, causal_mask, neighbourhood_mask
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
    "ConcatScore",
    "ContextScore",
    "CosineScore",
    "DotScore",
    "Form",
    "GeneralScore",
    "LocationScore",
    "MonotonicWindow",
    "MultiHeadAttention",
    "PredictedWindow",
    "ScaledDotScore",
    "Score",
    "ScoreName",
    "causal_mask",
    "masked_softmax",
    "neighbourhood_mask",
    "score",
    "segment_softmax",
]
