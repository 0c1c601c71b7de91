"""The keys that define how cloze questions become ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from zoo.arguments import Count
from zoo.data.options import Options
from zoo.data.text.options import Size

Kind = Literal["NE", "CN", "V", "P"]
"""The words that are removed: named entities, common nouns, verbs, prepositions."""


@dataclass(frozen=True)
class ClozeTextOptions(Options):
    """How the words of the files become ids. Candidates are found by their spelling, whatever these options are."""

    group: ClassVar[str] = "text"
    tokenizer: ClassVar[str] = "whitespace"
    subwords: ClassVar[bool] = False
    treebank: ClassVar[bool] = False

    lower: bool = False
    """Whether words that differ only in case have one vector."""
    minimum_frequency: Count = 1
    """Words that occur less often in the training questions are unknown."""
    vocabulary_size: Size | None = None
    """The most words, including the special ones; the rarest are unknown. None: no limit."""
