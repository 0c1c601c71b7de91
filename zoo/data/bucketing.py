"""Batches for training, of examples of similar length or drawn from all, and batches for evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zoo.data.order import EXAMPLES, FIRST_ORDER, Nouns, Order, small_or_few, too_few
from zoo.errors import ConfigError, DataError

POOL = FIRST_ORDER["pool"]
"""Number of batches whose examples are sorted by length together, before they are cut into batches."""


class Bucketed(Order):
    """Batches for training, of examples of similar length, and yet drawn anew in each epoch.

    An epoch is a shuffle of all examples, dealt out into pools of `pool` batches each. A pool is sorted by length and
    cut into its batches; then the batches of all pools are shuffled. A pool of one batch has nothing to sort: its batch
    is a draw from all examples. Everything follows from (seed, epoch).

    Batches are global: each of `world_size` processes takes every world_size-th example of a batch, so that a step has
    the same examples for any number of processes. Every epoch has the same number of batches on every process. No batch
    is empty, and each example is in exactly one.
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
        each. `lengths` (N,) are in words. For pairs they are (N, 2), source and target, and `max_tokens` limits the
        sum of both.

        Without `shuffle` every epoch has the batches and the order of epoch 0. Raises ConfigError where a process would
        have no example in some step.
        """
        super().__init__(rank=rank, world_size=world_size, epoch=epoch, start=start)
        self._sides = _sides(lengths)
        self.lengths = self._sides.sum(1)
        self.pool, self.nouns, self.shuffle, self.seed = pool, nouns, shuffle, seed
        self._by_tokens = _by_tokens(batch_size, max_tokens)
        self._count = self._count_batches(batch_size, max_tokens)

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
        runs = [pool[by_length(self._sides[pool])] for pool in pools]
        # Alternately up and down: a batch with examples of two pools has examples of similar length.
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
            advice = small_or_few(batch_size, least)
        else:
            assert max_tokens is not None
            # A batch ends with the example that begins before its last word, and may exceed its share by that one.
            count = -(-words // max(1, max_tokens - longest + 1))
            enough = max_tokens >= longest and (
                words // max(1, count) >= least * longest or (count == 1 and examples >= least)
            )
            longest_is = f"the longest has {longest} {self.nouns.parts}, {(2 * least + 1) * longest} will do"
            advice = f"data.loader.max_tokens={max_tokens} is too small: {longest_is}"
        if not enough:
            raise ConfigError(too_few(examples, self.nouns.examples, least, advice))
        return count


def _sides(lengths: ArrayLike) -> NDArray[np.int64]:
    """(N, sides) numbers of words from (N,) or (N, sides); an empty side counts as one word."""
    given = np.maximum(np.asarray(lengths, np.int64), 1)
    return given.reshape(len(given), -1) if given.size else given.reshape(0, 1)


def by_length(sides: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of rows (N, sides) by their last length and, among equals, by the one before."""
    last = sides[:, -1]
    turn = 1 - 2 * (last % 2)  # alternately up and down: the last rows of one length resemble the first of the next
    return np.lexsort((*(side * turn for side in sides[:, :-1].T), last))


def _by_tokens(batch_size: int | None, max_tokens: int | None) -> bool:
    if (batch_size is None) == (max_tokens is None):
        raise ValueError("a batch is limited by batch_size (examples) or by max_tokens (words); give one of them")
    return max_tokens is not None


class Evaluation(Order):
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
        super().__init__(rank=rank, world_size=world_size)
        every = _sides(lengths)
        if len(every) < world_size:
            raise DataError(
                f"{len(every)} {nouns.examples} cannot be shared by {world_size} processes: "
                "take fewer processes or a larger split"
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

    def batches(self) -> Iterator[list[int]]:
        return iter(self._batches)
