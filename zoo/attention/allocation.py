"""Which rows of a memory are free, and in which order they were written (Graves et al. 2016, Methods).

Notation: B sequences, R heads that read, N rows of the memory. One head writes. All in float32 at least.
"""

from __future__ import annotations

import torch
from torch import Tensor

from zoo.precision import precise

USAGE_FLOOR = 1e-6
"""No row is less used than this, so that the products of usages have a gradient."""


def usage(previous: Tensor, written: Tensor, read: Tensor, free: Tensor) -> Tensor:
    """How much each row is in use (B, N), from the usage, the write weighting (B, N) and the read weightings (B, R, N)
    of the step before, and how far each reading head frees what it read, (B, R, 1) in [0, 1].

    No gradient goes to the write weighting, as in the authors' code.
    """
    written = precise(written).detach()
    retained = (1 - precise(free) * precise(read)).prod(1)
    return (previous + written - previous * written) * retained


def allocation(used: Tensor) -> Tensor:
    """Where a new row should be written (B, N), from how much each is in use: the least used first, and what that
    leaves to the next. Sums to at most 1."""
    rows = used.shape[1]
    order, by_use = (USAGE_FLOOR + (1 - USAGE_FLOOR) * precise(used)).sort(dim=1, stable=True)
    before = torch.cat([order.new_ones(len(order), 1), order[:, : rows - 1]], 1).cumprod(1)
    return torch.zeros_like(order).scatter(1, by_use, (1 - order) * before)


def linked(link: Tensor, precedence: Tensor, written: Tensor) -> tuple[Tensor, Tensor]:
    """The links (B, N, N), how far row i was written right after row j, and the precedence (B, N), how far a row was
    the last one written, after a step with the write weighting (B, N). Rows and columns of the links sum to at most
    1."""
    written = precise(written)
    row, column = written[:, :, None], written[:, None]
    new = link * (1 - row - column) + row * precedence[:, None]
    diagonal = torch.eye(link.shape[1], dtype=torch.bool, device=link.device)
    return new.masked_fill(diagonal, 0.0), (1 - written.sum(1, keepdim=True)) * precedence + written


def followed(link: Tensor, read: Tensor) -> tuple[Tensor, Tensor]:
    """Where each reading head comes (B, R, N) from its weightings (B, R, N): a row back in the order of writing, and a
    row forward."""
    return precise(read) @ link, precise(read) @ link.mT
