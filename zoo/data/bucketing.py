"""Which examples share a batch: drawn anew each epoch, of similar length or any, the same on any number of ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch.utils.data import DataLoader, Dataset, Sampler

from zoo.errors import ConfigError, DataError

POOL = 50
"""So many batches of examples are sorted by length together before they are cut into batches."""


class Nouns(NamedTuple):
    """What examples and their parts are called."""

    examples: str
    parts: str


EXAMPLES = Nouns("examples", "tokens")


class BucketBatchSampler(Sampler[list[int]]):
    """Batches for training.

    An epoch is a shuffle of all examples, cut into pools; each pool is sorted by length and cut into batches, whose
    order is shuffled. All of it follows from (seed, epoch). A batch is global: of its examples each of `world_size`
    processes takes every world_size-th, so that a step sees the same examples whatever their number. Every epoch has
    the same number of batches, on every process, none of them empty, each example in exactly one.
    """

    def __init__(
        self,
        lengths: ArrayLike,
        *,
        batch_size: int | None = None,
        max_tokens: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        epoch: int = 0,
        start: int = 0,
        pool: int = POOL,
        nouns: Nouns = EXAMPLES,
    ) -> None:
        """Batches hold up to `batch_size` examples or `max_tokens` words, over all processes and about equally many in
        each. `lengths` (N,) are in words; (N, 2) for pairs, source and target, of which batches hold `max_tokens` words
        together. So many as `pool` are sorted by length together: with 1 and `batch_size` each is a draw from all.

        Without `shuffle` every epoch has the batches and the order of epoch 0. The first `start` batches of `epoch` are
        left out, of that epoch only. Raises ConfigError where a process would have no example in some step.
        """
        self._sides = _sides(lengths)
        self.lengths = self._sides.sum(1)
        self.pool, self.nouns = pool, nouns
        self.shuffle, self.seed, self.rank, self.world_size = shuffle, seed, rank, world_size
        self.epoch, self.start = epoch, start
        self.sampler = self  # Lightning calls set_epoch on `batch_sampler.sampler` alone
        self._by_tokens = _by_tokens(batch_size, max_tokens)
        self._count = self._count_batches(batch_size, max_tokens)

    def __len__(self) -> int:
        """Batches of a whole epoch, those before `start` too: after a resume Lightning counts on from those."""
        return self._count

    def set_epoch(self, epoch: int) -> None:
        """Draw the batches of another epoch; a `start` belongs to the epoch it was given for."""
        if epoch != self.epoch:
            self.epoch, self.start = epoch, 0

    def __iter__(self) -> Iterator[list[int]]:
        for batch in self.global_batches()[self.start :]:
            yield batch[self.rank :: self.world_size].tolist()

    def global_batches(self) -> list[NDArray[np.int64]]:
        """The batches of the epoch over all processes, those before `start` included."""
        draw = np.random.default_rng((self.seed, self.epoch if self.shuffle else 0))
        pools = np.array_split(draw.permutation(len(self.lengths)), max(1, round(self._count / self.pool)))
        runs = [pool[by_length(self._sides[pool])] for pool in pools]
        # Up and down by turns: a batch that takes from two pools takes examples of similar length.
        order = np.concatenate([run[:: 1 - 2 * (number % 2)] for number, run in enumerate(runs)])
        if self._by_tokens:
            lengths = self.lengths[order]
            batch = (lengths.cumsum() - lengths) * self._count // lengths.sum()  # equal numbers of words
            batches = np.split(order, np.flatnonzero(np.diff(batch)) + 1)
        else:
            batches = np.array_split(order, self._count)
        return [batches[number] for number in draw.permutation(self._count)]

    def _count_batches(self, batch_size: int | None, max_tokens: int | None) -> int:
        examples, words, longest = len(self.lengths), int(self.lengths.sum()), int(self.lengths.max(initial=1))
        least = self.world_size
        if batch_size is not None:
            count = -(-examples // batch_size)
            enough = examples // max(1, count) >= least
            advice = f"data.batch_size={batch_size} is too small" if batch_size < 2 * least else "there are too few"
        else:
            assert max_tokens is not None
            # A batch ends with the example that begins before its last word, and may exceed its share by that one.
            count = -(-words // max(1, max_tokens - longest + 1))
            enough = max_tokens >= longest and (
                words // max(1, count) >= least * longest or (count == 1 and examples >= least)
            )
            sizes = f"the longest has {longest} {self.nouns.parts}, {(2 * least + 1) * longest} will do"
            advice = f"data.max_tokens={max_tokens} is too small: {sizes}"
        if not enough:
            raise ConfigError(
                f"{examples} training {self.nouns.examples} cannot give each of {least} processes one in every step; "
                f"{advice}"
            )
        return count


def _sides(lengths: ArrayLike) -> NDArray[np.int64]:
    """(N, sides) numbers of words from (N,) or (N, sides); an empty side counts as one word."""
    given = np.maximum(np.asarray(lengths, np.int64), 1)
    return given.reshape(len(given), -1) if given.size else given.reshape(0, 1)


def by_length(sides: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of rows (N, sides) by their last length and, among equals, by the one before."""
    last = sides[:, -1]
    turn = 1 - 2 * (last % 2)  # up and down by turns: the last rows of one length and the first of the next are alike
    return np.lexsort((*(side * turn for side in sides[:, :-1].T), last))


def _by_tokens(batch_size: int | None, max_tokens: int | None) -> bool:
    for key, value in (("batch_size", batch_size), ("max_tokens", max_tokens)):
        if value is not None and (type(value) is not int or value < 1):
            raise ConfigError(f"data.{key}={value!r}: a whole number from 1 on is expected")
    if (batch_size is None) == (max_tokens is None):
        raise ConfigError(
            "a batch is limited by data.batch_size (examples) or by data.max_tokens (words); set one of them"
        )
    return max_tokens is not None


class EvaluationBatchSampler(Sampler[list[int]]):
    """Batches for validation, test and prediction: each example once over all processes, none twice, none left out.

    Processes may have different numbers of batches. The limits are those of training, over all processes.
    """

    def __init__(
        self,
        lengths: ArrayLike,
        *,
        batch_size: int | None = None,
        max_tokens: int | None = None,
        rank: int = 0,
        world_size: int = 1,
        nouns: Nouns = EXAMPLES,
    ) -> None:
        """`lengths` (N,) or (N, 2) in words. Raises DataError where there are fewer examples than processes."""
        every = _sides(lengths)
        if len(every) < world_size:
            raise DataError(
                f"{len(every)} {nouns.examples} cannot be shared by {world_size} processes: "
                "take fewer or a larger split"
            )
        own = by_length(every)[rank::world_size]
        if _by_tokens(batch_size, max_tokens):
            assert max_tokens is not None
            cuts, words = [], 0
            for number, length in enumerate(every[own].sum(1).tolist()):
                words += length
                if words > max_tokens // world_size and number:
                    cuts.append(number)
                    words = length
        else:
            assert batch_size is not None
            cuts = list(range(0, len(own), max(1, batch_size // world_size)))[1:]
        batches = np.split(own, cuts)
        # Long and short mixed, so that the first few batches (a sanity check, a table of predictions) show both.
        self._batches = [batches[number].tolist() for number in np.random.default_rng(0).permutation(len(batches))]

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[list[int]]:
        yield from self._batches


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
        batch_sampler: BucketBatchSampler,
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
        old, new = {"pool": POOL} | self._resumed, self.state_dict()  # there once was but one size of a pool
        if self._order.start and self._resumed and old != new:
            differing = [f"{key} {old.get(key)} -> {new.get(key)}" for key in old | new if old.get(key) != new.get(key)]
            raise DataError(
                f"the checkpoint stands in the middle of an epoch of other data or batches ({', '.join(differing)}): "
                "continue with the same ones, or from a checkpoint at the end of an epoch"
            )
        self._resumed = {}
        yield from super().__iter__()

    def state_dict(self) -> dict[str, Any]:
        """What the order of an epoch depends on, for a checkpoint; the place in it Lightning counts itself."""
        order = self._order
        return {
            order.nouns.examples: len(order.lengths),
            order.nouns.parts: int(order.lengths.sum()),
            "batches": len(order),
            "pool": order.pool,
            "seed": order.seed,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Check, before going on inside an epoch, that its order is the one of the checkpoint."""
        self._resumed = dict(state)
