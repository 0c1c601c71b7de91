"""Orders of captions: a batch has captions of some pictures, or captions of one length.

Both orders number caption n of epoch e as e * N + n, with the N captions of a split, so that a batch shows its epoch
in every process.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zoo.data.order import Nouns, Order, small_or_few, too_few
from zoo.errors import ConfigError

Numbers = NDArray[np.int64]
CAPTIONS = Nouns("captions", "tokens")
PICTURES = Nouns("pictures", "captions")


class PictureOrder(Order):
    """Captions of the pictures in another order: of each picture all, or some that are drawn in each epoch.

    A batch has the first captions of all its pictures, then the second ones, and so on, so that its first rows are of
    different pictures.
    """

    def __init__(
        self, pictures: Order, captions: ArrayLike, *, each: int | None = None, shuffle: bool = True, seed: int = 0
    ) -> None:
        """`captions` (I,) are the numbers of captions of the pictures; those of a picture are consecutive. At most
        `each` captions of a picture are drawn; None: all. Without `shuffle` they are those of epoch 0."""
        super().__init__(rank=pictures.rank, world_size=pictures.world_size)
        self.pictures, self.each, self.shuffle, self.seed = pictures, each, shuffle, seed
        self._count = np.asarray(captions, np.int64)
        self._first = np.cumsum(self._count) - self._count
        self._size = int(self._count.sum())

    def __len__(self) -> int:
        return len(self.pictures)

    def batches(self) -> Iterator[list[int]]:
        self.pictures.set_epoch(self.epoch)
        turn, before = np.arange(self._size), self.epoch * self._size
        if self.each is not None:  # the captions of each picture in the order in which they are drawn
            draw = np.random.default_rng((self.seed, self.epoch if self.shuffle else 0)).random(self._size)
            turn = np.lexsort((draw, np.repeat(np.arange(len(self._count)), self._count)))
        for batch in self.pictures.batches():
            pictures = np.asarray(batch, np.int64)
            count = self._count[pictures] if self.each is None else np.minimum(self._count[pictures], self.each)
            nth = np.arange(count.max(initial=0))[:, None]  # (K, 1) against (I,)
            chosen = (self._first[pictures] + nth)[nth < count]
            yield (before + turn[chosen]).tolist()

    def state(self) -> dict[str, Any]:
        own = {"captions": self._size, "captions_per_image": self.each, "seed": self.seed}
        return {**self.pictures.state(), **own}


class LengthOrder(Order):
    """Batches of captions of one length, each caption once per epoch (Xu et al. 2015, section 4.3).

    The captions of each length are shuffled and cut into batches of about equal size; then all batches are shuffled.
    Everything follows from (seed, epoch). A batch is global: each of `world_size` processes takes every world_size-th
    caption. A length with too few captions for all processes is joined with the next one.
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
    ) -> None:
        """`lengths` (N,) in tokens. A batch holds up to `batch_size` captions or `max_tokens` tokens, over all
        processes. Raises ConfigError if a process would have none in some step."""
        super().__init__(rank=rank, world_size=world_size)
        self.lengths, self.shuffle, self.seed = np.asarray(lengths, np.int64), shuffle, seed
        self._groups = _groups(self.lengths, world_size)
        self._counts, enough = [], 2 * world_size * int(self.lengths.max(initial=1))
        for group in self._groups:
            longest = int(self.lengths[group].max(initial=1))
            most = batch_size if max_tokens is None else max_tokens // longest
            count = -(-len(group) // max(1, most or 1))
            if not most or len(group) // max(1, count) < world_size:
                advice = small_or_few(batch_size or 0, world_size)
                if max_tokens is not None:
                    advice = f"data.loader.max_tokens={max_tokens} is too small; set {enough} or more"
                raise ConfigError(too_few(len(group), f"captions of {longest} tokens", world_size, advice))
            self._counts.append(count)

    def __len__(self) -> int:
        return sum(self._counts)

    def batches(self) -> Iterator[list[int]]:
        before = self.epoch * len(self.lengths)
        return ((before + batch[self.rank :: self.world_size]).tolist() for batch in self.global_batches())

    def global_batches(self) -> list[Numbers]:
        """The batches of the epoch over all processes."""
        draw = np.random.default_rng((self.seed, self.epoch if self.shuffle else 0))
        cut = zip(self._groups, self._counts, strict=True)
        batches = [batch for group, count in cut for batch in np.array_split(draw.permutation(group), count)]
        return [batches[number] for number in draw.permutation(len(batches))]

    def state(self) -> dict[str, Any]:
        size, tokens = len(self.lengths), int(self.lengths.sum())
        return {"captions": size, "tokens": tokens, **super().state(), "batches by": "length", "seed": self.seed}


def _groups(lengths: Numbers, least: int) -> list[Numbers]:
    """The captions of each length, shortest first. A length with fewer than `least` is joined with the next longer one,
    the last with the next shorter one."""
    order = np.argsort(lengths, kind="stable")
    found: list[Numbers] = []
    for group in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        if found and len(found[-1]) < least:
            found[-1] = np.concatenate([found[-1], group])
        else:
            found.append(group)
    if len(found) > 1 and len(found[-1]) < least:
        last = found.pop()
        found[-1] = np.concatenate([found[-1], last])
    return found
