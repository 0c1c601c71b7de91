"""A pyramid of LSTMs: each layer reads half as many positions as the one below (Chan et al. 2016, section 3.1).

Notation: B rows of at most T positions, N real ones, N' after joining, D width, n hidden units per direction.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from zoo.layers.packing import Packing, Padded
from zoo.layers.recurrent import LSTM


class PyramidLSTM(nn.Module):
    """Layers of LSTMs that read in both directions. Each but the first joins two neighbouring states of the one below,
    with `dropout` before it."""

    def __init__(self, input_size: int, hidden_size: int, pyramids: int, dropout: float = 0.0) -> None:
        """`pyramids` is the number of layers above the first."""
        super().__init__()
        sizes = [input_size, *[4 * hidden_size] * pyramids]
        self.layers = nn.ModuleList(LSTM(size, hidden_size, bidirectional=True) for size in sizes)
        self.dropout = nn.Dropout(dropout)
        self.width = 2 * hidden_size
        self.joins = 2**pyramids

    def forward(self, x: Tensor, packing: Packing) -> tuple[Tensor, Packing, Tensor]:
        """x (N, D) -> the states h at the top (N', 2 n), their packing of (B, T / `joins`), and for each row the last
        state of each direction (B, 2 n)."""
        h, (last, _) = self.layers[0](x, packing)
        for layer in list(self.layers)[1:]:
            pairs, packing = joined(self.dropout(h), packing)
            h, (last, _) = layer(pairs, packing)
        return h, packing, last.transpose(0, 1).flatten(1)


def joined(x: Tensor, packing: Packing) -> tuple[Tensor, Packing]:
    """x (N, D) -> (N', 2 D), with its packing: positions 2t and 2t + 1 of a row side by side at position t.

    A row of n positions has n / 2 of them afterwards, rounded up, and an odd last position has zeros beside it. Rows
    are prefixes, and their lengths are known from the packing, so that no device is waited for.
    """
    if isinstance(packing, Padded):
        grid = packing.unpack(x)  # (B, T, D)
        after = torch.cat([grid[:, 1:], grid.new_zeros(grid.shape[0], 1, grid.shape[2])], 1)
        halved = Padded(packing.mask[:, ::2].contiguous())
        return halved.pack(torch.cat([grid[:, ::2], after[:, ::2]], 2)), halved
    first, second = (torch.from_numpy(part).to(x.device) for part in _pairs(packing.batch_sizes))
    with_zeros = torch.cat([x, x.new_zeros(1, x.shape[1])])  # the partner of an odd last position
    pairs = torch.cat([x.index_select(0, first), with_zeros.index_select(0, second)], 1)
    return pairs, _halved(packing, first)


def _pairs(sizes: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The packed position of each even time step (N',), and of the step after it, or N if there is none."""
    begins = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    count = np.asarray(sizes[::2], np.int64)
    after = np.zeros_like(count)
    after[: len(sizes) // 2] = sizes[1::2]
    rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    first = np.repeat(begins[: len(sizes) : 2], count) + rank
    next_begin = np.append(begins[1 : len(sizes) : 2], begins[-1])[: len(count)]
    second = np.where(rank < np.repeat(after, count), np.repeat(next_begin, count) + rank, begins[-1])
    return first, second


def _halved(packing: Packing, kept: Tensor) -> Packing:
    """The packing of every second position; `kept` (N',) are the packed ones of even time steps."""
    steps, halved = packing.shape[-1], -(-packing.shape[-1] // 2)
    sizes = packing.batch_sizes[::2]
    row, time = packing.row.index_select(0, kept), packing.time.index_select(0, kept) // 2
    begin = torch.tensor([0, *np.cumsum(sizes)[:-1]] if sizes else [], device=kept.device, dtype=torch.long)
    length = packing.time.index_select(0, packing.last) // 2 + 1  # (R,) after joining
    rank = torch.arange(len(kept), device=kept.device) - begin.index_select(0, time)
    mirrored = length.index_select(0, rank) - 1 - time
    return Packing(
        shape=(*packing.shape[:-1], halved),
        batch_sizes=sizes,
        cell=packing.cell.index_select(0, kept) // max(steps, 1) * halved + time,
        row=row,
        flip=begin.index_select(0, mirrored) + rank,
        order=packing.order,
        last=begin.index_select(0, length - 1) + torch.arange(len(length), device=kept.device),
    )
