"""The keys that say how a text becomes sentences of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zoo.data.options import Options

SENTENCES = ("punkt", "lines")


@dataclass(frozen=True)
class TextOptions(Options):
    """How a text becomes sentences of words, and the words ids."""

    group: ClassVar[str] = "text"

    lower: bool = True
    """Case is dropped."""
    sentences: str = "punkt"
    """`punkt` splits into sentences, `lines` takes one sentence a line."""
    max_sentences: int = 100
    """Sentences of a document that are kept, from its beginning."""
    max_words: int = 100
    """Words of a sentence that are kept, from its beginning."""
    max_word_length: int = 40
    """Letters of a word that are kept."""
    minimum_frequency: int = 5
    """Words that occur less often in the training split are unknown."""

    def __post_init__(self) -> None:
        self._check("lower", isinstance(self.lower, bool), "true or false")
        self._check("sentences", self.sentences in SENTENCES, " or ".join(SENTENCES))
        for key in ("max_sentences", "max_words", "max_word_length", "minimum_frequency"):
            self._whole_number(key)
