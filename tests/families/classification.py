"""Documents of sentences of words, for `classification`."""

from collections.abc import Sequence
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import LONG, Family, nested_mask, precise
from zoo.data.documents.batch import DocumentBatch, DocumentSpec
from zoo.models.output import Output


class Documents(Family):
    task_class = "zoo.tasks.Classification"
    spec = DocumentSpec(vocabulary_size=30, classes=("bad", "fair", "good"))
    grids: ClassVar[dict[str, str]] = {"words": "word_mask"}
    singles = ("label",)

    sizes = ([4, 1, 6], [2, 5], [7, 3, 2, 3], [1], [3, 0, 4])  # a sentence may be empty too
    nothing, long = ([],), ([LONG], [1] * LONG)
    targets = ("label", "evidence")

    def of_sizes(self, lengths: Sequence[Sequence[int]], seed: int) -> DocumentBatch:
        """A batch of random words, the numbers of words of each sentence of each document given."""
        generator = torch.Generator().manual_seed(seed)
        mask = nested_mask(lengths)
        words = torch.randint(2, self.spec.vocabulary_size, mask.shape, generator=generator).masked_fill(~mask, 0)
        label = torch.randint(0, self.spec.num_classes, (len(lengths),), generator=generator)
        return DocumentBatch(words, mask, label)

    def loss(self, output: Output, batch: DocumentBatch) -> Tensor:
        assert batch.label is not None
        return F.cross_entropy(precise(output.logits), batch.label) + sum(output.losses.values())


FAMILY = Documents()
