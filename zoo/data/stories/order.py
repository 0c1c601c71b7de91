"""Batches as the paper on memory networks draws them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from zoo.data.order import EXAMPLES, Nouns, Order, small_or_few, too_few
from zoo.errors import ConfigError


class WithReplacement(Order):
    """Batches that are independent draws from all examples (Sukhbaatar et al. 2015, the authors' code).

    An epoch has as many whole batches as the examples fill: an example may occur twice in it, or not at all. Everything
    follows from (seed, epoch). Each process takes every world_size-th example of a global batch.
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
        """Batches of `batch_size` out of `size` examples, over all processes, or of all if they are fewer. Without
        `shuffle` every epoch is the first. Raises ConfigError, with the data's `nouns`, if a process would have no
        example in some step."""
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
