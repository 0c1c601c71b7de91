"""Sounds, for the contract's clauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from tiny_listening.batch import SoundBatch
from tiny_listening.data import SoundEncoder
from tiny_listening.network import joined
from tiny_listening.spec import SoundSpec
from torch import Tensor

from tests.families import LONG, Writing, precise
from zoo.models.output import Output


class Sounds(Writing):
    """Sounds and their tones, for `listening`."""

    spec = SoundSpec(tones=6, longest_target=8)
    encoder = SoundEncoder()

    def batch(self, seed: int, *, empty: bool = True) -> SoundBatch:
        return self._of_lengths(
            [5, 2, 9, 1, 4, *([0] if empty else [])], [6, 2, 5, 1, 7, *([2] if empty else [])], seed
        )

    def long_batch(self) -> SoundBatch:
        return self._of_lengths([LONG, 3], [4, 2], 1)

    def _of_lengths(self, frames: list[int], targets: list[int], seed: int) -> SoundBatch:
        draw = torch.Generator().manual_seed(seed)
        sounds = [torch.rand(length, self.spec.tones, generator=draw) for length in frames]
        ids = [torch.randint(4, self.spec.tokens, (length - 1,), generator=draw).tolist() for length in targets]
        return SoundBatch.of(sounds, [[*row, self.spec.end] for row in ids])

    def part(self, batch: SoundBatch, rows: Sequence[int]) -> SoundBatch:
        return SoundBatch.of(*batch.parts(rows), width=1)

    def padded(self, batch: SoundBatch) -> SoundBatch:
        rows = range(len(batch))
        return SoundBatch.of(*batch.parts(rows), width=batch.frames.shape[1] + 5)

    def scribbled(self, batch: SoundBatch) -> SoundBatch:
        return replace(batch, frames=torch.where(batch.frame_mask[..., None], batch.frames, 0.7))

    def without_targets(self, batch: SoundBatch) -> SoundBatch:
        return replace(batch, alignment=None, **SoundBatch.writing(None, None, self.spec.begin))

    def readable(self, batch: SoundBatch) -> Tensor:
        return (torch.arange(self.spec.tokens) > self.spec.end).expand(len(batch), -1)

    def with_target(self, batch: SoundBatch, ids: Sequence[int]) -> SoundBatch:
        return SoundBatch.of(batch.parts([0])[0], [list(ids)], width=1)

    def rows(self, batch: SoundBatch, kind: str, mask: Tensor) -> Tensor:
        return batch.forced.mask[:, :, None] & mask[:, None]

    def scores(self, output: Output, batch: SoundBatch) -> Tensor:
        return batch.forced.packing.unpack(output.logits)

    def loss(self, output: Output, batch: SoundBatch) -> Tensor:
        return F.cross_entropy(precise(output.logits), batch.true_tokens)

    def task(self, model: dict[str, Any], *, attends: bool) -> Any:
        raise NotImplementedError("used by the catalogue's tests alone")


FAMILY = Sounds()


def quarter(mask: Tensor) -> Tensor:
    """(B, S) -> (B, S'), the positions that are left of a mask after two joins."""
    for _ in range(2):
        _, mask = joined(mask[..., None].float(), mask)
    return mask
