"""Sets of points and pointers into them, for `pointing`."""

from collections.abc import Sequence
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import IMPOSSIBLE, LONG, Writing, mask_of, precise
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.models.output import Output


class Points(Writing):
    task_class = "zoo.tasks.pointing.Pointing"
    spec = PointSpec(width=2, longest=LONG, longest_target=12, goal="hull", groups=("all",))
    grids: ClassVar[dict[str, str]] = {"points": "point_mask", "target": "target_mask"}
    scribble: ClassVar[dict[str, float]] = {"points": 0.7}

    sizes, nothing, long = ((5, 6), (1, 2), (7, 4), (3, 1), (4, 5)), ((0, 1),), ((LONG, 4), (3, 2))

    def of_sizes(self, sizes: Sequence[tuple[int, int]], seed: int) -> PointBatch:
        """Random points, and pointers at them, the end last; the smallest target is the end alone."""
        points, targets = zip(*sizes, strict=True)
        draw = torch.Generator().manual_seed(seed)
        count, length = torch.tensor(points)[:, None], torch.tensor(targets)[:, None]
        point_mask, mask = mask_of(points), mask_of(targets)
        places = torch.rand(len(points), max(points), self.spec.width, generator=draw)
        pointed = (torch.rand(mask.shape, generator=draw) * count).long() + self.spec.first
        end = torch.arange(max(targets)) == length - 1
        ids = torch.where(end, self.spec.end, pointed).masked_fill(~mask, self.spec.padding)
        return PointBatch(places * point_mask[..., None], point_mask, target=ids, target_mask=mask)

    def readable(self, batch: PointBatch) -> Tensor:
        return F.pad(batch.point_mask, (self.spec.first, 0))

    def scores(self, output: Output, batch: PointBatch) -> Tensor:
        """Log-probabilities of the tokens of the longest set that is padded: a batch scores those of its own longest
        set alone."""
        log_probs = precise(output.logits).log_softmax(-1).clamp(min=IMPOSSIBLE)
        width = self.spec.first + LONG + 2
        return batch.forced.packing.unpack(F.pad(log_probs, (0, width - log_probs.shape[1]), value=IMPOSSIBLE))


FAMILY = Points()
