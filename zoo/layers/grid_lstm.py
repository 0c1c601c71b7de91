"""The block of a Grid LSTM, and its layers over sequences.

Kalchbrenner, Danihelka, Graves 2016, https://arxiv.org/abs/1507.01526, sections 3.1 and 3.2. A block of N dimensions
reads H = [h_1, ..., h_N] and m_1, ..., m_N. Each dimension has an LSTM, (h'_k, m'_k) = LSTM_k(H, m_k), with weights
(4d, Nd). Depth is the last dimension and has priority: its LSTM reads the h' of the others in place of their h. Both h
and m go up, so that memory has a linear path along depth, as it has along time.

Notation: B sequences of which R are not empty, n cells in the order of lines, L layers, N dimensions, d width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn

from zoo.layers.loops.grid_lstm import RiseLoop, ScanLoop, Wave, cell, rise_by_cells, scan_by_lines
from zoo.layers.masked import groups
from zoo.layers.packing import Packing, Padded
from zoo.layers.walk import scanned
from zoo.precision import precise, without_autocast


class States(NamedTuple):
    """The h and the m of some cells or sequences, (..., width) each."""

    h: Tensor
    m: Tensor

    @classmethod
    def of(cls, both: Tensor) -> States:
        """The halves of a projection (..., 2 width)."""
        return cls(*both.chunk(2, -1))

    def at(self, places: Tensor) -> States:
        """Those of some of the cells, given by their numbers."""
        return States(self.h.index_select(0, places), self.m.index_select(0, places))


class GridBlock(nn.Module):
    """A block of N dimensions; depth is the last one and has priority.

    With several colours the d units are groups, one for each colour. What goes along depth is then masked, so that
    group g of a cell depends on the groups up to g of the cell below (`zoo.layers.masked`).
    """

    depth_mask: Tensor | None
    priority_mask: Tensor | None

    def __init__(self, width: int, dimensions: int, *, colours: int = 1) -> None:
        super().__init__()
        self.width, self.sides = width, dimensions - 1
        self.others = nn.Linear(dimensions * width, 4 * self.sides * width)  # each gate has the units of all dimensions
        self.priority = nn.Linear(dimensions * width, 4 * width)
        one = groups(width, colours)
        seen = (one <= one[:, None]).to(self.others.weight.dtype) if colours > 1 else None
        self.register_buffer("depth_mask", None if seen is None else seen.repeat(4 * self.sides, 1), persistent=False)
        self.register_buffer("priority_mask", None if seen is None else seen.repeat(4, 1), persistent=False)
        self._initialise()

    def scan(self, wave: Wave, x: Tensor, begin: States | None = None, *, more: Tensor | None = None) -> States:
        """Advance all dimensions but depth over the cells of a wave. Returns their states (n, (N - 1) d).

        Args:
            wave: The lines of cells.
            x: (n, d) the h of the layer below, and further inputs (n, I) after it where there are `more` weights.
            begin: (n', (N - 1) d) each, the states at the beginning of a dimension, for the first n' cells. None: 0.
            more: (4 (N - 1) d, I) the weights of the further inputs.
        """
        weight = self._masked_others()
        weight = weight if more is None else torch.cat([weight, more], 1)
        nothing = x.new_zeros(0, self.sides * self.width)
        with without_autocast(x.device):
            inputs = [precise(part) for part in (x, weight, self.others.bias, *(begin or (nothing, nothing)))]
            exported = torch.compiler.is_exporting()
            found = scan_by_lines(wave, *inputs) if exported else ScanLoop(wave)(*inputs)
        return States(*(part.to(weight.dtype) for part in found))

    def rise(self, near: Tensor, below: States) -> States:
        """Advance depth: the states (n, d) from the h' of the other dimensions (n, (N - 1) d) and the layer below."""
        weight = self.priority.weight
        if self.priority_mask is not None:
            weight = weight * self.priority_mask.repeat(1, 1 + self.sides)
        with without_autocast(near.device):
            inputs = [precise(part) for part in (near, *below, weight, self.priority.bias)]
            found = (rise_by_cells if torch.compiler.is_exporting() else RiseLoop())(*inputs)
        return States(*(part.to(weight.dtype) for part in found))

    def forward(self, wave: Wave, below: States, begin: States | None = None) -> tuple[States, States]:
        """The states along depth (n, d), and those of the other dimensions (n, (N - 1) d), of all cells."""
        sides = self.scan(wave, below.h, begin)
        return self.rise(sides.h, below), sides

    def _masked_others(self) -> Tensor:
        if self.depth_mask is None:
            return self.others.weight
        near, depth = self.others.weight.split([self.sides * self.width, self.width], 1)
        return torch.cat([near, depth * self.depth_mask], 1)

    def _initialise(self) -> None:
        for linear in (self.others, self.priority):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)


class GridStack(nn.Module):
    """The blocks of L layers. With `tied` all layers have one block, and its weights fit any number of layers."""

    def __init__(self, width: int, dimensions: int, layers: int, *, tied: bool, colours: int = 1) -> None:
        super().__init__()
        self.layers = layers
        self.blocks: Sequence[GridBlock] = nn.ModuleList(  # type: ignore[assignment]
            GridBlock(width, dimensions, colours=colours) for _ in range(1 if tied else layers)
        )

    def __iter__(self) -> Iterator[GridBlock]:
        """The block of each layer, from below."""
        return (self.blocks[number % len(self.blocks)] for number in range(self.layers))


class GridSequences(GridStack):
    """Layers of two dimensions, time and depth, over sequences."""

    def __init__(self, width: int, layers: int, *, tied: bool) -> None:
        super().__init__(width, 2, layers, tied=tied)

    def forward(self, packing: Packing, below: States, begin: States | None) -> tuple[Tensor, States]:
        """The h of the top layer at each position (n, d), and the states after the last one (B, L, d).

        Args:
            packing: Of the positions of B sequences.
            below: (n, d) what enters the first layer at each position.
            begin: (B, L, d) the states along time before the first position. None: 0. An empty sequence keeps them.
        """
        rows = packing.shape[0]
        if begin is None:
            nothing = below.h.new_zeros(rows, self.layers, below.h.shape[1])
            begin = States(nothing, nothing)
        run = self._scanned if isinstance(packing, Padded) else self._by_steps
        after = []
        for number, block in enumerate(self):
            below, last = run(block, packing, below, States(begin.h[:, number], begin.m[:, number]))
            after.append(last)
        return below.h, States(*(torch.stack(parts, 1) for parts in zip(*after, strict=True)))

    @staticmethod
    def _by_steps(block: GridBlock, packing: Packing, below: States, begin: States) -> tuple[States, States]:
        first = begin.at(packing.order)
        found, time = block(Wave.sequences(packing.batch_sizes), below, first)
        last = time.at(packing.last)
        after = (old.to(new.dtype).index_copy(0, packing.order, new) for old, new in zip(begin, last, strict=True))
        return found, States(*after)

    @staticmethod
    def _scanned(block: GridBlock, packing: Padded, below: States, begin: States) -> tuple[States, States]:
        """As `_by_steps`, while the network is exported."""
        width = block.width
        sums = nn.functional.linear(below.h, block.others.weight[:, width:], block.others.bias)
        u = block.others.weight[:, :width]

        def step(x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            return cell(x + state[0] @ u.t(), state[1])

        (near,), last = scanned(step, lambda state: (state[0],), sums, packing, tuple(begin))
        return block.rise(near, below), States(*last)


class Plane:
    """The cells of S source words and T target words of B sentences, n = S T B, in the order of anti-diagonals.

    i and j count from 0. A layer that scans the source backwards reads each source in reverse, and its i counts the
    words in this order. Padding comes last in every scan, where no real cell reads it.
    """

    def __init__(self, lengths: Tensor, rows: int, columns: int) -> None:
        """
        Args:
            lengths: (B,) words of each source.
            rows: S.
            columns: T.
        """
        count, device = lengths.shape[0], lengths.device
        self.wave, self.lengths, self.cells = Wave.plane(rows, columns, count), lengths, rows * columns * count
        i, j = torch.arange(rows, device=device)[:, None], torch.arange(columns, device=device)
        order = ((i + j) * rows + i).flatten().argsort()  # (S T,) the cells of one sentence in the order of lines
        self.i, self.j = order // columns, order % columns
        self.place = order.argsort().view(rows, columns)  # (S, T) the inverse
        self.example = torch.arange(count, device=device)

    def pairs(self, source: Tensor, target: Tensor) -> Tensor:
        """(n, F) the sums of a source part (B, S, F) and a target part (B, T, F)."""
        parts = source.transpose(0, 1).index_select(0, self.i), target.transpose(0, 1).index_select(0, self.j)
        return (parts[0] + parts[1]).flatten(0, 1)

    def begin(self, entering: Tensor, beside: Tensor) -> States:
        """The states (n, 2 d) where a dimension begins, from those of the cells i = 0 (B, T, 2 d) and of the cells j = 0
        (B, S, 2 d), with h and m side by side."""
        parts = []
        for places, given in ((self.place[0], entering), (self.place[:, 0], beside)):
            number = (places[:, None] * self.example.shape[0] + self.example).flatten()
            given = given.transpose(0, 1).flatten(0, 1)
            parts.append(given.new_zeros(self.cells, given.shape[1]).index_copy(0, number, given).chunk(2, 1))
        return States(*(torch.cat(both, 1) for both in zip(*parts, strict=True)))

    def turned(self, source: Tensor, layer: int) -> Tensor:
        """A source part (B, S, F) in the order in which a layer, counted from 0, scans it."""
        if layer % 2 == 0:
            return source
        order = self._reverse(torch.arange(source.shape[1], device=source.device)[:, None]).t()  # (B, S)
        return source.gather(1, order[..., None].expand_as(source))

    @cached_property
    def mirror(self) -> Tensor:
        """(n,) the cell of the same words in the other direction of the scan. Its own inverse."""
        place = self.place[self._reverse(self.i[:, None]), self.j[:, None]]  # (S T, B)
        return (place * self.example.shape[0] + self.example).flatten()

    def ends(self, example: Tensor, column: Tensor) -> Tensor:
        """(N,) the cells of the last source word in a scan, for some examples (N,) and their target words (N,)."""
        last = (self.lengths - 1).clamp(min=0).index_select(0, example)
        return self.place[last, column] * self.example.shape[0] + example

    def _reverse(self, i: Tensor) -> Tensor:
        """(..., B) the word that each of the words i (..., 1) of a source is in reverse."""
        return torch.where(i < self.lengths, self.lengths - 1 - i, i)
