"""How cloze questions become ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from zoo.arguments import Count
from zoo.data.options import Options
from zoo.data.text.options import Size

Kind = Literal["NE", "CN", "V", "P"]
"""The words that are taken out: named entities, common nouns, verbs, prepositions."""


@dataclass(frozen=True)
class ClozeTextOptions(Options):
    """How words become ids. They are the words of the files, which come in words already; which of them a candidate is
    goes by their spelling, whatever these options say."""

    group: ClassVar[str] = "text"
    tokenizer: ClassVar[str] = "whitespace"
    subwords: ClassVar[bool] = False
    treebank: ClassVar[bool] = False

    lower: bool = False
    """Words that differ in case alone have one vector."""
    minimum_frequency: Count = 1
    """Words that occur less often in the training questions are unknown."""
    vocabulary_size: Size | None = None
    """Words at most, the special ones included; the rarest are unknown. None sets no limit."""
