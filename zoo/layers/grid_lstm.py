"""The block of a Grid LSTM, and its layers over sequences.

Kalchbrenner, Danihelka, Graves 2016, https://arxiv.org/abs/1507.01526, sections 3.1 and 3.2. A block of N dimensions
reads H = [h_1, ..., h_N] and m_1, ..., m_N. Each dimension has an LSTM, (h'_k, m'_k) = LSTM_k(H, m_k), with weights
(4d, Nd). Depth is the last dimension and has priority: its LSTM reads the h' of the others in place of their h. Both h
and m go up, so that memory has a linear path along depth, as it has along time.

Notation: B sequences, R of them not empty, n cells in the order of lines, L layers, N dimensions, d width.
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

FORGET = 2
"""Index of the forget gate; the order is output, input, forget, candidate."""

GAIN = 2.0
"""The norm of the orthogonal matrices at the start. h = tanh(o m) is about half of m then, and fades by a norm of 1."""


class States(NamedTuple):
    """The h and the m of some cells or sequences, (..., width) each."""

    h: Tensor
    m: Tensor

    @classmethod
    def of(cls, both: Tensor) -> States:
        """The halves of a projection (..., 2 width)."""
        return cls(*both.chunk(2, -1))

    def at(self, places: Tensor) -> States:
        """The states of some cells, given by their numbers."""
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
            begin: (n', d) the states with which dimensions begin, as the wave reads them. None: it reads none.
            more: (4 (N - 1) d, I) the weights of the further inputs.
        """
        weight = self._masked_others()
        weight = weight if more is None else torch.cat([weight, more], 1)
        nothing = x.new_zeros(0, self.width)
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
        """Make the (d, d) matrix from each dimension to each gate orthogonal, and open the forget gates."""
        for linear in (self.others, self.priority):
            for gate in linear.weight.detach().split(self.width, 0):
                for matrix in gate.split(self.width, 1):
                    nn.init.orthogonal_(matrix, GAIN)
            nn.init.zeros_(linear.bias)
            nn.init.ones_(linear.bias.chunk(4)[FORGET])


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
        rows, exported = packing.shape[0], isinstance(packing, Padded)
        if begin is None:
            nothing = below.h.new_zeros(rows, self.layers, below.h.shape[1])
            begin = States(nothing, nothing)
        wave = None if exported else Wave.sequences(packing.batch_sizes, below.h.device)
        after = []
        for number, block in enumerate(self):
            first = States(begin.h[:, number], begin.m[:, number])
            if isinstance(packing, Padded):
                below, last = self._scanned(block, packing, below, first)
            else:
                assert wave is not None
                below, time = block(wave, below, first.at(packing.order))
                last = States(*(_replaced(*pair, packing) for pair in zip(first, time, strict=True)))
            after.append(last)
        return below.h, States(*(torch.stack(parts, 1) for parts in zip(*after, strict=True)))

    @staticmethod
    def _scanned(block: GridBlock, packing: Padded, below: States, begin: States) -> tuple[States, States]:
        """The states along depth (n, d), and those along time after each sequence, while the network is exported."""
        width = block.width
        sums = nn.functional.linear(below.h, block.others.weight[:, width:], block.others.bias)
        u = block.others.weight[:, :width]

        def step(x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            return cell(x + state[0] @ u.t(), state[1])

        (near,), last = scanned(step, lambda state: (state[0],), sums, packing, tuple(begin))
        return block.rise(near, below), States(*last)


def _replaced(before: Tensor, time: Tensor, packing: Packing) -> Tensor:
    """The states `before` (B, d), and in their place those after the last position of the sequences that have one."""
    return before.to(time.dtype).index_copy(0, packing.order, time.index_select(0, packing.last))


def waits_for_lengths(device: torch.device) -> bool:
    """Whether the processor would have to wait until a device has computed lengths, to know them as numbers."""
    return device.type != "cpu"


class Plane:
    """The cells of S source words and T target words of B sentences, in the order of anti-diagonals i + j.

    i and j count from 0. A layer that scans the source backwards reads each source in reverse, and its i counts the
    words in this order. On a CPU only the n cells of real words exist. On other devices, which would have to wait for
    the lengths, n = S T B; padding comes last in every scan, where no real cell reads it.
    """

    def __init__(
        self, source: Tensor, target: Tensor | None, size: tuple[int, int], *, sides: bool, beside: bool
    ) -> None:
        """
        Args:
            source: (B,) the lengths of the sources, at least 1.
            target: (B,) the lengths of the targets; None: 1.
            size: S and T.
            sides: whether there are states with which the first dimension begins, one for each target word.
            beside: whether there are states with which the second dimension begins, one for each source word.
        """
        (rows, columns), count, device = size, source.shape[0], source.device
        exact = not waits_for_lengths(device)
        source_end = source if exact else torch.full((count,), rows)
        target_end = torch.full((count,), columns) if target is None or not exact else target
        i, j = torch.arange(rows), torch.arange(columns)
        real_i, real_j = i < source_end[:, None], j < target_end[:, None]  # (B, S), (B, T)
        line = torch.arange(rows + columns - 1)[:, None, None]
        j = line - i[:, None]
        real = (i[:, None] < source_end) & (j >= 0) & (j < target_end)  # (S + T - 1, S, B)
        sizes = [size for size in real.sum((1, 2)).tolist() if size]
        line, i, example = real.nonzero().unbind(1)  # (n,) each
        j, self.cells = line - i, len(i)
        number = torch.full((count, rows + 1, columns + 1), -1)  # (B, 1 + S, 1 + T), with the cells before the first
        number[example, i + 1, j + 1] = torch.arange(self.cells)
        begins, edges = 0, []
        for asked, edge, exists in ((sides, number[:, 0, 1:], real_j), (beside, number[:, 1:, 0], real_i)):
            if asked:
                edges.append(exists.flatten().nonzero().squeeze(1))
                edge[exists] = self.cells + begins + torch.arange(len(edges[-1]))
                begins += len(edges[-1])
        neighbours = torch.stack([number[example, i, j + 1], number[example, i + 1, j]], 1)
        self.wave = Wave.of(sizes, neighbours.to(device), begins)
        self.number, self.lengths = number.to(device), source
        self.example, self.i, self.j = example.to(device), i.to(device), j.to(device)
        self.edges = [edge.to(device) for edge in edges]

    def pairs(self, source: Tensor, target: Tensor) -> Tensor:
        """(n, F) the sums of a source part (B, S, F) and a target part (B, T, F)."""
        rows, columns = (self.example * part.shape[1] + at for part, at in ((source, self.i), (target, self.j)))
        return source.flatten(0, 1).index_select(0, rows) + target.flatten(0, 1).index_select(0, columns)

    def begin(self, *parts: Tensor) -> States:
        """The states (n', d) with which dimensions begin: (B, T, 2 d) of the first dimension and (B, S, 2 d) of the
        second, as far as the plane has them, with h and m side by side."""
        pairs = zip(parts, self.edges, strict=True)
        return States.of(torch.cat([part.flatten(0, 1).index_select(0, edge) for part, edge in pairs]))

    def turned(self, source: Tensor, layer: int) -> Tensor:
        """A source part (B, S, F) in the order in which a layer, counted from 0, scans it."""
        if layer % 2 == 0:
            return source
        i = torch.arange(source.shape[1], device=source.device)
        order = self._reverse(i, self.lengths[:, None])  # (B, S)
        return source.gather(1, order[..., None].expand_as(source))

    @cached_property
    def mirror(self) -> Tensor:
        """(n,) the cell of the same words in the other direction of the scan. Its own inverse."""
        i = self._reverse(self.i, self.lengths.index_select(0, self.example))
        return self.number[self.example, i + 1, self.j + 1]

    def ends(self, example: Tensor, column: Tensor) -> Tensor:
        """(N,) the cells of the last source word in a scan, for some examples (N,) and their target words (N,)."""
        return self.number[example, self.lengths.index_select(0, example), column + 1]

    def laid_out(self, states: Tensor) -> Tensor:
        """(n, F) of a plane with one target word -> (B, S, F)."""
        count, rows = self.number.shape[0], self.number.shape[1] - 1
        empty = states.new_zeros(count * rows, states.shape[1])
        return empty.index_copy(0, self.example * rows + self.i, states).view(count, rows, -1)

    @staticmethod
    def _reverse(i: Tensor, lengths: Tensor) -> Tensor:
        """The word that word i of a source is in reverse. Padding stays where it is."""
        return torch.where(i < lengths, lengths - 1 - i, i)
