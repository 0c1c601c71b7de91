"""Rows of unequal length in one tensor without padding: the layout of torch's `PackedSequence`, made once per batch.

Notation: a grid has shape (..., T), its last axis is time; R rows of it hold at least one real position, N positions
are real. Packed tensors are (N, ...): time step by time step, and inside a step the longest row first.

While `torch.export` traces a network, the sizes of its tensors must not depend on the values of a mask. `Packing.of`
then gives a `Padded`, which keeps every position of the grid and leaves out the padding by the mask.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import torch
from torch import Tensor

from zoo.attention.softmax import masked_softmax, segment_softmax
from zoo.precision import precise


@dataclass(frozen=True)
class Cells:
    """The positions of N items in a padded grid."""

    shape: tuple[int, ...]  # Shape of the grid, (..., T)
    cell: Tensor  # (N,) the flat grid cell of each item
    row: Tensor  # (N,) the flat grid row of each item, from 0 to prod(shape[:-1]) - 1

    def pack(self, grid: Tensor) -> Tensor:
        """(*shape, ...) -> (N, ...)."""
        return grid.reshape(prod(self.shape), *grid.shape[len(self.shape) :]).index_select(0, self.cell)

    def unpack(self, packed: Tensor) -> Tensor:
        """(N, ...) -> (*shape, ...), exactly zero at padding."""
        grid = packed.new_zeros(prod(self.shape), *packed.shape[1:]).index_copy(0, self.cell, packed)
        return grid.view(*self.shape, *packed.shape[1:])

    def sum(self, packed: Tensor) -> Tensor:
        """Sum over time: (N, ...) -> (*shape[:-1], ...), zero for an empty row. Half precision is summed in float32."""
        exact = precise(packed) if packed.is_floating_point() else packed
        total = exact.new_zeros(prod(self.shape[:-1]), *packed.shape[1:]).index_add(0, self.row, exact)
        return total.to(packed.dtype).view(*self.shape[:-1], *packed.shape[1:])

    def max(self, packed: Tensor) -> Tensor:
        """Maximum over time: (N, D) -> (*shape[:-1], D), zero for an empty row."""
        zeros = packed.new_zeros(prod(self.shape[:-1]), packed.shape[-1])
        highest = zeros.scatter_reduce(0, self.row[:, None].expand_as(packed), packed, "amax", include_self=False)
        return highest.view(*self.shape[:-1], -1)

    def softmax(self, scores: Tensor) -> Tensor:
        """Softmax over the positions of each row: scores (N,) -> weights (N,)."""
        return segment_softmax(scores, self.row, prod(self.shape[:-1]))

    def numbers(self) -> Tensor:
        """(*shape) the number of the item in each cell, counted from 1, and 0 in a cell without one."""
        return self.unpack(torch.arange(1, 1 + len(self.cell), device=self.cell.device))


@dataclass(frozen=True)
class Packing(Cells):
    """The real positions of a padded grid, in the order of the packed tensor.

    Build it with `Packing.of(mask)`, once per batch and on the CPU (in collate): it needs the lengths as numbers.
    """

    batch_sizes: tuple[int, ...]
    """Number of rows that have a position at each time step, in falling order; they sum to N."""
    flip: Tensor
    """(N,) the packed position that holds the same row's mirrored step, k <-> length - 1 - k. Its own inverse."""
    order: Tensor  # (R,) flat grid rows that are not empty, longest first: the rows of time step 0
    last: Tensor  # (R,) packed position of the last step of each row of `order`

    @classmethod
    def of(cls, mask: Tensor) -> Packing:
        """The packing of a boolean `mask` (..., T), True at real positions. Rows may be empty and may have holes."""
        if torch.compiler.is_exporting():
            return Padded(mask)
        if mask.dtype != torch.bool or mask.dim() == 0:
            found = f"{mask.dtype} {tuple(mask.shape)}"
            raise ValueError(f"a packing is made from a boolean mask (..., T), True = real; got {found}")
        device, rows = mask.device, prod(mask.shape[:-1])
        lengths = mask.sum(-1).view(rows)
        order = lengths.argsort(descending=True, stable=True)[: int(lengths.count_nonzero())]
        longest_first = lengths[order]
        steps = torch.arange(int(longest_first[0]) if len(order) else 0, device=device)
        sizes = (longest_first > steps[:, None]).sum(1)
        begin = starts(sizes)  # (steps,) the first position of each time step
        rank = torch.zeros_like(lengths).index_copy(0, order, torch.arange(len(order), device=device))

        cell = mask.reshape(-1).nonzero().squeeze(1)  # (N,) real cells, row by row
        number = torch.arange(len(cell), device=device)
        row = torch.arange(rows, device=device).repeat_interleave(lengths, output_size=len(cell))
        first = starts(lengths)  # (rows,) the number of each row's first real cell
        position = begin.index_select(0, number - first.index_select(0, row)) + rank.index_select(0, row)
        mirrored = position.index_select(0, (2 * first + lengths - 1).index_select(0, row) - number)

        def at_position(values: Tensor) -> Tensor:
            return torch.empty_like(values).index_copy(0, position, values)

        return cls(
            shape=tuple(mask.shape),
            batch_sizes=tuple(sizes.tolist()),
            cell=at_position(cell),
            row=at_position(row),
            flip=at_position(mirrored),
            order=order,
            last=begin[longest_first - 1] + torch.arange(len(order), device=device),
        )

    @classmethod
    def of_one_step(cls, rows: int, device: torch.device) -> Packing:
        """The packing of a mask (rows, 1) that is all True, in a tenth of the time of `of`."""
        if torch.compiler.is_exporting():
            return Padded(torch.ones(rows, 1, dtype=torch.bool, device=device))
        number = torch.arange(rows, device=device)
        places = dict.fromkeys(("cell", "row", "flip", "order", "last"), number)
        return cls(shape=(rows, 1), batch_sizes=(rows,) if rows else (), **places)

    @property
    def time(self) -> Tensor:
        """(N,) the time step of each packed position in the grid, from 0."""
        return self.cell % max(self.shape[-1], 1)


class Padded(Packing):
    """All positions of a padded grid, row by row: N is the size of the grid. No result depends on what is packed at the
    padding. It has no time steps, and only `zoo.layers.walk.scanned` can loop over it.
    """

    def __init__(self, mask: Tensor) -> None:
        rows, steps = prod(mask.shape[:-1]), mask.shape[-1]
        row, time = torch.arange(rows, device=mask.device), torch.arange(steps, device=mask.device)
        vars(self).update(
            shape=tuple(mask.shape),
            cell=torch.arange(rows * steps, device=mask.device),
            row=row[:, None].expand(rows, steps).flatten(),
            step=time.expand(rows, steps).flatten(),
            mask=mask,
        )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"packing.{name}: a network that is exported has no positions in the order of time steps")

    @property
    def time(self) -> Tensor:
        return self.step

    @property
    def flip(self) -> Tensor:
        """(N,) the position of the same row's mirrored step, if the real positions of each row are a prefix."""
        lengths, time = self.mask.sum(-1).flatten().index_select(0, self.row), self.time
        return self.cell - time + torch.where(time < lengths, lengths - 1 - time, time)

    def pack(self, grid: Tensor) -> Tensor:
        return grid.flatten(0, len(self.shape) - 1)

    def unpack(self, packed: Tensor) -> Tensor:
        return self._kept(packed, 0)

    def sum(self, packed: Tensor) -> Tensor:
        return self._kept(packed, 0).sum(len(self.shape) - 1)

    def max(self, packed: Tensor) -> Tensor:
        lowest = torch.finfo(packed.dtype).min
        return self._kept(packed, lowest).amax(-2).masked_fill(~self.mask.any(-1, keepdim=True), 0)

    def softmax(self, scores: Tensor) -> Tensor:
        return masked_softmax(scores.view(self.shape), self.mask).flatten()

    def numbers(self) -> Tensor:
        return self.unpack(self.cell + 1)

    def _kept(self, packed: Tensor, padding: float) -> Tensor:
        """(N, ...) -> (*shape, ...) with another number at the padding."""
        grid = packed.view(*self.shape, *packed.shape[1:])
        return grid.masked_fill(~self.mask.view(*self.shape, *[1] * (packed.dim() - 1)), padding)


def distinct(ids: Tensor) -> Tensor:
    """(N,) ids -> (U,) the distinct ones in ascending order. While a network is exported, all ids as they are."""
    return ids if torch.compiler.is_exporting() else ids.unique()


def places(among: Tensor, ids: Tensor, first: int = 0) -> Tensor:
    """(N,) the row in `among`, which `distinct` made, of each of `ids` (N,); `first` ids were given to it before."""
    if torch.compiler.is_exporting():
        return torch.arange(first, first + ids.shape[0], device=ids.device)
    return torch.searchsorted(among, ids)


class Forced(NamedTuple):
    """The decoder inputs for teacher forcing on B targets."""

    read: Tensor  # (B, T) the targets shifted right by one, with the begin token first
    mask: Tensor  # (B, T) True at tokens; a prefix of each row
    packing: Packing  # Packs (B, T): scores of all target positions are (N, V) in this order


def starts(lengths: Tensor) -> Tensor:
    """(n,) the offset of each of n consecutive parts."""
    return lengths.cumsum(0) - lengths


def without_end(mask: Tensor) -> Tensor:
    """(B, S) `mask` without the last True of each row, which is the end mark. The True values of a row are a prefix."""
    return torch.cat([mask[:, 1:], torch.zeros_like(mask[:, :1])], 1)
