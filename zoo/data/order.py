"""Orders of examples: which of them share a batch, and in which sequence the batches come.

A family chooses its orders by `training_order` and `evaluation_order` of its data module, or by `continues` where its
examples are a stream. `bucketing.py` has the orders by length.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from zoo.errors import ConfigError, DataError


class Nouns(NamedTuple):
    """Names of the examples of a data set and of their parts, in the plural."""

    examples: str
    parts: str


EXAMPLES = Nouns("examples", "tokens")


class Order(Sampler[list[int]], ABC):
    """The batches of one process, epoch by epoch.

    The batches of an epoch over all `world_size` processes depend only on the arguments and on `epoch`; this object
    gives the share of process `rank`. Iterating gives the batches of `epoch` from `start` on, as example numbers.
    """

    def __init__(self, *, rank: int = 0, world_size: int = 1, epoch: int = 0, start: int = 0) -> None:
        self.rank, self.world_size, self.epoch, self.start = rank, world_size, epoch, start
        self.sampler = self  # Lightning calls set_epoch on `batch_sampler.sampler` alone

    @abstractmethod
    def __len__(self) -> int:
        """Batches of a whole epoch, including those before `start`: Lightning counts on from them after a resume."""

    @abstractmethod
    def batches(self) -> Iterator[list[int]]:
        """The batches of this process in a whole epoch. In training all processes have the same number of batches, and
        no batch is empty."""

    def state(self) -> dict[str, Any]:
        """The facts that the batches of an epoch depend on, by the names that messages use."""
        return {"batches": len(self)}

    def set_epoch(self, epoch: int) -> None:
        """Move to another epoch, and to its beginning."""
        if epoch != self.epoch:
            self.epoch, self.start = epoch, 0

    def __iter__(self) -> Iterator[list[int]]:
        return islice(self.batches(), self.start, None)


class InOrder(Order):
    """A stream in columns: row b of each batch continues row b of the batch before.

    The examples are cut into columns of T consecutive ones, and batch t holds example t of each column. The last column
    may be shorter: the later batches then lack their last row. Every epoch is the same. A batch is the same for any
    number of processes. Each process takes every world_size-th column.
    """

    def __init__(
        self, size: int, *, batch_size: int, rank: int = 0, world_size: int = 1, nouns: Nouns = EXAMPLES
    ) -> None:
        """Order `size` examples in at most `batch_size` columns over all processes. Raises ConfigError, with the data's
        `nouns`, where a process would have no row in some batch."""
        super().__init__(rank=rank, world_size=world_size)
        self.size = size
        self._count = -(-size // batch_size)
        if not self._count or size // self._count < world_size:
            raise ConfigError(too_few(size, nouns.examples, world_size, small_or_few(batch_size, world_size)))

    def __len__(self) -> int:
        return self._count

    def batches(self) -> Iterator[list[int]]:
        for step in range(self._count):
            yield list(range(step + self.rank * self._count, self.size, self._count * self.world_size))

    def state(self) -> dict[str, Any]:
        return {"examples": self.size, **super().state()}


def too_few(count: int, noun: str, world_size: int, advice: str) -> str:
    """Error message for an order in which some process would have no example in some step."""
    return f"{count} {noun} cannot give each of {world_size} processes one in every step; {advice}"


def small_or_few(batch_size: int, world_size: int) -> str:
    """The reason why a batch of `batch_size` examples cannot be shared: too small a batch, or too few examples."""
    small = f"data.loader.batch_size={batch_size} is too small"
    return small if batch_size < 2 * world_size else "there are too few"


class TrainingLoader(DataLoader[Any]):
    """A DataLoader that starts an epoch with its first request, at the batch that the trainer has reached.

    Lightning makes the iterator before it sets the epoch, and worker processes fetch at once: after a resume they would
    fetch the batches of epoch 0. Lightning also continues to count the batches of a resumed epoch, but leaves it to the
    loader to skip those that are done.
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
        """`batches_done` returns how many batches of the current epoch are done; all else is as in DataLoader."""
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
                f"the checkpoint was written within an epoch of other data or batches ({', '.join(differing)}): "
                "continue with the same ones, or from a checkpoint at the end of an epoch"
            )
        self._resumed = {}
        yield from super().__iter__()

    def state_dict(self) -> dict[str, Any]:
        """The facts that an epoch depends on, for a checkpoint. Lightning itself stores the position in the epoch."""
        return self._order.state()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Note the facts of a checkpoint: within an epoch, the order has to be the same."""
        self._resumed = dict(state)


FIRST_ORDER = {"pool": 50}
"""Values for checkpoints that were written before drawn and sorted batches could be chosen."""
