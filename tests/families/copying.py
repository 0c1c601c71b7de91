"""Sources whose words may be copied: what the families of `summarization` and `dialogue` share."""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import IMPOSSIBLE, LONG, Writing, mask_of, precise
from zoo.data.copying.batch import CopyBatch, CopySpec
from zoo.models.output import Output

MOST = 8  # Unknown words of a source


class Copies(Writing):
    """Random sources with unknown words, some of them repeated, and targets that repeat some of these."""

    penalty: ClassVar[dict[str, Any]] = {
        "coverage": {"_target_": "zoo.objectives.CoverageLoss", "weight": 0.5, "tau": 1.0}
    }
    targets = (*Writing.targets, "copied")
    spec: Any = CopySpec(vocabulary_size=25, longest_source=LONG, longest_target=12)
    grids: ClassVar[dict[str, str]] = {
        "source": "source_mask",
        "extended": "source_mask",
        "target": "target_mask",
        "copied": "target_mask",
    }
    sizes, nothing, long = ((5, 6), (2, 1), (7, 3), (1, 2), (4, 7)), ((0, 2),), ((LONG, 4), (3, 2))

    def of_sizes(self, sizes: Sequence[tuple[int, int]], seed: int) -> CopyBatch:
        """A third of the source is unknown. A third of the target is unknown words of its source, if it has some."""
        mask, target_mask = (mask_of(side) for side in zip(*sizes, strict=True))
        size = self.spec.vocabulary_size
        draws = (
            torch.Generator().manual_seed(10 * seed + number) for number in range(6)
        )  # the first rows stay the same
        plain = torch.randint(4, size, mask.shape, generator=next(draws))
        names = torch.randint(0, MOST, mask.shape, generator=next(draws))
        unknown = torch.rand(mask.shape, generator=next(draws)) < 1 / 3
        extended = self._numbered(torch.where(unknown, size + names, plain).masked_fill(~mask, 0))
        target = torch.randint(4, size, target_mask.shape, generator=next(draws))
        count = (extended.amax(1, keepdim=True) - size + 1).clamp(min=0)
        repeated = size + (torch.rand(target.shape, generator=next(draws)) * count).long()
        copies = (torch.rand(target.shape, generator=next(draws)) < 1 / 3) & (count > 0)
        last = torch.arange(target.shape[1]) == target_mask.sum(1, keepdim=True) - 1
        copied = torch.where(copies, repeated, target).masked_fill(last, self.spec.end).masked_fill(~target_mask, 0)
        known = (ids.where(ids < size, torch.ones_like(ids)) for ids in (extended, copied))
        source, target = known
        return self.made(
            {
                "source": source,
                "source_mask": mask,
                "extended": extended,
                "target": target,
                "target_mask": target_mask,
                "copied": copied,
            },
            None,
        )

    def _numbered(self, ids: Tensor) -> Tensor:
        """The unknown words of each row numbered from V in the order in which they first occur."""
        for row in ids:
            columns: dict[int, int] = {}
            for at, one in enumerate(row.tolist()):
                if one >= self.spec.vocabulary_size:
                    row[at] = columns.setdefault(one, self.spec.vocabulary_size + len(columns))
        return ids

    def made(self, tensors: dict[str, Tensor], like: Any) -> CopyBatch:
        return CopyBatch(**tensors, begin=self.spec.begin)

    def with_target(self, batch: Any, ids: Sequence[int]) -> Any:
        copied = torch.tensor([ids])
        known = copied.where(copied < self.spec.vocabulary_size, torch.ones_like(copied))
        written = {"target": known, "copied": copied, "target_mask": torch.ones_like(known, dtype=torch.bool)}
        return self.made(self._tensors(batch) | written, batch)

    def scores(self, output: Output, batch: Any) -> Tensor:
        """Log-probabilities of as many columns as any source needs: a batch scores those of its own sources alone."""
        log_probs = precise(output.logits).log_softmax(-1).clamp(min=IMPOSSIBLE)
        more = self.spec.vocabulary_size + MOST - log_probs.shape[1]
        return batch.forced.packing.unpack(F.pad(log_probs, (0, more), value=IMPOSSIBLE))
