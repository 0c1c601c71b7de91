"""Small batches of questions for the tests of the readers, and what both of them share."""

import torch
from torch import Tensor, nn

from zoo.data.cloze.batch import ClozeBatch, ClozeSpec

SPEC = ClozeSpec(vocabulary_size=20, blank=2)
QUESTIONS = [
    ([3, 4, 5, 3, 6, 3, 4], [7, 2, 8], [3, 5, 4]),
    ([9, 9], [2], [9]),
    ([10, 11, 12, 13, 10], [14, 15, 2, 10], [12, 10]),
]
"""Documents, queries and candidates, as word ids."""


def batch_of(questions: list[tuple[list[int], list[int], list[int]]], answers: list[int] | None = None) -> ClozeBatch:
    """A padded batch."""

    def padded(rows: list[list[int]], value: int = 0) -> Tensor:
        width = max(map(len, rows))
        return torch.tensor([row + [value] * (width - len(row)) for row in rows])

    documents, queries, candidates = (list(part) for part in zip(*questions, strict=True))
    occurrence = [
        [named.index(word) if word in named else -1 for word in document]
        for document, named in zip(documents, candidates, strict=True)
    ]
    document, query, named = padded(documents), padded(queries), padded(candidates)
    return ClozeBatch(
        document,
        document != 0,
        query,
        query != 0,
        named != 0,
        padded(occurrence, -1),
        None if answers is None else torch.tensor(answers),
    )


def shaken(network: nn.Module) -> nn.Module:
    """The network in double precision with every weight drawn, biases too: those that start at 0 would hide errors."""
    torch.manual_seed(3)
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.7)
    return network.double().eval()


def assert_answers(output, b: int, weights: list[float], question: tuple[list[int], list[int], list[int]]) -> None:
    """The weights on the document of question b, and the scores of its candidates: the logarithms of their sums."""
    document, _, candidates = question
    sums = [sum(share for share, word in zip(weights, document, strict=True) if word == one) for one in candidates]
    expected = torch.tensor(weights, dtype=torch.float64)
    torch.testing.assert_close(output.attention["document"][b, : len(document)], expected, rtol=1e-12, atol=1e-12)
    expected = torch.tensor(sums, dtype=torch.float64).log()
    torch.testing.assert_close(output.logits[b, : len(candidates)], expected, rtol=1e-12, atol=1e-12)
