"""Small batches of questions, and torch's GRU as a loop, for the tests of the readers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from zoo.data.cloze.batch import ClozeBatch
from zoo.data.cloze.spec import ClozeSpec

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


def both_directions(encoder: nn.RNNBase, inputs: list[Tensor]) -> list[Tensor]:
    """The states of torch's bidirectional GRU at each word, computed step by step."""
    weights = dict(encoder.named_parameters())
    forward = _gru_loop(weights, "", inputs)
    backward = _gru_loop(weights, "_reverse", inputs[::-1])[::-1]
    return [torch.cat(pair) for pair in zip(forward, backward, strict=True)]


def _gru_loop(weights: dict[str, Tensor], suffix: str, inputs: list[Tensor]) -> list[Tensor]:
    w_ir, w_iz, w_in = weights[f"weight_ih_l0{suffix}"].chunk(3)
    w_hr, w_hz, w_hn = weights[f"weight_hh_l0{suffix}"].chunk(3)
    b_ir, b_iz, b_in = weights[f"bias_ih_l0{suffix}"].chunk(3)
    b_hr, b_hz, b_hn = weights[f"bias_hh_l0{suffix}"].chunk(3)
    h, outputs = torch.zeros(w_hr.shape[1], dtype=torch.float64), []
    for x in inputs:
        r = torch.sigmoid(w_ir @ x + b_ir + w_hr @ h + b_hr)
        z = torch.sigmoid(w_iz @ x + b_iz + w_hz @ h + b_hz)
        n = torch.tanh(w_in @ x + b_in + r * (w_hn @ h + b_hn))
        h = (1 - z) * n + z * h
        outputs.append(h)
    return outputs


def shaken(network: nn.Module) -> nn.Module:
    """The network in double precision with every weight drawn, biases too: those that start at 0 would hide errors."""
    torch.manual_seed(3)
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.7)
    return network.double().eval()
