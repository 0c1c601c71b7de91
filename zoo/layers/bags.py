"""Sums of weighted rows, many at once: a sparse matrix by which vectors are multiplied from both sides.

Notation: R bags (rows), C columns, N entries; X any number of vectors that are multiplied at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable


@dataclass(frozen=True)
class Entries:
    """The entries of a sparse matrix by its rows, as `torch.nn.functional.embedding_bag` reads them."""

    column: Tensor
    """(N,) of each entry."""
    weight: Tensor
    """(N,) of each entry."""
    begin: Tensor
    """(R + 1,) the first entry of each row, and behind the last one of all."""

    @classmethod
    def of(cls, row: Tensor, column: Tensor, weight: Tensor, rows: int) -> Entries:
        """Entries (N,) in any order."""
        order, begin = _sorted(row, rows)
        return cls(column.index_select(0, order), weight.index_select(0, order), begin)

    def sums(self, values: Tensor) -> Tensor:
        """(X, C) -> (X, R), the weighted sum of the values in each row's columns."""
        weight = self.weight.to(values.dtype)
        # detached, and with an exact stride where X is 1: for anything else embedding_bag does more than it needs to
        columns = values.detach().t().contiguous().view(-1).view(values.shape[1], -1)
        found = F.embedding_bag(
            self.column, columns, self.begin, mode="sum", per_sample_weights=weight, include_last_offset=True
        )
        return found.t().contiguous()


def _sorted(keys: Tensor, below: int) -> tuple[Tensor, Tensor]:
    """(N,) what sorts `keys` (N,), all smaller than `below`, and (below + 1,) where each begins among the sorted ones.
    On the CPU numpy sorts short numbers by radix, in a sixth of the time that torch takes."""
    if keys.device.type == "cpu" and below <= 2**16:
        order = torch.from_numpy(np.argsort(keys.numpy().astype(np.uint16), kind="stable"))
        return order, F.pad(torch.bincount(keys, minlength=below).cumsum(0), (1, 0))
    ordered, order = keys.sort(stable=True)
    return order, torch.searchsorted(ordered, torch.arange(below + 1, device=keys.device))


@dataclass(frozen=True)
class Bags:
    """A sparse matrix (R, C) that is constant: gradients go through it, not into it."""

    rows: Entries
    columns: Entries
    """The same entries by column."""

    @classmethod
    def of(cls, row: Tensor, column: Tensor, weight: Tensor, shape: tuple[int, int]) -> Bags:
        """From N entries (N,) in any order; those of one cell are added."""
        return cls(Entries.of(row, column, weight, shape[0]), Entries.of(column, row, weight, shape[1]))

    def times(self, values: Tensor) -> Tensor:
        """The matrix times vectors: (..., C) -> (..., R), in float32 at least."""
        return _apply(values, self.rows, self.columns)

    def transposed_times(self, values: Tensor) -> Tensor:
        """The transposed matrix times vectors: (..., R) -> (..., C), in float32 at least."""
        return _apply(values, self.columns, self.rows)


def _apply(values: Tensor, there: Entries, back: Entries) -> Tensor:
    exact = values.to(torch.promote_types(values.dtype, torch.float32))
    found: Tensor = _Product.apply(exact.reshape(-1, exact.shape[-1]), there, back)
    return found.view(*exact.shape[:-1], -1)


class _Product(torch.autograd.Function):
    """values (X, C) -> (X, R); its gradient is the product with the transposed matrix."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, there: Entries, back: Entries) -> Tensor:
        ctx.back = back
        return there.sums(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return ctx.back.sums(gradient), None, None
