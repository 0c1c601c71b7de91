"""Metrics that torchmetrics lacks."""

from zoo.metrics.attention import (
    AlignmentErrorRate,
    AttentionRecall,
    HeadRecalls,
    PointingGame,
    uniform_rows,
    uniform_weights,
)
from zoo.metrics.captions import CaptionBLEU, CiderD, Meteor, RougeL
from zoo.metrics.cider import DocumentFrequency
from zoo.metrics.ratios import Bits, Mean, Perplexity, Share, TokenLoss
from zoo.metrics.text import CorpusBLEU, CorpusChrF, bleu_tokenizer

__all__ = [
    "AlignmentErrorRate",
    "AttentionRecall",
    "Bits",
    "CaptionBLEU",
    "CiderD",
    "CorpusBLEU",
    "CorpusChrF",
    "DocumentFrequency",
    "HeadRecalls",
    "Mean",
    "Meteor",
    "Perplexity",
    "PointingGame",
    "RougeL",
    "Share",
    "TokenLoss",
    "bleu_tokenizer",
    "uniform_rows",
    "uniform_weights",
]
