"""Metrics that torchmetrics lacks."""

from zoo.metrics.attention import AttentionRecall, uniform_weights

__all__ = ["AttentionRecall", "uniform_weights"]
