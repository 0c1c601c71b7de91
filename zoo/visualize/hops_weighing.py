"""Which sentences of a story matter to an answer: the strongest of each hop, and those that are shown of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoo.tasks.answering import AnswerPrediction

EMPTY = 0.005
"""Attention to empty places of the memory that is worth a word: what is less is shown as 0.00."""


def strongest(prediction: AnswerPrediction) -> list[int]:
    """For each hop the number of the sentence that it attended to most; none where there is no attention or no
    sentence."""
    if not prediction.sentences:
        return []
    return [max(range(len(hop)), key=hop.__getitem__) for hop in prediction.hops]


def empty(prediction: AnswerPrediction) -> list[float] | None:
    """For each hop the attention to empty places of the memory; None where none is worth a word."""
    rest = [max(0.0, 1 - sum(hop)) for hop in prediction.hops]
    return rest if any(weight >= EMPTY for weight in rest) else None


def chosen(prediction: AnswerPrediction, most: int, supporting: Sequence[bool] | None = None) -> list[int]:
    """The numbers of at most `most` sentences in the order of the story: of more, those that the answer follows from
    and those with the highest weight in some hop, and of equal ones the newest."""
    count = len(prediction.sentences)
    weight = [max((hop[number] for hop in prediction.hops), default=0.0) for number in range(count)]
    needed = [False] * count if supporting is None else list(supporting)
    order = sorted(range(count), key=lambda number: (needed[number], weight[number], number), reverse=True)
    return sorted(order[:most])


def left_out(prediction: AnswerPrediction, kept: Sequence[int]) -> str:
    """What is not shown, in words; empty where all is."""
    missing = sorted(set(range(len(prediction.sentences))) - set(kept))
    if not missing:
        return ""
    said = f"{len(missing):,} more sentence{'s' * (len(missing) > 1)}"
    if not prediction.hops:
        return said
    highest = max(hop[number] for hop in prediction.hops for number in missing)
    return f"{said}, none with more than {highest:.2f} in any hop"
