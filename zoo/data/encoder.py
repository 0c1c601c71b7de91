"""The base class of encoders, which turn the input of a user into a batch by the rules of the training data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

from zoo.data.batch import Batch


class Encoder(ABC):
    """Encodes inputs as the training examples were encoded. It is stored in every checkpoint, as plain data."""

    @abstractmethod
    def __call__(self, inputs: Sequence[Any]) -> Batch:
        """A batch of these inputs, in order, without targets."""

    @abstractmethod
    def display(self, one: Any) -> Any:
        """An input as it is shown beside its prediction, such as its words in their positions in the batch."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from."""
