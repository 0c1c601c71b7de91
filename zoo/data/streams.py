"""Endless examples: generated in the process that makes the batch, when they are needed, and never stored."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np
from torch.utils.data import Dataset

from zoo.data.bucketing import Evaluation
from zoo.data.options import LoaderArguments, SampleOptions
from zoo.data.order import Order, small_or_few, too_few
from zoo.data.serving import ServedData
from zoo.errors import ConfigError

Make = Callable[[int, int], Any]
"""A function of a seed and an example number. It always returns the same example for them."""


class Made(NamedTuple):
    """Generated examples of a stream."""

    examples: list[Any]
    numbers: list[int]
    """The numbers of the examples in their split."""


class Stream(Dataset[Made]):
    """The examples of `make` for one seed."""

    def __init__(self, make: Make, seed: int, size: int) -> None:
        """`size` is the size of a split. For training it is the size of an epoch, and the stream continues after it."""
        self.make, self.seed, self.size = make, seed, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Made:
        return self.__getitems__([index])

    def __getitems__(self, index: list[int]) -> Made:
        return Made([self.make(self.seed, number) for number in index], index)


class Endless(Order):
    """The examples of a stream by their numbers: epoch e starts at number e * `size`, so that none is repeated."""

    def __init__(
        self, size: int, *, batch_size: int, seed: int = 0, repeat: bool = False, rank: int = 0, world_size: int = 1
    ) -> None:
        """Order examples in batches of up to `batch_size` over all processes; each process takes every world_size-th
        example of a batch. With `repeat` every epoch is the first. `seed` is the stream's, only for checkpoints."""
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


class StreamArguments(LoaderArguments, total=False):
    """The arguments of every stream."""

    sample: Mapping[str, Any] | SampleOptions | None


class StreamData(ServedData[Stream]):
    """Generated examples, which are never repeated in training.

    A family defines the function that makes an example (`generator`) and the one that makes a batch (`_collate`), and
    sets `spec` and `encoder` in `setup`. Each split is a stream of its own: its size does not change the others.
    Validation and test depend on `sample.seed` only, training also on `loader.seed`: runs with different seeds are
    trained on different examples and tested on the same ones.
    """

    def __init__(
        self,
        *,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[LoaderArguments],
    ) -> None:
        """`sample` holds the sizes of the validation, the test and an epoch of training, and the seed of the stream."""
        super().__init__(**rest)
        self.sample = SampleOptions.of(sample)
        if self.loader.max_tokens is not None:
            raise ConfigError(
                f"data.loader.max_tokens={self.loader.max_tokens}: the examples of a stream have no length before they "
                "are made; remove it and set data.loader.batch_size"
            )

    @abstractmethod
    def generator(self) -> Make:
        """The function that makes the example of a seed below 2**32 and a number. Worker processes receive it by its
        name, so that it must be a function of a module."""

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
