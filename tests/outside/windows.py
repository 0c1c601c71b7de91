"""Windows of random characters, for the contract's clauses."""

import math
from collections import Counter
from dataclasses import replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from tiny_stream.batch import WindowBatch
from tiny_stream.spec import StreamSpec
from torch import Tensor

from tests.families import LONG, Family, precise
from zoo.models.output import Output


class RandomWindows(Family):
    """Windows of random characters, for `language_modelling`."""

    spec = StreamSpec(symbols=6)
    grids: ClassVar[dict[str, str]] = {"read": "mask", "target": "mask"}
    singles = ("index",)
    scribble: ClassVar[dict[str, float]] = {"read": 3}

    def batch(self, seed: int, *, empty: bool = True) -> WindowBatch:
        return self._of_lengths([6, 4, 7, 3, 5, *([0] if empty else [])], seed)

    def long_batch(self) -> WindowBatch:
        return self._of_lengths([LONG, 3], 1)

    def _of_lengths(self, lengths: list[int], seed: int) -> WindowBatch:
        generator = torch.Generator().manual_seed(seed)
        rows = [torch.randint(1, self.spec.symbols, (length,), generator=generator) for length in lengths]
        return WindowBatch.padded([F.pad(row, (1, 0)) for row in rows])

    def made(self, tensors: dict[str, Tensor], like: WindowBatch) -> WindowBatch:
        return replace(like, **tensors)

    def without_targets(self, batch: WindowBatch) -> WindowBatch:
        return replace(batch, target=None)

    def changed(self, batch: WindowBatch, place: int) -> tuple[WindowBatch, Tensor]:
        rows, read = batch.mask.sum(1) > place + 1, batch.read.clone()
        read[rows, place + 1] = 1 + read[rows, place + 1] % (self.spec.symbols - 1)
        return replace(batch, read=read), rows

    def windows(self, batch: WindowBatch, at: int) -> tuple[WindowBatch, WindowBatch]:
        first, second = (
            replace(batch, **{name: getattr(batch, name)[:, places] for name in ("read", "target", "mask")})
            for places in (slice(at), slice(at, None))
        )
        return first, second

    def rows(self, batch: WindowBatch, kind: str, mask: Tensor) -> Tensor:
        raise AssertionError("nothing attends")

    def scores(self, output: Output, batch: WindowBatch) -> Tensor:
        return output.logits.masked_fill(~batch.mask[..., None], 0.0)

    def loss(self, output: Output, batch: WindowBatch) -> Tensor:
        assert batch.target is not None
        return F.cross_entropy(precise(output.logits[batch.mask]), batch.target[batch.mask])

    def floor(self, batch: WindowBatch) -> float:
        """The conditional entropy of a character given those before it in its row, in nats: rows that begin in the same
        way cannot all be foretold."""
        assert batch.target is not None
        texts = [tuple(row[row > 0].tolist()) for row in batch.target]
        after = Counter(text[: at + 1] for text in texts for at in range(len(text)))
        before = Counter(text[:at] for text in texts for at in range(len(text)))
        return sum(n * math.log(before[text[:-1]] / n) for text, n in after.items()) / sum(after.values())


FAMILY = RandomWindows()
