"""Examples without end: made when they are asked for, in the process that makes the batch, never written down."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from torch.utils.data import Dataset

from zoo.data.bucketing import Evaluation
from zoo.data.options import LoaderOptions, SampleOptions
from zoo.data.order import Order, small_or_few, too_few
from zoo.data.serving import ServedData
from zoo.errors import ConfigError

Make = Callable[[int, int], Any]
"""The example of a seed and a number: the same wherever and whenever it is made."""


class Made(NamedTuple):
    """Some examples of a stream."""

    examples: list[Any]
    numbers: list[int]
    """Which of their split they are."""


class Stream(Dataset[Made]):
    """The examples of `make` for one seed."""

    def __init__(self, make: Make, seed: int, size: int) -> None:
        """`size` is that of a split; of training, that of an epoch: its stream goes on behind it."""
        self.make, self.seed, self.size = make, seed, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Made:
        return self.__getitems__([index])

    def __getitems__(self, index: list[int]) -> Made:
        return Made([self.make(self.seed, number) for number in index], index)


class Endless(Order):
    """The examples of a stream one after the other: epoch e has those from e * `size` on, so that none comes twice."""

    def __init__(
        self, size: int, *, batch_size: int, seed: int = 0, repeat: bool = False, rank: int = 0, world_size: int = 1
    ) -> None:
        """Up to `batch_size` examples in a batch over all processes, of which each takes every world_size-th; with
        `repeat` every epoch is the first. `seed` is that of the stream, for checkpoints alone."""
        super().__init__(rank=rank, world_size=world_size)
        self.size, self.seed, self.repeat = size, seed, repeat
        self._count = -(-size // batch_size)
        if size // self._count < world_size:
            raise ConfigError(too_few(size, "examples of an epoch", world_size, small_or_few(batch_size, world_size)))

    def __len__(self) -> int:
        return self._count

    def batches(self) -> Iterator[list[int]]:
        first = 0 if self.repeat else self.epoch * self.size
        for step in range(self._count):
            begin, end = (self.size * at // self._count for at in (step, step + 1))
            yield list(range(first + begin + self.rank, first + end, self.world_size))

    def state(self) -> dict[str, Any]:
        return {"examples": self.size, **super().state(), "seed": self.seed}


class StreamData(ServedData[Stream]):
    """Generated examples, in training never the same one twice.

    A family gives the function that makes an example (`generator`), sets `spec` and `encoder` in `setup`, and says how
    a `Made` becomes a batch (`_collate`). Each split is a stream of its own, so that the size of one moves none of the
    others. Validation and test follow from `sample.seed` alone, training from `loader.seed` too: of runs with different
    seeds each sees examples of its own, and all are tested on the same. Nothing is prepared and nothing kept on a disk.
    """

    def __init__(
        self,
        *,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """`sample` gives the sizes of validation, test and of an epoch of training, and the seed of the stream."""
        super().__init__(loader=loader)
        self.sample = SampleOptions.of(sample)
        if self.loader.max_tokens is not None:
            raise ConfigError(
                f"data.loader.max_tokens={self.loader.max_tokens}: the examples of a stream have no length before they "
                "are made; give data.loader.batch_size"
            )

    @abstractmethod
    def generator(self) -> Make:
        """What makes an example of a seed below 2**32 and a number; a function of a module, so that worker processes
        can have it."""

    def part(self, split: str) -> Stream:
        own = {"train": (0, self.loader.seed), "val": (1,), "test": (2,)}[split]
        (seed,) = np.random.SeedSequence((self.sample.seed, *own)).generate_state(1)
        return Stream(self.generator(), int(seed), self.sizes[split])

    def training_order(self, part: Stream) -> Order:
        limits = {"batch_size": self.loader.batch_size, "seed": part.seed, "repeat": self.overfitting}
        return Endless(part.size, **limits, **self.ranks)  # type: ignore[arg-type]

    def evaluation_order(self, part: Stream) -> Order:
        return Evaluation(np.ones(len(part)), batch_size=self.loader.batch_size, **self.ranks, nouns=self.nouns)

    @property
    def sizes(self) -> dict[str, int]:
        return {"train": self.sample.train, "val": self.sample.val, "test": self.sample.test}

    def describe(self) -> dict[str, Any]:
        sizes = self.sizes
        return {
            "name": self.name,
            "source": f"stream: {self.nouns.examples} made without end, {sizes['train']:,} an epoch, seed "
            f"{self.sample.seed}",
            "splits": {split: {self.nouns.examples: size} for split, size in sizes.items()},
            "notes": [],
        }
