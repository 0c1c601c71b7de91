"""Metrics that torchmetrics lacks."""

from zoo.metrics.alignment import AlignmentErrorRate
from zoo.metrics.attention import AttentionRecall, uniform_rows, uniform_weights
from zoo.metrics.captions import CaptionBLEU, CiderD, Meteor, RougeL
from zoo.metrics.cider import DocumentFrequency
from zoo.metrics.likelihood import Perplexity, TokenLoss
from zoo.metrics.pointing_game import PointingGame, TrueShare
from zoo.metrics.text import CorpusBLEU, CorpusChrF, ExactMatch, bleu_tokenizer

__all__ = [
    "AlignmentErrorRate",
    "AttentionRecall",
    "CaptionBLEU",
    "CiderD",
    "CorpusBLEU",
    "CorpusChrF",
    "DocumentFrequency",
    "ExactMatch",
    "Meteor",
    "Perplexity",
    "PointingGame",
    "RougeL",
    "TokenLoss",
    "TrueShare",
    "bleu_tokenizer",
    "uniform_rows",
    "uniform_weights",
]
