"""The facts about cloze questions that a network is built from."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class ClozeSpec(Spec):
    """Documents of words, a sentence with a blank, and candidates for the blank that are in the document."""

    vocabulary_size: int
    """Rows of the word embedding: padding, unknown words, the blank, and the words of training."""
    blank: int
    """The id of the blank in a query."""
    padding: int = 0
    unknown: int = 1
