"""How strongly the words and sentences of a document are shown, by their weights: the same on every display."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from zoo.tasks.classification import DocumentPrediction


class Weighing(NamedTuple):
    """A way to turn the weight of a word, `w` in its sentence, and of that sentence, `s`, into one number."""

    title: str
    formula: str
    value: Callable[[float, float], float]
    full: float
    """Full colour is the document's highest value, but at least this: even attention over a document stays pale."""


WEIGHINGS = {
    "paper": Weighing("√sentence × word", "the paper's", lambda w, s: sqrt(s) * w, 0.15),
    "joint": Weighing("sentence × word", "share of the document", lambda w, s: s * w, 0.08),
    "word": Weighing("word", "share of its sentence", lambda w, s: w, 0.3),
}
"""`paper` is the display of Yang et al. 2016, figures 5 and 6; the root keeps words of weak sentences visible."""

FULL_BAR = 0.4
"""A sentence's bar is full at the document's highest sentence weight, but at least this."""


def word_strengths(prediction: DocumentPrediction, weighing: str = "paper") -> list[list[float]] | None:
    """How strongly to show each word, 0 to 1, a list per sentence; None where the network has no word attention.

    Without sentence attention every sentence weighs 1.
    """
    way = WEIGHINGS[weighing]
    rows = []
    for sentence in prediction.sentences:
        if sentence.word_weights is None:
            return None
        of_sentence = 1.0 if sentence.weight is None else sentence.weight
        rows.append([way.value(w, of_sentence) for _, w in zip(sentence.words, sentence.word_weights, strict=True)])
    full = max([way.full, *(value for row in rows for value in row)])
    return [[value / full for value in row] for row in rows]


def sentence_strengths(prediction: DocumentPrediction) -> list[float] | None:
    """How long to draw the bar of each sentence, 0 to 1; None where the network has no sentence attention."""
    weights = [sentence.weight for sentence in prediction.sentences if sentence.weight is not None]
    if len(weights) < len(prediction.sentences) or not weights:
        return None
    full = max(FULL_BAR, *weights)
    return [weight / full for weight in weights]


def top_words(prediction: DocumentPrediction, count: int) -> list[tuple[str, float]]:
    """The `count` words with the highest shares of the document's attention, and these; none without attention."""
    shares = [
        (word, weight * (1.0 if sentence.weight is None else sentence.weight))
        for sentence in prediction.sentences
        for word, weight in zip(sentence.words, sentence.word_weights or (), strict=sentence.word_weights is not None)
    ]
    return sorted(shares, key=lambda share: -share[1])[:count]
