"""Documents, queries with a blank, and candidates from the document, for `cloze`."""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from tests.families import LONG, Family, mask_of
from zoo.data.cloze.batch import ClozeBatch, ClozeSpec
from zoo.models.output import Output
from zoo.tasks.cloze import answer_losses


class Questions(Family):
    task_class = "zoo.tasks.cloze.Cloze"
    spec = ClozeSpec(vocabulary_size=30, blank=2)
    grids: ClassVar[dict[str, str]] = {
        "document": "document_mask",
        "occurrence": "document_mask",
        "query": "query_mask",
        "candidate_mask": "candidate_mask",
    }
    singles = ("answer",)
    padding: ClassVar[dict[str, int]] = {"occurrence": -1}
    scribble: ClassVar[dict[str, float]] = {"occurrence": 0}

    sizes, nothing, long = ((9, 4), (1, 2), (12, 6), (7, 1), (10, 3)), ((0, 3), (6, 0)), ((LONG, 5), (7, LONG))
    targets = ("answer", "evidence")

    def of_sizes(self, sizes: Sequence[tuple[int, int]], seed: int) -> ClozeBatch:
        """Random words with the given lengths of documents and queries.

        Words of a document repeat, candidates too; a document of one word has one candidate, and the last candidate of
        a long document does not occur in it.
        """
        candidates = 10 if sizes is self.long else 4
        draw = torch.Generator().manual_seed(seed)
        document_mask, query_mask = map(mask_of, zip(*sizes, strict=True))
        document = torch.randint(3, 12, document_mask.shape, generator=draw).masked_fill(~document_mask, 0)
        query = torch.randint(3, self.spec.vocabulary_size, query_mask.shape, generator=draw)
        query[:, 0] = self.spec.blank
        query = query.masked_fill(~query_mask, 0)
        occurrence = torch.full_like(document, -1)
        candidate_mask = torch.zeros(len(sizes), candidates, dtype=torch.bool)
        answer = torch.zeros(len(sizes), dtype=torch.long)
        for row, (length, _) in enumerate(sizes):
            words = document[row, :length].unique()[: candidates - 1].tolist()
            for number, word in enumerate(words):
                occurrence[row][document[row] == word] = number
            candidate_mask[row, : max(len(words) + (length > 6), 1)] = True
            answer[row] = torch.randint(max(len(words), 1), (1,), generator=draw)
        return ClozeBatch(document, document_mask, query, query_mask, candidate_mask, occurrence, answer)

    def rows(self, batch: ClozeBatch, kind: str, mask: Tensor) -> Tensor:
        """There is no attention where nothing is asked, or of nothing."""
        return mask & batch.document_mask.any(1, keepdim=True) & batch.query_mask.any(1, keepdim=True)

    def scores(self, output: Output, batch: ClozeBatch) -> Tensor:
        """Probabilities; a candidate outside the document has the lowest number of the dtype as its logit."""
        return output.logits.exp().masked_fill(~batch.candidate_mask, 0.0)

    def loss(self, output: Output, batch: ClozeBatch) -> Tensor:
        losses, counted = answer_losses(output.logits, batch)
        return losses.sum() / counted.sum() + sum(output.losses.values())


FAMILY = Questions()
