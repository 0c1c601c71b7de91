"""From what a user gives to a batch, by the rules of the training data: what every family's encoder is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

from zoo.data.batch import Batch


class Encoder(ABC):
    """Encodes inputs as the training examples were encoded. It travels in every checkpoint, as plain data."""

    @abstractmethod
    def __call__(self, inputs: Sequence[Any]) -> Batch:
        """A batch of these inputs, in order, without what is to be predicted."""

    @abstractmethod
    def display(self, one: Any) -> Any:
        """An input as it is to be shown beside its prediction, such as its words in the places that they have in the
        batch."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from."""
