"""The keys of stories: how their sentences become words, and which questions validate and test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Le
from pydantic import Field

from zoo.arguments import Count, Natural
from zoo.data.options import Options, Part, SplitOptions
from zoo.data.stories.words import Tokenizer

Task = Annotated[int, Ge(1), Le(20)]
Tasks = Task | Annotated[list[Task], Field(min_length=1)] | Literal["all"]
"""Of the twenty: one, some, or `all` of them jointly."""
FileName = Annotated[str, Field(pattern=r"\S", description="a file of stories")]


@dataclass(frozen=True)
class StoryTextOptions(Options):
    """How a story becomes sentences of words, and the words ids. Case and punctuation are dropped."""

    group: ClassVar[str] = "text"

    tokenizer: Tokenizer = "whitespace"
    """`whitespace`: words are separated by blanks; `characters`: each letter is a word, as in Chinese or Thai."""
    max_sentences: Count = 130
    """Statements before a question that are kept, the newest."""
    max_words: Count = 50
    """Words of a sentence that are kept, from its beginning."""
    minimum_frequency: Count = 1
    """Words that occur less often in the training stories are unknown; answers are kept."""


@dataclass(frozen=True)
class HoldOutOptions(Options):
    """Which training questions validate where no files are there to do so."""

    group: ClassVar[str] = "split"

    val: Part = 0.1
    """The last of a task's training questions; of several tasks a draw from all of them."""
    seed: Natural = 1
    """The seed of that draw. It is apart from the seed of a run, so that runs with different seeds are validated on the
    same questions."""

    def advice(self, missing: Sequence[str], noun: str) -> str:
        """What to try where there are too few training questions."""
        return f"give more {noun}, or a smaller share as data.split.val"


@dataclass(frozen=True)
class OwnStorySplitOptions(SplitOptions):
    """Shares for stories of your own, of which all questions stand in one split; `val` and `test` may also be the path
    of a second file."""

    val: Part | FileName = 0.1  # type: ignore[assignment]
    test: Part | FileName = 0.1  # type: ignore[assignment]

    def advice(self, missing: Sequence[str], noun: str) -> str:
        return f"give a file of its own as data.split.{missing[-1]}, or more {noun}"

    def named(self) -> dict[str, str]:
        """The splits that are given by a path."""
        return {key: value for key in ("val", "test") if isinstance(value := getattr(self, key), str)}
