"""Sounds as frames, with transcripts, for `transcription`."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import torch

from tests.families import LONG, Writing, mask_of
from zoo.data.audio.batch import AudioBatch, AudioSpec


class Sounds(Writing):
    task_class = "zoo.tasks.transcription.Transcription"
    penalty: ClassVar[dict[str, Any]] = {
        "coverage": {"_target_": "zoo.objectives.CoverageLoss", "weight": 0.5, "tau": 1.0}
    }
    spec = AudioSpec(features=6, target_size=30, longest_target=12, hop=0.01)
    encoder = SimpleNamespace()
    grids: ClassVar[dict[str, str]] = {"frames": "frame_mask", "target": "target_mask"}

    sizes, nothing, long = ((13, 6), (4, 1), (20, 3), (1, 2), (8, 7)), ((0, 2),), ((LONG, 4), (9, 2))

    def of_sizes(self, sizes: Sequence[tuple[int, int]], seed: int) -> AudioBatch:
        """Each token is heard in frames of its own kind, and one target is the end alone."""
        heard, written = zip(*sizes, strict=True)
        generator = torch.Generator().manual_seed(seed)
        frame_mask, target_mask = mask_of(heard), mask_of(written)
        frames = torch.randn(*frame_mask.shape, self.spec.features, generator=generator)
        frames = frames.masked_fill(~frame_mask[..., None], 0.0)
        target = torch.randint(4, self.spec.target_size, target_mask.shape, generator=generator)
        last = torch.arange(target.shape[1]) == target_mask.sum(1, keepdim=True) - 1
        target = torch.where(last, self.spec.end, target).masked_fill(~target_mask, self.spec.padding)
        return AudioBatch(frames, frame_mask, target=target, target_mask=target_mask, begin=self.spec.begin)


FAMILY = Sounds()
