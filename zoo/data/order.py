"""Orders of examples: which of them share a batch, and in which sequence the batches come.

A family chooses its orders by `training_order` and `evaluation_order` of its data module, or by `continues` where its
examples are a stream.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch.utils.data import DataLoader, Dataset, Sampler

from zoo.errors import ConfigError, DataError


class Nouns(NamedTuple):
    """Names of the examples of a data set and of their parts, in the plural."""

    examples: str
    parts: str


EXAMPLES = Nouns("examples", "tokens")
FIRST_ORDER = {"pool": 50}
"""Values for old checkpoints, from before the user could choose between drawn and sorted batches."""
POOL = FIRST_ORDER["pool"]
"""Number of batches whose examples are sorted by length together, before they are cut into batches."""


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


class ByLength(Order):
    """Batches of up to `batch_size` examples or `max_tokens` words, over all processes.

    `lengths` (N,) are in words. For pairs they are (N, 2), source and target, and `max_tokens` limits the sum of both.
    """

    def __init__(
        self,
        lengths: ArrayLike,
        *,
        batch_size: int | None = None,
        max_tokens: int | None = None,
        nouns: Nouns = EXAMPLES,
        **place: int,
    ) -> None:
        """`place` is the rank, the world size and the position, as in `Order`."""
        super().__init__(**place)
        if (batch_size is None) == (max_tokens is None):
            raise ValueError("a batch is limited by batch_size (examples) or by max_tokens (words); set one of them")
        given = np.maximum(np.asarray(lengths, np.int64), 1)  # an empty side counts as one word
        self.sides = given.reshape(len(given), -1) if given.size else given.reshape(0, 1)
        """(N, sides)"""
        self.lengths = self.sides.sum(1)
        self.batch_size, self.max_tokens, self.nouns = batch_size, max_tokens, nouns


class Bucketed(ByLength):
    """Batches for training, of examples of similar length, and yet drawn anew in each epoch.

    An epoch is a shuffle of all examples, dealt out into pools of `pool` batches each. A pool is sorted by length and
    cut into its batches; then the batches of all pools are shuffled. If a pool is one batch, sorting has no effect: the
    batch is a draw from all examples. Everything follows from (seed, epoch).

    Batches are global: each of `world_size` processes takes every world_size-th example of a batch, so that a step has
    the same examples for any number of processes. Every epoch has the same number of batches on every process. No batch
    is empty, and each example is in exactly one.
    """

    def __init__(
        self, lengths: ArrayLike, *, shuffle: bool = True, seed: int = 0, pool: int = POOL, **options: Any
    ) -> None:
        """Without `shuffle` every epoch has the batches and the order of epoch 0; `options` as in `ByLength`. Raises
        ConfigError where a process would have no example in some step."""
        super().__init__(lengths, **options)
        self.pool, self.shuffle, self.seed = pool, shuffle, seed
        self._count = self._count_batches()

    def __len__(self) -> int:
        return self._count

    def batches(self) -> Iterator[list[int]]:
        return (batch[self.rank :: self.world_size].tolist() for batch in self.global_batches())

    def state(self) -> dict[str, Any]:
        return {
            self.nouns.examples: len(self.lengths),
            self.nouns.parts: int(self.lengths.sum()),
            **super().state(),
            "pool": self.pool,
            "seed": self.seed,
        }

    def global_batches(self) -> list[NDArray[np.int64]]:
        """The batches of the epoch over all processes."""
        draw = np.random.default_rng((self.seed, self.epoch if self.shuffle else 0))
        pools = np.array_split(draw.permutation(len(self.lengths)), max(1, round(self._count / self.pool)))
        runs = [pool[by_length(self.sides[pool])] for pool in pools]
        # Sort pools up and down alternately, so that a batch across two pools has examples of similar length.
        order = np.concatenate([run[:: 1 - 2 * (number % 2)] for number, run in enumerate(runs)])
        if self.max_tokens is not None:
            lengths = self.lengths[order]
            batch = (lengths.cumsum() - lengths) * self._count // lengths.sum()  # equal numbers of words
            batches = np.split(order, np.flatnonzero(np.diff(batch)) + 1)
        else:
            batches = np.array_split(order, self._count)
        return [batches[number] for number in draw.permutation(self._count)]

    def _count_batches(self) -> int:
        batch_size, max_tokens = self.batch_size, self.max_tokens
        examples, words, longest = len(self.lengths), int(self.lengths.sum()), int(self.lengths.max(initial=1))
        least = self.world_size
        if batch_size is not None:
            count = -(-examples // batch_size)
            enough = examples // max(1, count) >= least
            advice = small_or_few(batch_size, least)
        else:
            assert max_tokens is not None
            # An example belongs to the batch in which its first word falls, so a batch may exceed its share of words.
            count = -(-words // max(1, max_tokens - longest + 1))
            enough = max_tokens >= longest and (
                words // max(1, count) >= least * longest or (count == 1 and examples >= least)
            )
            longest_is = f"the longest has {longest} {self.nouns.parts}; set {(2 * least + 1) * longest} or more"
            advice = f"data.loader.max_tokens={max_tokens} is too small: {longest_is}"
        if not enough:
            raise ConfigError(too_few(examples, self.nouns.examples, least, advice))
        return count


class EpochOrder(Bucketed):
    """As `Bucketed`. Example n of epoch e is e * N + n, so that a batch shows its epoch in every process."""

    def batches(self) -> Iterator[list[int]]:
        before = self.epoch * len(self.lengths)
        for batch in super().batches():
            yield [before + number for number in batch]


def by_length(sides: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of rows (N, sides) by their last length and, among equals, by the one before."""
    last = sides[:, -1]
    turn = 1 - 2 * (last % 2)  # alternately up and down: the last rows of one length resemble the first of the next
    return np.lexsort((*(side * turn for side in sides[:, :-1].T), last))


class Evaluation(ByLength):
    """Batches for validation, test and prediction: each example once over all processes, none twice, none left out.

    Processes may have different numbers of batches. The limits are those of training, over all processes. Raises
    DataError where there are fewer examples than processes.
    """

    def __init__(self, lengths: ArrayLike, **options: Any) -> None:
        super().__init__(lengths, **options)
        if len(self.lengths) < self.world_size:
            raise DataError(
                f"{len(self.lengths)} {self.nouns.examples} cannot be shared by {self.world_size} processes: "
                "use fewer processes or a larger split"
            )
        own = by_length(self.sides)[self.rank :: self.world_size]
        if self.max_tokens is not None:
            cuts, words = [], 0
            for number, length in enumerate(self.lengths[own].tolist()):
                words += length
                if words > self.max_tokens // self.world_size and number:
                    cuts.append(number)
                    words = length
        else:
            assert self.batch_size is not None
            cuts = list(range(0, len(own), max(1, self.batch_size // self.world_size)))[1:]
        batches = np.split(own, cuts)
        # Long and short mixed, so that the first few batches (a sanity check, a table of predictions) show both.
        self._batches = [batches[number].tolist() for number in np.random.default_rng(0).permutation(len(batches))]

    def __len__(self) -> int:
        return len(self._batches)

    def batches(self) -> Iterator[list[int]]:
        return iter(self._batches)


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
        self, dataset: Dataset[Any], *, batch_sampler: Order, batches_done: Callable[[], int], **rest: Any
    ) -> None:
        """`batches_done` returns how many batches of the current epoch are done; all else is as in DataLoader."""
        workers = rest.get("num_workers", 0) > 0
        super().__init__(dataset, batch_sampler=batch_sampler, persistent_workers=workers, **rest)
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
