"""The LSTMs of a Grid LSTM over lines or planes of cells, with backward passes derived by hand.

Kalchbrenner, Danihelka, Graves 2016, https://arxiv.org/abs/1507.01526. A block of N dimensions has one LSTM for each of
them. Depth is the priority dimension: its LSTM reads the new h of the others, and nothing in a layer reads its result.
So a layer is computed in two parts. `scan` advances the other N - 1 dimensions line by line: all cells of a line, an
anti-diagonal of a plane or a step of sequences, at once. `rise` computes the LSTM along depth of all cells at once.

    o, i, f = sigmoid(W H + b);  g = tanh(W_g H + b_g);  m' = f m + i g;  h' = tanh(o m')

The states of a cell are K rows of a table, one for each dimension. After the rows of all cells come those with which a
dimension begins, and a row of zeros.

Notation: n cells of all examples in the order of lines, K = N - 1 dimensions, n' begins, d units, D = K d, I inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.layers.loops.loop import Loop, sigmoid_backward, tanh_backward


@dataclass(frozen=True)
class Wave:
    """The lines of cells, which are computed in sequence, and the rows of the table that each cell reads."""

    sizes: tuple[int, ...]  # Cells of each line
    dimensions: int  # K
    begins: int  # n'
    reads: Tensor  # (n K,) the row that each dimension of each cell reads
    later: Tensor
    """(n K + n',) for each row of the table but the zeros, the place of its reader in `reads`; n K for none."""

    @classmethod
    def of(cls, sizes: Sequence[int], neighbours: Tensor, begins: int = 0) -> Wave:
        """
        Args:
            sizes: cells of each line.
            neighbours: (n, K) the number of the cell in the line before, n + r for the begin r, -1 for zeros. No two
                cells have the same one.
            begins: n'.
        """
        cells, dimensions = neighbours.shape
        rows = torch.arange(dimensions, device=neighbours.device) + dimensions * neighbours
        rows = torch.where(neighbours < cells, rows, neighbours + cells * (dimensions - 1))
        reads = rows.where(neighbours >= 0, cells * dimensions + begins).flatten()
        later = torch.full((cells * dimensions + begins + 1,), len(reads), device=reads.device)
        later = later.index_copy(0, reads, torch.arange(len(reads), device=reads.device))[:-1]
        return cls(tuple(sizes), dimensions, begins, reads, later)

    @classmethod
    def sequences(cls, sizes: Sequence[int], device: torch.device) -> Wave:
        """Sequences, the longest first: step t has `sizes[t]` of them, in falling order. One dimension, which begins in
        each sequence."""
        count, first = sum(sizes), sizes[0] if sizes else 0
        cells = torch.arange(count, device=device)
        each = torch.tensor([*zip((0, *sizes), sizes, strict=False)], dtype=torch.long, device=device).view(-1, 2)
        shift = each[:, 0].repeat_interleave(each[:, 1], output_size=count)  # the size of the step before
        return cls.of(sizes, torch.where(cells < first, cells + count, cells - shift)[:, None], first)

    def split(self, rows: Tensor) -> tuple[Tensor, ...]:
        """The rows (n_t K, ...) of each line in (n K or more, ...)."""
        return rows[: len(self.reads)].split([size * self.dimensions for size in self.sizes])


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
        h0: (n', d) the h with which dimensions begin.
        m0: (n', d) their m.

    Returns:
        h' and m', (n, D) each.
    """
    width, rows = bias.shape[0] // 4, len(wave.reads)
    sums = F.linear(x, weight[:, width:], bias).split(wave.sizes)
    ends = [F.pad(part, (0, 0, 0, 1)) for part in (h0, m0)]  # the begins and the zeros
    h, m = (part[:0] for part in ends)
    found: list[tuple[Tensor, Tensor]] = []
    start = 0
    for reads, line in zip(wave.split(wave.reads), sums, strict=True):
        place = torch.where(reads < rows, reads - start, reads - rows + len(h))  # h and m have the line before
        near, before = (
            torch.cat([part, end]).index_select(0, place).view(len(line), width)
            for part, end in zip((h, m), ends, strict=True)
        )
        found.append(cell(line + F.linear(near, weight[:, :width]), before))
        start += len(h)
        h, m = (part.view(-1, h0.shape[1]) for part in found[-1])
    if not found:
        return x.new_zeros(0, width), x.new_zeros(0, width)
    hidden, cells = zip(*found, strict=True)
    return torch.cat(hidden), torch.cat(cells)


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
        wave, width, rows = self.wave, len(bias) // 4, len(self.wave.reads)
        u, shape = weight[:, :width].t(), (len(x), width)
        gates = torch.addmm(bias, x, weight[:, width:].t())  # first the sums, overwritten line by line
        h_table, m_table = (x.new_empty(rows + wave.begins + 1, width // wave.dimensions) for _ in range(2))
        for table, begin in ((h_table, h0), (m_table, m0)):
            table[rows:-1], table[-1] = begin, 0
        near_rows, before_rows = (x.new_empty(rows, h_table.shape[1]) for _ in range(2))
        hidden, cells, near, before = (
            part.view(shape) for part in (h_table[:rows], m_table[:rows], near_rows, before_rows)
        )
        parts = (gates, gates[:, : 3 * width], *gates.split(width, 1), near, before, hidden, cells)
        by_line = [*(part.split(wave.sizes) for part in parts), *map(wave.split, (near_rows, before_rows, wave.reads))]
        for gates_t, oif, o, i, f, g, near_t, before_t, h, m, near_t_rows, before_t_rows, reads in zip(
            *by_line, strict=True
        ):
            torch.index_select(h_table, 0, reads, out=near_t_rows)
            torch.index_select(m_table, 0, reads, out=before_t_rows)
            gates_t.addmm_(near_t, u)
            oif.sigmoid_()
            torch.mul(f, before_t, out=m).addcmul_(i, g.tanh_())
            torch.mul(o, m, out=h).tanh_()
        self.x, self.weight, self.gates, self.near, self.before = x, weight, gates, near, before
        self.hidden, self.cells = hidden, cells
        return hidden, cells

    def backward(self, d_hidden: Tensor, d_cells: Tensor) -> tuple[Tensor | None, ...]:
        wave, gates, x, weight, rows = self.wave, self.gates, self.x, self.weight, len(self.wave.reads)
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
        tables = [x.new_empty(rows + 1, width // wave.dimensions) for _ in range(2)]
        for table in tables:
            table[-1] = 0
        d_near, d_before = (table[:rows].view_as(d_hidden) for table in tables)
        parts = (
            d_gates,
            d_gates[:, width:].unflatten(1, (3, width)),
            d_o,
            f,
            h_by_m,
            d_near,
            d_before,
            d_hidden,
            d_cells,
        )
        lines = list(zip(*(part.split(wave.sizes) for part in parts), wave.split(wave.later), strict=True))
        last = len(lines) - 1
        for t, (d_gates_t, d_ifg_t, d_o_t, f_t, by_m, d_near_t, d_before_t, d_h, d_m, later) in reversed(
            list(enumerate(lines))
        ):
            if t < last:
                d_h = tables[0].index_select(0, later).view_as(d_h).add_(d_h)
                d_m = tables[1].index_select(0, later).view_as(d_m).add_(d_m)
            d_m = torch.addcmul(d_m, d_h, by_m)
            d_ifg_t.mul_(d_m[:, None])
            d_o_t.mul_(d_h)
            if t or wave.begins:
                torch.mm(d_gates_t, w_near, out=d_near_t)
                torch.mul(d_m, f_t, out=d_before_t)
        d_h0, d_m0 = (table.index_select(0, wave.later[rows:]) for table in tables)
        d_weight = torch.cat([d_gates.t() @ self.near, d_gates.t() @ x], 1) if self.needs[1] else None
        return d_gates @ w_x, d_weight, d_gates.sum(0), d_h0, d_m0


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
