"""Which examples share a batch, and in which turn: what every order of examples is, and two plain ones.

A family chooses by `training_order` and `evaluation_order` of its data module. `bucketing.py` has those by length.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch.utils.data import DataLoader, Dataset, Sampler

from zoo.errors import ConfigError, DataError


class Nouns(NamedTuple):
    """What examples and their parts are called."""

    examples: str
    parts: str


EXAMPLES = Nouns("examples", "tokens")


class Order(Sampler[list[int]], ABC):
    """The batches of one process, epoch by epoch.

    What an epoch is over all `world_size` processes follows from the order's arguments and `epoch` alone; of it this is
    the part of process `rank`. Iterating gives the batches of `epoch` from `start` on, as numbers of examples.
    """

    def __init__(self, *, rank: int = 0, world_size: int = 1, epoch: int = 0, start: int = 0) -> None:
        self.rank, self.world_size, self.epoch, self.start = rank, world_size, epoch, start
        self.sampler = self  # Lightning calls set_epoch on `batch_sampler.sampler` alone

    @abstractmethod
    def __len__(self) -> int:
        """Batches of a whole epoch, those before `start` too: after a resume Lightning counts on from those."""

    @abstractmethod
    def batches(self) -> Iterator[list[int]]:
        """This process's batches of a whole epoch. In training all processes have equally many, none of them empty."""

    def state(self) -> dict[str, Any]:
        """What the batches of an epoch depend on, by the names that a message gives them."""
        return {"batches": len(self)}

    def set_epoch(self, epoch: int) -> None:
        """Give the batches of another epoch; a `start` belongs to the epoch it was given for."""
        if epoch != self.epoch:
            self.epoch, self.start = epoch, 0

    def __iter__(self) -> Iterator[list[int]]:
        return islice(self.batches(), self.start, None)


class InOrder(Order):
    """A stream as it stands: each process reads a part of its own from its beginning to its end, in every epoch."""

    def __init__(
        self, size: int, *, batch_size: int, rank: int = 0, world_size: int = 1, nouns: Nouns = EXAMPLES
    ) -> None:
        """`size` examples, up to `batch_size` in a batch over all processes. Raises ConfigError, by the data's `nouns`,
        where a process would have none in some step."""
        super().__init__(rank=rank, world_size=world_size)
        self.size = size
        longest, share = -(-size // world_size), max(1, batch_size // world_size)
        self._count = -(-longest // share)
        if batch_size < world_size or not 0 < self._count <= size // world_size:
            raise ConfigError(too_few(size, nouns.examples, world_size, small_or_few(batch_size, world_size)))

    def __len__(self) -> int:
        return self._count

    def batches(self) -> Iterator[list[int]]:
        own = np.array_split(np.arange(self.size), self.world_size)[self.rank]
        return (batch.tolist() for batch in np.array_split(own, self._count))

    def state(self) -> dict[str, Any]:
        return {"examples": self.size, **super().state(), "processes": self.world_size}


class Grouped(Order):
    """Examples of one group (the questions on a text, the captions of a picture) always share a batch.

    An epoch is a shuffle of the groups, cut into batches of about equally many examples, or, where that makes fewer of
    them, of equally many groups.
    """

    def __init__(
        self,
        groups: ArrayLike,
        *,
        batch_size: int,
        shuffle: bool = True,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        nouns: Nouns = EXAMPLES,
    ) -> None:
        """`groups` (N,) is the group of each example; up to `batch_size` of them in a batch over all processes. Without
        `shuffle` the groups keep the order of their names. Raises ConfigError, by the data's `nouns`, where a group
        does not fit into one process's share of a batch, or a process would have none."""
        super().__init__(rank=rank, world_size=world_size)
        _, number, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
        self._members = np.split(np.argsort(number, kind="stable"), np.cumsum(sizes)[:-1])
        self.shuffle, self.seed = shuffle, seed
        largest, share = int(sizes.max(initial=1)), batch_size // world_size
        if share < largest:
            raise ConfigError(
                f"data.loader.batch_size={batch_size} is too small for {world_size} processes: the largest group has "
                f"{largest} {nouns.examples}, {largest * world_size} will do"
            )
        self._count, self._by_examples = -(-len(sizes) // (world_size * (share // largest))), False
        if share > largest:
            # a part is cut where the middle of a group falls, so that it holds at most a whole one more than is meant
            count = -(-len(number) // (world_size * (share - largest)))
            if count < self._count and len(number) >= count * world_size * largest:  # else one might be empty
                self._count, self._by_examples = count, True
        if not 0 < self._count * world_size <= len(sizes):
            raise ConfigError(too_few(len(sizes), "groups", world_size, small_or_few(batch_size, world_size * largest)))

    def __len__(self) -> int:
        return self._count

    def batches(self) -> Iterator[list[int]]:
        groups = np.arange(len(self._members))
        if self.shuffle:
            groups = np.random.default_rng((self.seed, self.epoch)).permutation(groups)
        if self._by_examples:
            sizes = np.array([len(self._members[group]) for group in groups])
            part = (2 * sizes.cumsum() - sizes) * self._count * self.world_size // (2 * sizes.sum())
            own = (groups[part == step * self.world_size + self.rank] for step in range(self._count))
        else:
            own = (batch[self.rank :: self.world_size] for batch in np.array_split(groups, self._count))
        for batch in own:
            yield np.concatenate([self._members[group] for group in batch]).tolist()

    def state(self) -> dict[str, Any]:
        sizes = {"examples": sum(map(len, self._members)), "groups": len(self._members)}
        return {**sizes, **super().state(), "seed": self.seed}


def too_few(count: int, noun: str, world_size: int, advice: str) -> str:
    """What to say where some process would have nothing in some step."""
    return f"{count} {noun} cannot give each of {world_size} processes one in every step; {advice}"


def small_or_few(batch_size: int, world_size: int) -> str:
    """What is wrong where a batch of `batch_size` cannot be shared."""
    small = f"data.loader.batch_size={batch_size} is too small"
    return small if batch_size < 2 * world_size else "there are too few"


class TrainingLoader(DataLoader[Any]):
    """A DataLoader that begins an epoch only with its first batch, and there where the trainer stands in it.

    Lightning makes its iterator before it tells the epoch, and workers fetch at once: after a resume they would fetch
    the order of epoch 0. And it counts the batches of a resumed epoch on from the checkpoint, but leaves skipping them
    to the loader.
    """

    def __init__(
        self,
        dataset: Dataset[Any],
        *,
        batch_sampler: Order,
        batches_done: Callable[[], int],
        collate_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        """`batches_done` gives the batches of the current epoch that lie behind; the others are as in DataLoader."""
        super().__init__(
            dataset,
            batch_sampler=batch_sampler,
            collate_fn=collate_fn,
            num_workers=num_workers,
            persistent_workers=num_workers > 0,
            pin_memory=pin_memory,
            generator=generator,
        )
        self._order = batch_sampler
        self._batches_done = batches_done
        self._resumed: dict[str, Any] = {}

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        self._order.start = self._batches_done()
        old, new = FIRST_ORDER | self._resumed, self.state_dict()
        differing = [f"{key} {old.get(key)} -> {new.get(key)}" for key in new if old.get(key) != new[key]]
        if self._order.start and self._resumed and differing:
            raise DataError(
                f"the checkpoint stands in the middle of an epoch of other data or batches ({', '.join(differing)}): "
                "continue with the same ones, or from a checkpoint at the end of an epoch"
            )
        self._resumed = {}
        yield from super().__iter__()

    def state_dict(self) -> dict[str, Any]:
        """What an epoch depends on, for a checkpoint; the place in it Lightning counts itself."""
        return self._order.state()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Check, before going on inside an epoch, that its order is the one of the checkpoint."""
        self._resumed = dict(state)


FIRST_ORDER = {"pool": 50}
"""What checkpoints do not say that are older than the choice between drawn and sorted batches."""
