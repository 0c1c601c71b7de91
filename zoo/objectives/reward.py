"""What a hypothesis is worth beside its reference: the rewards that a decoder learns from."""

from __future__ import annotations

from typing import Protocol

from sacrebleu.metrics import BLEU

from zoo.objectives.loss import Supervised


class Reward(Protocol):
    """Any callable: the reward of each hypothesis beside the reference at its place. Ids without begin, end and
    padding. Of `batch`, the examples that they were written for, each has equally many hypotheses, one after the
    other: a reward may look at whatever it holds, such as further references or the points of a tour."""

    def __call__(self, hypotheses: list[list[int]], references: list[list[int]], batch: Supervised) -> list[float]: ...


class SentenceBLEU:
    """BLEU of single sentences, 0 to 1, by sacrebleu on tokens as they are.

    Orders longer than the hypothesis do not count (effective order), and the i-th order without a match counts as
    1 / 2^i matches (exp smoothing): otherwise nearly every sample would be worth nothing.
    """

    def __init__(self) -> None:
        self.bleu = BLEU(tokenize="none", effective_order=True)

    def __call__(self, hypotheses: list[list[int]], references: list[list[int]], batch: Supervised) -> list[float]:
        pairs = zip(hypotheses, references, strict=True)
        return [self.bleu.sentence_score(_words(ours), [_words(theirs)]).score / 100 for ours, theirs in pairs]


def _words(ids: list[int]) -> str:
    return " ".join(map(str, ids))
