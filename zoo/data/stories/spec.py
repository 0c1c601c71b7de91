"""The facts about stories with questions that a network is built from."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class StorySpec(Spec):
    """Stories of sentences of words, with questions that are answered by one entry of the vocabulary."""

    vocabulary_size: int
    """Rows of the word embedding: padding, unknown words, the words of stories and questions, and the answers. A list
    with commas is one answer."""
    longest_sentence: int
    """Words of the longest training sentence or question, by which position encodings are scaled."""
    tasks: tuple[str, ...]
    """Names of the tasks, by number."""
    padding: int = 0
    unknown: int = 1
