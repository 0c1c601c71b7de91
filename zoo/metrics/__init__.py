"""Metrics that torchmetrics lacks."""

from zoo.metrics.alignment import AlignmentErrorRate
from zoo.metrics.attention import AttentionRecall, uniform_rows, uniform_weights
from zoo.metrics.likelihood import Perplexity, TokenLoss
from zoo.metrics.text import CorpusBLEU, CorpusChrF, ExactMatch, bleu_tokenizer

__all__ = [
    "AlignmentErrorRate",
    "AttentionRecall",
    "CorpusBLEU",
    "CorpusChrF",
    "ExactMatch",
    "Perplexity",
    "TokenLoss",
    "bleu_tokenizer",
    "uniform_rows",
    "uniform_weights",
]
