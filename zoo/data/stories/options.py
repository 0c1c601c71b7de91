"""The keys of stories: how their sentences become words, and which questions validate and test."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Le
from pydantic import Field

from zoo.arguments import Count, Natural
from zoo.data.options import Options, Part, SplitOptions
from zoo.data.stories.words import SentenceWords, Tokenizer, split_words

Task = Annotated[int, Ge(1), Le(20)]
Tasks = Task | Annotated[list[Task], Field(min_length=1)] | Literal["all"]
"""One, some, or all of the twenty tasks."""
FileName = Annotated[str, Field(pattern=r"\S", description="a file of stories")]


@dataclass(frozen=True)
class StoryTextOptions(Options):
    """How a story becomes sentences of words, and the words ids. Case and punctuation are dropped."""

    group: ClassVar[str] = "text"
    subwords: ClassVar[bool] = False
    treebank: ClassVar[bool] = False
    lower: ClassVar[bool] = True

    tokenizer: Tokenizer = "whitespace"
    """`whitespace`: blanks separate words; `characters`: each letter is a word, as in Chinese or Thai."""
    max_sentences: Count = 130
    """Newest statements before a question that are kept."""
    max_words: Count = 50
    """Words of a sentence that are kept, from its beginning."""
    minimum_frequency: Count = 1
    """Words that occur less often in the training stories are unknown; answers are kept."""

    def cut(self, sentence: str) -> SentenceWords:
        """The words of a sentence that are kept."""
        return split_words(sentence, self.tokenizer).first(self.max_words)


@dataclass(frozen=True)
class HoldOutOptions(Options):
    """The training questions that are used for validation if there are no files for it."""

    group: ClassVar[str] = "split"

    val: Part = 0.1
    """The share or number of questions: the last ones of a single task; a random draw from several tasks."""
    seed: Natural = 1
    """The seed of that draw. It is not the seed of a run, so that runs with different seeds are validated on the same
    questions."""

    def advice(self, missing: Sequence[str], noun: str) -> str:
        """Propose what to do if there are too few training questions."""
        return f"use more {noun}, or set a smaller share as data.split.val"


@dataclass(frozen=True)
class OwnStorySplitOptions(SplitOptions):
    """Shares of your own stories; all questions of a story are in one split. `val` and `test` may also be the path of a
    second file."""

    val: Part | FileName = 0.1  # type: ignore[assignment]
    test: Part | FileName = 0.1  # type: ignore[assignment]

    def advice(self, missing: Sequence[str], noun: str) -> str:
        return f"set a separate file as data.split.{missing[-1]}, or use more {noun}"
