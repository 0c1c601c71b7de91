"""Answers to be shown."""

from dataclasses import replace
from typing import Any

from zoo.predicting.answering import AnswerPrediction

ANSWER = AnswerPrediction(
    answer="garden",
    probability=0.75,
    alternatives={"garden": 0.75, "<hall>": 0.125},
    sentences=("Mary got the $x$.", "John <left>.", "Mary went to the garden."),
    question="Where is the $x$?",
    hops=((0.75, 0.0, 0.25), (0.125, 0.0, 0.375)),
    unknown=("<left>.",),
)
"""Two hops; the second one leaves half to empty places."""


def answer(**changes: Any) -> AnswerPrediction:
    """ANSWER with changes."""
    return replace(ANSWER, **changes)


def long_answer(count: int, strong: int) -> AnswerPrediction:
    """About `count` sentences; one hop, which has 0.5 on the one at `strong` and shares the rest out."""
    weights = [0.5 / (count - 1)] * count
    weights[strong] = 0.5
    return answer(sentences=tuple(f"It is {n}." for n in range(count)), hops=(tuple(weights),), unknown=())
