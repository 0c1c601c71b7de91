"""Rewards of a hypothesis compared with its reference, for a decoder to learn from."""

from __future__ import annotations

from typing import Protocol

from sacrebleu.metrics import BLEU

from zoo.objectives.loss import Supervised


class Reward(Protocol):
    """Any callable that returns the reward of each hypothesis, compared with the reference of the same number. Ids are
    given without begin, end and padding. `batch` has the examples, with equally many hypotheses each, in sequence. A
    reward may use all that it holds, such as further references or the points of a tour."""

    def __call__(self, hypotheses: list[list[int]], references: list[list[int]], batch: Supervised) -> list[float]: ...


class SentenceBLEU:
    """BLEU of single sentences, 0 to 1, by sacrebleu on tokens as they are.

    Orders longer than the hypothesis do not count (effective order), and the i-th order without a match counts as
    1 / 2^i matches (exp smoothing). Otherwise the reward of nearly every sample would be 0.
    """

    def __init__(self) -> None:
        self.bleu = BLEU(tokenize="none", effective_order=True)

    def __call__(self, hypotheses: list[list[int]], references: list[list[int]], batch: Supervised) -> list[float]:
        pairs = zip(hypotheses, references, strict=True)
        return [self.bleu.sentence_score(_words(ours), [_words(theirs)]).score / 100 for ours, theirs in pairs]


def _words(ids: list[int]) -> str:
    return " ".join(map(str, ids))
