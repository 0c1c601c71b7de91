"""Weighted sums of rows, many at once: a sparse matrix that is multiplied with vectors from both sides.

Notation: R bags (rows), C columns, N entries; X any number of vectors that are multiplied at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.precision import precise


@dataclass(frozen=True)
class Entries:
    """The entries of a sparse matrix by its rows, as `torch.nn.functional.embedding_bag` reads them."""

    column: Tensor  # (N,) of each entry
    weight: Tensor  # (N,) of each entry
    begin: Tensor  # (R + 1,) the first entry of each row, then N

    @classmethod
    def of(cls, row: Tensor, column: Tensor, weight: Tensor, rows: int) -> Entries:
        """Entries (N,) in any order."""
        order, begin = _sorted(row, rows)
        return cls(column.index_select(0, order), weight.index_select(0, order), begin)

    def sums(self, values: Tensor) -> Tensor:
        """(C, X) -> (R, X), the weighted sum of the values in each row's columns."""
        weight = self.weight.to(values.dtype)
        return F.embedding_bag(
            self.column, values, self.begin, mode="sum", per_sample_weights=weight, include_last_offset=True
        )


@dataclass(frozen=True)
class Bags:
    """A constant sparse matrix (R, C): gradients pass through it, but it has no gradient itself."""

    rows: Entries
    columns: Entries  # The entries sorted by column
    shape: tuple[int, int]

    @classmethod
    def of(cls, row: Tensor, column: Tensor, weight: Tensor, shape: tuple[int, int]) -> Bags:
        """From N entries (N,) in any order; those of one cell are added."""
        if torch.compiler.is_exporting():
            return Scattered(row, column, weight, shape)
        return cls(Entries.of(row, column, weight, shape[0]), Entries.of(column, row, weight, shape[1]), shape)

    def times(self, values: Tensor) -> Tensor:
        """The matrix times vectors: (..., C) -> (..., R), in float32 at least."""
        return self._apply(values, False)

    def transposed_times(self, values: Tensor) -> Tensor:
        """The transposed matrix times vectors: (..., R) -> (..., C), in float32 at least."""
        return self._apply(values, True)

    def _apply(self, values: Tensor, transposed: bool) -> Tensor:
        exact = precise(values)
        found: Tensor = _Product.apply(exact.reshape(-1, exact.shape[-1]), self, transposed)
        return found.view(*exact.shape[:-1], -1)

    # embedding_bag reads the X values of a column as a row. One vector can be read as it is; of more the columns that
    # have an entry, often a small part of all, are moved there, and the others are not touched.

    def product(self, values: Tensor) -> Tensor:
        """(X, C) -> (X, R), without a gradient."""
        if len(values) == 1:
            return self.rows.sums(values.reshape(-1, 1)).view(1, -1)
        columns = values.reshape(-1).index_select(0, self._cells(len(values))).view(-1, len(values))
        return self._used.rows.sums(columns).t().contiguous()

    def transposed_product(self, values: Tensor) -> Tensor:
        """(X, R) -> (X, C), without a gradient."""
        if len(values) == 1:
            return self.columns.sums(values.reshape(-1, 1)).view(1, -1)
        columns = self._used.columns.sums(values.t().contiguous())
        found = columns.new_zeros(len(values) * self.shape[1])
        return found.index_copy_(0, self._cells(len(values)), columns.view(-1)).view(-1, self.shape[1])

    @cached_property
    def _used(self) -> _Used:
        filled = self.columns.begin.diff() > 0
        at = filled.nonzero().squeeze(1)
        number = filled.cumsum(0) - 1  # of each column among the used ones
        begin = torch.cat([self.columns.begin.index_select(0, at), self.columns.begin[-1:]])
        return _Used(
            rows=replace(self.rows, column=number.index_select(0, self.rows.column)),
            columns=replace(self.columns, begin=begin),
            at=at,
        )

    def _cells(self, count: int) -> Tensor:
        """(C' X,) where the values of each used column are in X = `count` rows of C values."""
        if count not in self._used.cells:
            row = torch.arange(count, device=self.columns.begin.device)
            self._used.cells[count] = (self._used.at[:, None] + row * self.shape[1]).view(-1)
        return self._used.cells[count]


class Scattered(Bags):
    """The matrix of a network that is exported, by its entries in any order."""

    row: Tensor
    column: Tensor
    weight: Tensor

    def __init__(self, row: Tensor, column: Tensor, weight: Tensor, shape: tuple[int, int]) -> None:
        vars(self).update(row=row, column=column, weight=weight, shape=shape)  # the class is frozen

    def times(self, values: Tensor) -> Tensor:
        return self._added(values, self.column, self.row, self.shape[0])

    def transposed_times(self, values: Tensor) -> Tensor:
        return self._added(values, self.row, self.column, self.shape[1])

    def _added(self, values: Tensor, read: Tensor, written: Tensor, size: int) -> Tensor:
        exact = precise(values)
        terms = exact.index_select(-1, read) * self.weight.to(exact.dtype)
        return exact.new_zeros(*exact.shape[:-1], size).index_add(-1, written, terms)


@dataclass(frozen=True)
class _Used:
    """The matrix without its empty columns; C' columns remain."""

    rows: Entries
    columns: Entries
    at: Tensor  # (C',) their numbers in the whole matrix
    cells: dict[int, Tensor] = field(default_factory=dict)


def _sorted(keys: Tensor, below: int) -> tuple[Tensor, Tensor]:
    """(N,) what sorts `keys` (N,), all smaller than `below`, and (below + 1,) where each begins among the sorted ones.
    On the CPU numpy sorts short numbers by radix, in a sixth of the time that torch takes."""
    if keys.device.type == "cpu" and below <= 2**16:
        order = torch.from_numpy(np.argsort(keys.numpy().astype(np.uint16), kind="stable"))
        return order, F.pad(torch.bincount(keys, minlength=below).cumsum(0), (1, 0))
    ordered, order = keys.sort(stable=True)
    return order, torch.searchsorted(ordered, torch.arange(below + 1, device=keys.device))


class _Product(torch.autograd.Function):
    """Values times the matrix, or its transpose; its gradient is the product with the other of the two."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, bags: Bags, transposed: bool) -> Tensor:
        ctx.bags, ctx.transposed = bags, transposed
        values = values.detach()  # for anything else embedding_bag does more than it needs to
        return bags.transposed_product(values) if transposed else bags.product(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        bags: Bags = ctx.bags
        return bags.product(gradient) if ctx.transposed else bags.transposed_product(gradient), None, None
