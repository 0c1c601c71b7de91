"""How a query looks at a memory: scores, and the way from scores to weights."""

from zoo.attention.scores import ContextScore
from zoo.attention.softmax import masked_softmax, segment_softmax

__all__ = ["ContextScore", "masked_softmax", "segment_softmax"]
