"""How strongly words and sentences are shown for their attention, equal on every display."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import sqrt
from typing import NamedTuple, Protocol


class Sentence(Protocol):
    """Words with the attention to them."""

    @property
    def words(self) -> Sequence[str]: ...

    @property
    def weight(self) -> float | None:
        """Attention to the sentence; None where the network has none."""

    @property
    def word_weights(self) -> Sequence[float] | None:
        """Attention to each word within the sentence, summing to 1; None where the network has none."""

    @property
    def unknown(self) -> Collection[int]:
        """Positions of the words that the network does not know."""


class Weighing(NamedTuple):
    """A way to turn the weight `w` of a word in its sentence and the weight `s` of that sentence into one number."""

    title: str
    formula: str
    value: Callable[[float, float], float]
    full: float
    """The lowest value with full colour. Even attention over a document stays pale."""


WEIGHINGS = {
    "paper": Weighing("√sentence × word", "the paper's", lambda w, s: sqrt(s) * w, 0.15),
    "joint": Weighing("sentence × word", "share of the document", lambda w, s: s * w, 0.08),
    "word": Weighing("word", "share of its sentence", lambda w, s: w, 0.3),
}
"""`paper` is the display of Yang et al. 2016, figures 5 and 6. The root keeps words of weak sentences visible."""

FULL_BAR = 0.4
"""The lowest sentence weight with a full bar."""


def word_strengths(sentences: Sequence[Sentence], weighing: str = "paper") -> list[list[float]] | None:
    """Return the shade of each word from 0 to 1, one list per sentence; None where the network has no word attention.

    Sentences without attention all weigh 1.
    """
    way, rows = WEIGHINGS[weighing], []
    for sentence in sentences:
        if sentence.word_weights is None:
            return None
        whole = 1.0 if sentence.weight is None else sentence.weight
        rows.append([way.value(w, whole) for _, w in zip(sentence.words, sentence.word_weights, strict=True)])
    full = max([way.full, *(value for row in rows for value in row)])
    return [[value / full for value in row] for row in rows]


def sentence_strengths(sentences: Sequence[Sentence]) -> list[float] | None:
    """Return the length of each sentence's bar from 0 to 1; None where the network has no sentence attention."""
    weights = [sentence.weight for sentence in sentences if sentence.weight is not None]
    if len(weights) < len(sentences) or not weights:
        return None
    full = max(FULL_BAR, *weights)
    return [weight / full for weight in weights]


def top_words(sentences: Sequence[Sentence], count: int = 5) -> str:
    """Return the words with the highest shares of the document's attention, with these shares; empty without any."""
    shares = [
        (weight * (1.0 if sentence.weight is None else sentence.weight), word)
        for sentence in sentences
        for word, weight in zip(sentence.words, sentence.word_weights or (), strict=sentence.word_weights is not None)
    ]
    return ", ".join(f"{word} {share:.2f}" for share, word in sorted(shares, key=lambda one: -one[0])[:count])
