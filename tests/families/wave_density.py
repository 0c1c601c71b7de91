"""Short sounds of random levels, for `wave_density`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import Family, mask_of, precise
from zoo.data.waves.batch import WaveBatch, WaveSpec
from zoo.models.output import Output


class Waves(Family):
    """Sounds of unequal length with classes and frames."""

    task_class = "zoo.tasks.wave_density.WaveDensity"
    spec = WaveSpec(rate=1000, levels=5, classes=("a", "b", "c"), features=3, hop=4)
    grids: ClassVar[dict[str, str]] = {"samples": "sample_mask", "frames": "frame_mask"}
    singles = ("label",)
    sampled = True
    sizes, nothing, long = (9, 4, 12, 7, 10), (), (400, 90)

    def of_sizes(self, sizes: Sequence[int], seed: int) -> WaveBatch:
        generator = torch.Generator().manual_seed(seed)
        mask, frame_mask = mask_of(sizes), mask_of([1 + size // self.spec.hop for size in sizes])
        samples = torch.randint(0, self.spec.levels, mask.shape, generator=generator, dtype=torch.uint8)
        frames = torch.randn(*frame_mask.shape, self.spec.features, generator=generator)
        label = torch.arange(len(sizes)) % len(self.spec.classes)
        return WaveBatch(samples * mask, mask, label, frames * frame_mask[..., None], frame_mask)

    @property
    def scribble(self) -> dict[str, float]:  # type: ignore[override]
        return {"samples": 3}

    def scores(self, output: Output, batch: WaveBatch) -> Tensor:
        return output.logits * batch.sample_mask[..., None]

    def loss(self, output: Output, batch: WaveBatch) -> Tensor:
        mask = batch.scored_mask
        return F.cross_entropy(precise(output.logits)[mask], batch.samples.long()[mask])

    def changed(self, batch: WaveBatch, place: int) -> tuple[WaveBatch, Tensor]:
        samples = batch.samples.clone()
        samples[:, place] = (samples[:, place] + 1) % self.spec.levels
        return replace(batch, samples=samples), batch.sample_mask.sum(1) > place + 1

    def floor(self, batch: WaveBatch) -> float:
        """The entropy of a sample given those before it, where the sounds of the batch are known by heart."""
        rows = [tuple(row[mask].tolist()) for row, mask in zip(batch.samples, batch.sample_mask, strict=True)]
        after = Counter(row[:end] for row in rows for end in range(1, len(row) + 1))
        before = Counter(row[:end] for row in rows for end in range(len(row)))
        return sum(count * log(before[begin[:-1]] / count) for begin, count in after.items()) / sum(map(len, rows))

    def exported(self, batch: Any) -> Any:
        return batch


FAMILY = Waves()
