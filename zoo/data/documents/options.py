"""The keys that define how documents become words, and how documents of your own are split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from zoo.arguments import Count
from zoo.data.options import Part, SplitOptions
from zoo.data.text.options import SentenceOptions

Table = Annotated[str, Field(pattern=r"\S", description="the path of a table")]
Pattern = Annotated[str, Field(pattern=r"\S", description="a pattern of file names")]


@dataclass(frozen=True)
class DocumentTextOptions(SentenceOptions):
    """How a document becomes sentences of words, and the words ids."""

    minimum_frequency: Count | None = 5  # type: ignore[assignment]
    """None is 5, and 2 in fewer than 1,000 training documents."""


@dataclass(frozen=True)
class OwnSplitOptions(SplitOptions):
    """Shares for documents of your own. `val` and `test` may also be the path of a second table or, for class folders,
    a pattern of file names, such as `cv9*`."""

    val: Part | Table | Pattern = 0.1  # type: ignore[assignment]
    test: Part | Table | Pattern = 0.1  # type: ignore[assignment]

    def advice(self, missing: Sequence[str], noun: str) -> str:
        file = "a file of its own (of class folders: a pattern of file names)"
        return f"give {file} as data.split.{missing[-1]}, or more {noun}"
