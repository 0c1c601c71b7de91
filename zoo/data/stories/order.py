"""Batches as the paper on memory networks draws them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zoo.data.order import EXAMPLES, Nouns, Order, small_or_few, too_few
from zoo.errors import ConfigError


class Replaced(Order):
    """Each batch is a draw from all examples, whatever was drawn before (Sukhbaatar et al. 2015, the authors' code).

    An epoch has as many whole batches as there are examples for: in one an example may come twice and another not at
    all. Everything follows from (seed, epoch); of a global batch each process takes every world_size-th example.
    """

    def __init__(
        self,
        size: int,
        *,
        batch_size: int,
        shuffle: bool = True,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        nouns: Nouns = EXAMPLES,
    ) -> None:
        """Batches of `batch_size` out of `size` examples, over all processes, or of all where they are fewer. Without
        `shuffle` every epoch is the first. Raises ConfigError, by the data's `nouns`, where a process would have none
        in some step."""
        super().__init__(rank=rank, world_size=world_size)
        self.size, self.seed, self.shuffle, self.nouns = size, seed, shuffle, nouns
        self._batch = min(batch_size, size)
        if self._batch < world_size:
            raise ConfigError(too_few(size, nouns.examples, world_size, small_or_few(batch_size, world_size)))
        self._count = size // self._batch

    def __len__(self) -> int:
        return self._count

    def batches(self) -> Iterator[list[int]]:
        draw = np.random.default_rng((self.seed, self.epoch if self.shuffle else 0))
        drawn = draw.integers(self.size, size=(self._count, self._batch))
        return iter(drawn[:, self.rank :: self.world_size].tolist())

    def state(self) -> dict[str, Any]:
        return {self.nouns.examples: self.size, **super().state(), "drawn": "with replacement", "seed": self.seed}
