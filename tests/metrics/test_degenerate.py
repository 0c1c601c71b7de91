"""A metric that the data do not define is NaN, which result.json writes as null, and never a number."""

import pytest
import torch

from zoo.metrics import (
    AlignmentErrorRate,
    AttentionRecall,
    CaptionBLEU,
    CiderD,
    CorpusBLEU,
    CorpusChrF,
    Perplexity,
    PointingGame,
    RougeL,
    Share,
    TokenLoss,
)
from zoo.metrics.pearson import Pearson, Spearman
from zoo.metrics.ratios import PolarAccuracy, TaskErrors, failed_tasks, mean_error

CONSTANT = torch.full((3,), 0.1)
RISING = torch.tensor([1.0, 2.0, 4.0])
NEVER = [
    AlignmentErrorRate,
    AttentionRecall,
    CaptionBLEU,
    CiderD,
    CorpusBLEU,
    CorpusChrF,
    Perplexity,
    PointingGame,
    RougeL,
    Share,
    TokenLoss,
    Pearson,
    Spearman,
    lambda: PolarAccuracy((-1, 0, 1)),
]


def scored(metric, *given):
    metric.update(*given)
    return metric.compute().item()


@pytest.mark.filterwarnings("ignore:The ``compute`` method")
@pytest.mark.parametrize("make", NEVER)
def test_without_examples(make):
    assert make().compute().isnan()


UNDEFINED = {
    "CIDEr-D of one image": (CiderD, ["a dog runs fast"], [["a dog runs fast", "the dog is running"]]),
    "CIDEr-D of images with the same captions": (CiderD, ["a dog", "a cat"], [["a dog"], ["a dog"]]),
    "CIDEr-D without a word in the references": (CiderD, ["a dog", "a cat"], [[""], [""]]),
    "BLEU-4 of three words": (CaptionBLEU, ["a red ball"], [["a red ball", "a ball"]]),
    "BLEU of three words": (CorpusBLEU, ["ein roter Ball"], ["ein roter Ball"]),
    "chrF of empty references": (CorpusChrF, ["ein Ball"], [""]),
    "ROUGE-L of empty references": (RougeL, ["a ball"], [[""]]),
    "Pearson of one pair": (Pearson, RISING[:1], RISING[:1]),
    "Pearson of equal predictions": (Pearson, CONSTANT, RISING),
    "Pearson of equal truths": (Pearson, RISING, CONSTANT),
    "Spearman of one pair": (Spearman, RISING[:1], RISING[:1]),
    "Spearman of equal predictions": (Spearman, CONSTANT, RISING),
    "Spearman of equal truths": (Spearman, RISING, CONSTANT),
    "polarity of neutral examples": (lambda: PolarAccuracy((-1, 0, 1)), torch.eye(3), torch.ones(3, dtype=torch.long)),
    "recall without evidence": (AttentionRecall, torch.ones(1, 2) / 2, torch.zeros(1, 2, dtype=torch.bool)),
    "pointing without evidence": (PointingGame, torch.ones(1, 2) / 2, torch.zeros(1, 2, dtype=torch.bool)),
}


@pytest.mark.parametrize("case", UNDEFINED)
def test_undefined(case):
    make, *given = UNDEFINED[case]
    assert torch.tensor(scored(make(), *given)).isnan()


DEFINED = {
    "CIDEr-D of copies for two images": (CiderD, ["a dog runs fast", "b"], [["a dog runs fast"], ["x y z w"]], 5.0),
    "CIDEr-D where nothing is in common": (CiderD, ["x", "y"], [["a dog"], ["a cat"]], 0.0),
    "BLEU-4 of too short a hypothesis": (CaptionBLEU, ["a red ball"], [["a red ball lies here"]], 0.0),
    "BLEU-3 where no three words match": (lambda: CaptionBLEU(3), ["a a b"], [["a b b"]], 0.0),
    "BLEU-1 of one word": (lambda: CaptionBLEU(1), ["ball"], [["ball"]], 100.0),
    "BLEU of too short a hypothesis": (CorpusBLEU, ["ein Ball"], ["ein roter Ball liegt hier"], 0.0),
    "chrF of an empty hypothesis": (CorpusChrF, [""], ["ein Ball"], 0.0),
    "ROUGE-L of an empty hypothesis": (RougeL, [""], [["a ball"]], 0.0),
    "Pearson of two pairs": (Pearson, RISING[:2], -RISING[:2], -1.0),
    "Spearman of a rising row": (Spearman, RISING, RISING**2, 1.0),
}


@pytest.mark.parametrize("case", DEFINED)
def test_defined(case):
    make, *given, expected = DEFINED[case]
    assert scored(make(), *given) == pytest.approx(expected, abs=1e-5)


def test_tasks_without_questions():
    nothing = TaskErrors(2)
    nothing.update(torch.zeros(0, dtype=torch.bool), torch.zeros(0, dtype=torch.long))
    assert mean_error(nothing.compute()).isnan() and failed_tasks(nothing.compute()).isnan()
