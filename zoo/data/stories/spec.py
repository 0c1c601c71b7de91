"""What stories with questions are: the facts that a network for them is built from."""

from __future__ import annotations

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class StorySpec(Spec):
    """Stories of sentences of words, a question about each, and an answer that is one entry of the vocabulary."""

    vocabulary_size: int
    """Rows of the word embedding: padding and unknown words, the words of stories and questions, and the answers, of
    which a list with commas is one."""
    longest_sentence: int
    """Words of the longest sentence or question of training: what position encodings are scaled by."""
    tasks: tuple[str, ...]
    """Names of the tasks that the questions are of, by number."""
    padding: int = 0
    unknown: int = 1
