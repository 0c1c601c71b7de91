"""The LSTMs of a Grid LSTM over a line or a plane of cells, with backward passes derived by hand.

Kalchbrenner, Danihelka, Graves 2016, https://arxiv.org/abs/1507.01526. A block of N dimensions has one LSTM for each of
them. Depth is the priority dimension: its LSTM reads the new h of the others, and nothing in a layer reads its result.
So a layer is computed in two parts. `scan` advances the other N - 1 dimensions line by line: all cells of a line, an
anti-diagonal of a plane or a step of sequences, at once. `rise` computes the LSTM along depth of all cells at once.

    o, i, f = sigmoid(W H + b);  g = tanh(W_g H + b_g);  m' = f m + i g;  h' = tanh(o m')

Notation: n cells in the order of lines (with the examples of a batch, if there are any), K = N - 1 dimensions, d units,
D = K d, I inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.layers.loops.loop import Loop, sigmoid_backward, tanh_backward


@dataclass(frozen=True)
class Wave:
    """The lines of cells that are computed one after the other."""

    sizes: tuple[int, ...]  # Cells of each line
    reads: tuple[tuple[tuple[int, int, int], ...], ...]
    """For each line and dimension: the first cell that reads a cell of the line before, the cell that it reads, and the
    number of such cells. The cells that follow one another read cells that follow one another. A cell that reads
    nothing is at the beginning of the dimension."""

    @classmethod
    def sequences(cls, sizes: Sequence[int]) -> Wave:
        """Sequences, the longest first: step t has `sizes[t]` of them, in falling order. One dimension."""
        starts = [0, *accumulate(sizes)]
        reads = [(starts[t], starts[max(t - 1, 0)], size if t else 0) for t, size in enumerate(sizes)]
        return cls(tuple(sizes), tuple((read,) for read in reads))

    @classmethod
    def plane(cls, rows: int, columns: int, count: int) -> Wave:
        """The cells (i, j) of `rows` and `columns`, each for `count` examples, by anti-diagonals i + j and inside by i.

        Two dimensions: along the first a cell reads (i - 1, j), along the second (i, j - 1).
        """
        lines = diagonals(rows, columns)
        starts = list(accumulate((len(line) for line in lines), initial=0))
        reads = []
        for t, line in enumerate(lines):
            before = lines[t - 1] if t else range(0)
            places = []
            for shift in (1, 0):
                first = max(line.start, before.start + shift)
                size = max(0, min(line.stop, before.stop + shift) - first)
                own, read = starts[t] + first - line.start, starts[t - 1] + first - shift - before.start
                places.append((own * count, read * count, size * count) if t else (0, 0, 0))
            reads.append(tuple(places))
        return cls(tuple(len(line) * count for line in lines), tuple(reads))


def diagonals(rows: int, columns: int) -> list[range]:
    """The rows of the cells of each anti-diagonal."""
    return [range(max(0, t - columns + 1), min(t + 1, rows)) for t in range(rows + columns - 1)]


def cell(sums: Tensor, m: Tensor) -> tuple[Tensor, Tensor]:
    """h' and m' (..., D) from W H + b (..., 4D), with the gates in the order o, i, f, g, and from m."""
    o, i, f, g = sums.chunk(4, -1)
    m = f.sigmoid() * m + i.sigmoid() * g.tanh()
    return (o.sigmoid() * m).tanh(), m


def scan_by_lines(wave: Wave, x: Tensor, weight: Tensor, bias: Tensor, h0: Tensor, m0: Tensor) -> tuple[Tensor, Tensor]:
    """Advance K dimensions from line to line. This is the definition of `ScanLoop`.

    Args:
        wave: the lines.
        x: (n, I) what the cells read besides the h of their neighbours.
        weight: (4D, D + I), the columns of the neighbours first. Each gate has the units of all dimensions.
        bias: (4D,).
        h0: (n', D) the h at the beginning of a dimension, for the first n' cells; 0 for the others. It is not read at
            cells that have a neighbour.
        m0: (n', D) the m there.

    Returns:
        h' and m', (n, D) each.
    """
    count, width = len(x), len(bias) // 4
    sums = F.linear(x, weight[:, width:], bias).split(wave.sizes)
    begins = [F.pad(part, (0, 0, 0, count - len(part))).split(wave.sizes) for part in (h0, m0)]
    states: list[list[Tensor]] = [[], []]
    start = 0
    for t, size in enumerate(wave.sizes):
        near = []
        for begin, lines in zip(begins, states, strict=True):
            parts = []
            for k, (own, read, length) in enumerate(wave.reads[t]):
                at_begin = begin[t].chunk(len(wave.reads[t]), 1)[k]
                if length:
                    first, before = own - start, start - wave.sizes[t - 1]
                    neighbours = lines[-1].chunk(len(wave.reads[t]), 1)[k][read - before :][:length]
                    at_begin = torch.cat([at_begin[:first], neighbours, at_begin[first + length :]])
                parts.append(at_begin)
            near.append(torch.cat(parts, 1))
        found = cell(sums[t] + F.linear(near[0], weight[:, :width]), near[1])
        for lines, line in zip(states, found, strict=True):
            lines.append(line)
        start += size
    h, m = (torch.cat(lines) if lines else x.new_zeros(0, width) for lines in states)
    return h, m


def rise_by_cells(near: Tensor, h: Tensor, m: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The LSTM of the priority dimension, for all cells. This is the definition of `RiseLoop`.

    Args:
        near: (n, D) the new h of the other dimensions.
        h: (n, d) the h of the layer below.
        m: (n, d) its m.
        weight: (4d, D + d).
        bias: (4d,).

    Returns:
        h' and m', (n, d) each.
    """
    return cell(F.linear(torch.cat([near, h], 1), weight, bias), m)


class ScanLoop(Loop):
    """The recurrence of `scan_by_lines`, with the same arguments after the lines, and the same result."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave

    def forward(self, x: Tensor, weight: Tensor, bias: Tensor, h0: Tensor, m0: Tensor) -> tuple[Tensor, Tensor]:
        sizes, width = self.wave.sizes, len(bias) // 4
        u = weight[:, :width].t()
        gates = torch.addmm(bias, x, weight[:, width:].t())  # first the sums, overwritten line by line
        near, before = (x.new_zeros(len(x), width) for _ in range(2))
        near[: len(h0)], before[: len(m0)] = h0, m0
        hidden, cells = torch.empty_like(near), torch.empty_like(near)
        parts = (gates, gates[:, : 3 * width], *gates.split(width, 1), near, before, hidden, cells)
        lines = zip(*(part.split(sizes) for part in parts), self._moves(hidden, near), self._moves(cells, before))
        for t, (gates_t, oif, o, i, f, g, near_t, before_t, h, m, h_moves, m_moves) in enumerate(lines):
            for read, own in (*h_moves, *m_moves):
                own.copy_(read)
            if t or len(h0):
                gates_t.addmm_(near_t, u)
            oif.sigmoid_()
            torch.mul(f, before_t, out=m).addcmul_(i, g.tanh_())
            torch.mul(o, m, out=h).tanh_()
        self.x, self.weight, self.gates, self.near, self.before = x, weight, gates, near, before
        self.hidden, self.cells, self.begun = hidden, cells, len(h0)
        return hidden, cells

    def backward(self, d_hidden: Tensor, d_cells: Tensor) -> tuple[Tensor | None, ...]:
        wave, gates, x, weight = self.wave, self.gates, self.x, self.weight
        width = d_hidden.shape[1]
        w_near, w_x = weight[:, :width], weight[:, width:]
        o, i, f, g = gates.split(width, 1)
        d_gates = torch.empty_like(gates)  # first the derivatives of m', and of h' by the sum in o
        d_o, d_i, d_f, d_g = d_gates.split(width, 1)
        sigmoid_backward.grad_input(tanh_backward(self.cells, self.hidden), o, grad_input=d_o)
        sigmoid_backward.grad_input(g, i, grad_input=d_i)
        sigmoid_backward.grad_input(self.before, f, grad_input=d_f)
        tanh_backward.grad_input(i, g, grad_input=d_g)
        h_by_m = tanh_backward(o, self.hidden)
        d_h, d_m, d_near = d_hidden.clone(), d_cells.clone(), torch.empty_like(self.near)
        d_ifg = d_gates[:, width:].unflatten(1, (3, width))
        parts = (d_gates, d_ifg, d_o, f, h_by_m, d_h, d_m, d_near)
        lines = zip(*(part.split(wave.sizes) for part in parts), self._moves(d_h, d_near), self._moves(d_m, d_m))
        begun = self.begun and (self.needs[3] or self.needs[4])
        for t, (d_gates_t, d_ifg_t, d_o_t, f_t, h_by_m_t, d_h_t, d_m_t, d_near_t, h_moves, m_moves) in reversed(
            list(enumerate(lines))
        ):
            d_m_t.addcmul_(d_h_t, h_by_m_t)
            d_ifg_t.mul_(d_m_t[:, None])
            d_o_t.mul_(d_h_t)
            if t or begun:
                torch.mm(d_gates_t, w_near, out=d_near_t)
                d_m_t.mul_(f_t)
            for read, own in (*h_moves, *m_moves):
                read.add_(own)
        d_h0 = d_m0 = None
        if begun:
            for part in (d_near, d_m):
                for _, own in (move for moves in self._moves(part, part) for move in moves):
                    own.zero_()
            d_h0, d_m0 = d_near[: self.begun], d_m[: self.begun]
        elif self.needs[3] or self.needs[4]:
            d_h0 = d_m0 = x.new_zeros(0, width)
        d_weight = torch.cat([d_gates.t() @ self.near, d_gates.t() @ x], 1) if self.needs[1] else None
        return d_gates @ w_x, d_weight, d_gates.sum(0), d_h0, d_m0

    def _moves(self, read: Tensor, own: Tensor) -> list[list[tuple[Tensor, Tensor]]]:
        """The views of what each line reads of the line before, in the tensors `read` and `own` (n, D)."""
        parts = len(self.wave.reads[0]) if self.wave.reads else 1
        pairs = list(zip(read.chunk(parts, 1), own.chunk(parts, 1), strict=True))
        return [
            [
                (read.narrow(0, theirs, size), own.narrow(0, mine, size))
                for (read, own), (mine, theirs, size) in zip(pairs, places, strict=True)
                if size
            ]
            for places in self.wave.reads
        ]


class RiseLoop(Loop):
    """The LSTM of `rise_by_cells`, with the same arguments and the same result."""

    def forward(self, near: Tensor, h: Tensor, m: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        width = h.shape[1]
        others = weight.shape[1] - width
        gates = torch.addmm(bias, near, weight[:, :others].t()).addmm_(h, weight[:, others:].t())
        o, i, f, g = gates.split(width, 1)
        gates[:, : 3 * width].sigmoid_()
        cells = torch.mul(f, m).addcmul_(i, g.tanh_())
        hidden = torch.mul(o, cells).tanh_()
        self.inputs, self.weight, self.gates, self.states = (near, h, m), weight, gates, (hidden, cells)
        return hidden, cells

    def backward(self, d_hidden: Tensor, d_cells: Tensor) -> tuple[Tensor | None, ...]:
        (near, h, m), weight, (hidden, cells) = self.inputs, self.weight, self.states
        width = h.shape[1]
        others = weight.shape[1] - width
        o, i, f, g = self.gates.split(width, 1)
        d_gates = torch.empty_like(self.gates)
        d_o, d_i, d_f, d_g = d_gates.split(width, 1)
        d_sum = tanh_backward(d_hidden, hidden)
        sigmoid_backward.grad_input(d_sum * cells, o, grad_input=d_o)
        d_m = torch.addcmul(d_cells, d_sum, o)
        torch.mul(d_m, m, out=d_sum)
        sigmoid_backward.grad_input(d_sum, f, grad_input=d_f)
        sigmoid_backward.grad_input(torch.mul(d_m, g, out=d_sum), i, grad_input=d_i)
        tanh_backward.grad_input(torch.mul(d_m, i, out=d_sum), g, grad_input=d_g)
        d_weight = torch.cat([d_gates.t() @ near, d_gates.t() @ h], 1) if self.needs[3] else None
        d_inputs = (d_gates @ weight[:, :others], d_gates @ weight[:, others:], d_m.mul_(f))
        return *d_inputs, d_weight, d_gates.sum(0)
