"""The facts about documents that a network is built from."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class DocumentSpec(Spec):
    """Documents of sentences of words, each with one class."""

    vocabulary_size: int
    """Rows of the word embedding, the padding and unknown words included."""
    classes: tuple[str, ...]
    """Names of the classes, in the order of the logits."""
    padding: int = 0
    unknown: int = 1

    @property
    def num_classes(self) -> int:
        return len(self.classes)
