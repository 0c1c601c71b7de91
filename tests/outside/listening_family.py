"""Sounds, for the contract's clauses."""

from typing import ClassVar

import torch
from tiny_listening.batch import SoundBatch
from tiny_listening.data import SoundEncoder
from tiny_listening.network import joined
from tiny_listening.spec import SoundSpec
from torch import Tensor

from tests.families import LONG, Writing


class Sounds(Writing):
    """Sounds and their tones, for `listening`."""

    spec = SoundSpec(tones=6, longest_target=8)
    encoder = SoundEncoder()
    grids: ClassVar[dict[str, str]] = {"frames": "frame_mask", "target": "target_mask"}
    singles = ("index",)
    scribble: ClassVar[dict[str, float]] = {"frames": 0.7}

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
        return SoundBatch.padded(sounds, [[*row, self.spec.end] for row in ids])

    def made(self, tensors: dict[str, Tensor], like: SoundBatch) -> SoundBatch:
        return SoundBatch(**tensors)

    def readable(self, batch: SoundBatch) -> Tensor:
        return (torch.arange(self.spec.tokens) > self.spec.end).expand(len(batch), -1)


FAMILY = Sounds()


def quarter(mask: Tensor) -> Tensor:
    """(B, S) -> (B, S'), the positions that are left of a mask after two joins."""
    for _ in range(2):
        _, mask = joined(mask[..., None].float(), mask)
    return mask
