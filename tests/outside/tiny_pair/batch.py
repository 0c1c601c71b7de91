"""Points of a ring, and noise for as many generated ones."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from zoo.data.batch import Batch


@dataclass(frozen=True)
class RingBatch(Batch):
    """B points."""

    unit: ClassVar[str] = "points"

    points: Tensor
    """(B, 2)."""
    noise: Tensor
    """(B, Z) of a standard normal distribution."""
    index: Tensor
    """(B,) number of each point in its split."""

    def __len__(self) -> int:
        return len(self.points)
