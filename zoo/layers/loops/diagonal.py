"""LSTMs over the lines of a picture, its rows or its diagonals, with a backward pass derived by hand.

van den Oord, Kalchbrenner, Kavukcuoglu 2016, https://arxiv.org/abs/1601.06759, section 3. If row i of a picture is
moved right by i, each column of the skewed picture is a diagonal of the picture. All pixels of a line are computed at
once, from the states of neighbours in the line before:

    o, f, i = sigmoid(W x + U h + b);  g = tanh(W_g x + U_g h + b_g);  c' = f c + i g;  h' = o tanh(c')

Two directions advance in the same loop; the second one reads the picture mirrored. Only real pixels are computed. The
state of each pixel has a slot. Slots of zeros lie before, between and after the lines, so that a neighbour outside the
picture is 0.

Notation: B pictures, N = H W pixels in the order of lines, S slots, D directions (1 or 2), I inputs, h units, k
neighbours. B is the last dimension, so that the pixels of a line are one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

import torch
from torch import Tensor
from torch.nn import functional as F

from zoo.layers.loops.loop import Loop, sigmoid_backward, tanh_backward
from zoo.precision import precise, without_autocast


def cell(sums: Tensor, near: Tensor, c: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """New states h' and c' (h, ...) from W x + b (4h, ...), the h of all neighbours (k h, ...), c and U (4h, k h)."""
    o, f, i, g = (sums + torch.tensordot(u, near, 1)).chunk(4)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


@dataclass(frozen=True)
class Lines:
    """The order of the pixels, line by line, and the slots of their states."""

    size: tuple[int, int]  # H and W
    sizes: tuple[int, ...]  # Pixels of each line
    starts: tuple[int, ...]  # The slot of the first pixel of each line
    near: tuple[tuple[int, ...], ...]
    """For each line, where the neighbours of its first pixel lie in the line before, between its two zeros. The second
    neighbour also gives c."""
    gaps: Tensor  # The slots of zeros
    order: Tensor  # (N,) the number of each pixel in raster order
    inverse: Tensor  # (N,) the inverse of `order`
    inward: tuple[Tensor | None, ...]
    """For each direction, the number in line order (N,) of the pixel that it reads in place of each pixel. None: the
    pixel itself."""
    outward: tuple[Tensor, ...]  # For each direction, the slot (N,) of the state that each pixel receives

    @classmethod
    def rows(cls, height: int, width: int, device: torch.device) -> Lines:
        """Order pixels by rows, in one direction. Neighbours are to the upper left, above and to the upper right."""
        number = torch.arange(height * width, device=device)
        row, column = number // width, number % width
        return cls._of((height, width), row, column, [range(width)] * height, (-1, 0, 1))

    @classmethod
    def diagonals(cls, height: int, width: int, device: torch.device) -> Lines:
        """Order pixels by diagonals, in two directions. Neighbours are above and to the left, or to the right in the
        mirrored direction. There each pixel receives the state of the pixel above, because its own has seen later ones.
        """
        number = torch.arange(height * width, device=device)
        row, column = number // width, number % width
        places = [range(max(0, t - width + 1), min(t + 1, height)) for t in range(height + width - 1)]
        return cls._of((height, width), row + column, row, places, (-1, 0), mirrored=True)

    @classmethod
    def _of(
        cls,
        size: tuple[int, int],
        line: Tensor,
        place: Tensor,
        places: list[range],
        shifts: tuple[int, ...],
        *,
        mirrored: bool = False,
    ) -> Lines:
        """`line` and `place` (N,) of each pixel in raster order; `places` that exist in each line."""
        sizes = tuple(map(len, places))
        starts = tuple(accumulate((size + 1 for size in sizes[:-1]), initial=1))
        moved = [0, *(own.start - before.start for before, own in pairwise(places))]
        near = tuple(tuple(1 + move + shift for shift in shifts) for move in moved)
        origins = torch.tensor([start - own.start for start, own in zip(starts, places, strict=True)])
        slot = origins.to(line.device)[line] + place
        order = slot.argsort()
        inverse = order.argsort()
        inward, outward = list[Tensor | None]([None]), [slot[order]]
        if mirrored:
            inward.append(inverse.view(size).flip(1).flatten()[order])
            above = F.pad(slot.view(size).flip(1), (0, 0, 1, -1))  # slot 0, which holds zeros, above the picture
            outward.append(above.flatten()[order])
        gaps = torch.tensor([*(start - 1 for start in starts), starts[-1] + sizes[-1]], device=line.device)
        return cls(size, sizes, starts, near, gaps, order, inverse, tuple(inward), tuple(outward))

    def enter(self, x: Tensor) -> Tensor:
        """Pictures (B, C, H, W) -> (1, C, N, B). A convolution of 1 x 1 can read either form."""
        return x.permute(1, 2, 3, 0).flatten(1, 2).index_select(1, self.order)[None]

    def leave(self, x: Tensor) -> Tensor:
        """(1, C, N, B) -> pictures (B, C, H, W)."""
        return x[0].index_select(1, self.inverse).unflatten(1, self.size).permute(3, 0, 1, 2)

    def split(self, x: Tensor) -> tuple[Tensor, ...]:
        """The views (..., n B) of the pixels of each line in (..., N B)."""
        count = x.shape[-1] // sum(self.sizes)
        return x.split([size * count for size in self.sizes], -1)

    def split_slots(self, x: Tensor) -> tuple[Tensor, ...]:
        """The views (..., n B) of the slots of each line in (..., S B)."""
        return self._cut(x, self.starts, self.sizes)

    def split_near(self, x: Tensor, neighbour: int) -> tuple[Tensor, ...]:
        """The views (..., n B) of the slots in (..., S B) that each line but the first reads of one neighbour."""
        pairs = zip(self.starts, self.near[1:], strict=False)
        return self._cut(x, [start - 1 + near[neighbour] for start, near in pairs], self.sizes[1:])

    def _cut(self, x: Tensor, firsts: tuple[int, ...] | list[int], sizes: tuple[int, ...]) -> tuple[Tensor, ...]:
        count, parts, end = x.shape[-1] // self.slots, list[int](), 0
        for first, size in zip(firsts, sizes, strict=True):
            parts += [(first - end) * count, size * count]
            end = first + size
        return x.split([*parts, (self.slots - end) * count], -1)[1::2]

    @property
    def slots(self) -> int:
        """S."""
        return self.starts[-1] + self.sizes[-1] + 1


def line_lstm(lines: Lines, x: Tensor, weight: Tensor, bias: Tensor, u: Tensor) -> Tensor:
    """The states of an LSTM at each pixel, added over the directions. They are computed in float32 at least.

    Args:
        lines: the order of the pixels.
        x: inputs (I, N, B) in this order.
        weight: W of each direction (D, 4h, I), the gates in the order o, f, i, g.
        bias: b (D, 4h).
        u: U (D, 4h, k h), the first neighbour first.

    Returns:
        (h, N, B), in the type of the weights.
    """
    run = by_lines if torch.compiler.is_exporting() else _by_loop
    with without_autocast(x.device):
        return run(lines, *map(precise, (x, weight, bias, u))).to(weight.dtype)


def by_lines(lines: Lines, x: Tensor, weight: Tensor, bias: Tensor, u: Tensor) -> Tensor:
    """Compute `line_lstm` in plain differentiable operations. This is the definition of `LineLoop`."""
    sums = torch.tensordot(weight, x, 1) + bias[..., None, None]  # (D, 4h, N, B)
    found = []
    for own, u_own, inward, outward in zip(sums, u, lines.inward, lines.outward, strict=True):
        own = own if inward is None else own.index_select(1, inward)
        h = c = own.new_zeros(u.shape[1] // 4, lines.sizes[0] + 2, x.shape[2])  # a line between two zeros
        states = [h[:, :1]]
        for sums_t, firsts in zip(own.split(lines.sizes, 1), lines.near, strict=True):
            near = [h[:, first : first + sums_t.shape[1]] for first in firsts]
            h, c = cell(sums_t, torch.cat(near), c[:, firsts[1] : firsts[1] + sums_t.shape[1]], u_own)
            h, c = (F.pad(part, (0, 0, 1, 1)) for part in (h, c))
            states.append(h[:, 1:])
        found.append(torch.cat(states, 1).index_select(1, outward))
    return torch.stack(found).sum(0)


def _by_loop(lines: Lines, x: Tensor, weight: Tensor, bias: Tensor, u: Tensor) -> Tensor:
    return LineLoop(lines)(x, weight, bias, u)


class LineLoop(Loop):
    """The recurrence of `by_lines`, with the same arguments and result.

    The derivatives of c' and h' by the sums are computed for all pixels at once, except those that read c.
    """

    def __init__(self, lines: Lines) -> None:
        self.lines = lines

    def forward(self, x: Tensor, weight: Tensor, bias: Tensor, u: Tensor) -> Tensor:
        lines, (directions, rows, _), count = self.lines, weight.shape, x.shape[2]
        width = rows // 4
        self.x = tuple((x if at is None else x.index_select(1, at)).flatten(1) for at in lines.inward)
        gates = x.new_empty(directions, rows, x.shape[1] * count)  # first the sums, overwritten line by line
        for own, x_own, w, b in zip(gates, self.x, weight, bias, strict=True):
            torch.addmm(b[:, None], w, x_own, out=own)
        hidden, cells = (x.new_empty(directions, width, lines.slots * count) for _ in range(2))
        for part in (hidden, cells):
            part.unflatten(2, (-1, count)).index_fill_(2, lines.gaps, 0)
        tanh_cells = x.new_empty(directions, width, gates.shape[2])
        neighbours = [(part, lines.split_near(hidden, k)) for k, part in enumerate(u.split(width, 2))]
        c_near = lines.split_near(cells, 1)
        parts = (gates, gates[:, : 3 * width], *gates.split(width, 1), tanh_cells)
        steps = zip(*map(lines.split, parts), *map(lines.split_slots, (cells, hidden)), strict=True)
        for t, (gates_t, ofi, o, f, i, g, tanh_c, c, h) in enumerate(steps):
            for u_part, near in neighbours if t else ():
                gates_t.baddbmm_(u_part, near[t - 1])
            ofi.sigmoid_()
            torch.mul(i, g.tanh_(), out=c)
            if t:
                c.addcmul_(f, c_near[t - 1])
            torch.mul(o, torch.tanh(c, out=tanh_c), out=h)
        self.weight, self.u, self.gates = weight, u, gates
        self.hidden, self.cells, self.tanh_cells = hidden, cells, tanh_cells
        slots = zip(hidden.unflatten(2, (-1, count)), lines.outward, strict=True)
        states, *others = (h.index_select(1, at) for h, at in slots)
        return states.add_(others[0]) if others else states

    def backward(self, d_states: Tensor) -> tuple[Tensor, ...]:
        lines, gates, tanh_cells, count = self.lines, self.gates, self.tanh_cells, d_states.shape[2]
        width = tanh_cells.shape[1]
        d_hidden, d_cells = torch.zeros_like(self.hidden), torch.empty_like(self.cells)
        for d_h, at in zip(d_hidden.unflatten(2, (-1, count)), lines.outward, strict=True):
            d_h.index_add_(1, at, d_states)
        o, f, i, g = gates.split(width, 1)
        d_gates, d_u = torch.empty_like(gates), torch.zeros_like(self.u)
        d_o, d_f, d_i, d_g = d_gates.split(width, 1)  # first the derivatives of c', and of h' by the sum in o
        sigmoid_backward.grad_input(tanh_cells, o, grad_input=d_o)
        sigmoid_backward.grad_input(g, i, grad_input=d_i)
        tanh_backward.grad_input(i, g, grad_input=d_g)
        neighbours = [
            (u_part, d_u_part, lines.split_near(self.hidden, k), lines.split_near(d_hidden, k))
            for k, (u_part, d_u_part) in enumerate(
                zip(self.u.transpose(1, 2).split(width, 1), d_u.split(width, 2), strict=True)
            )
        ]
        c_near, d_c_near = lines.split_near(self.cells, 1), lines.split_near(d_cells, 1)
        parts = (tanh_backward(o, tanh_cells), f, d_f, d_gates.unflatten(1, (4, width))[:, 1:], d_o, d_gates)
        steps = list(zip(*map(lines.split, parts), *map(lines.split_slots, (d_cells, d_hidden)), strict=True))
        later: tuple[Tensor, Tensor] | None = None  # the gradient of c' and f, of the line after
        for t in reversed(range(len(steps))):
            h_by_c, f_t, d_f_t, d_fig_t, d_o_t, d_gates_t, d_c, d_h = steps[t]
            torch.mul(d_h, h_by_c, out=d_c)
            if later is not None:
                d_c_near[t].addcmul_(*later)
            later = d_c, f_t
            if t:
                sigmoid_backward.grad_input(c_near[t - 1], f_t, grad_input=d_f_t)
            else:
                d_f_t.zero_()
            d_fig_t.mul_(d_c[:, None])
            d_o_t.mul_(d_h)
            for u_part, d_u_part, near, d_near in neighbours if t else ():
                d_near[t - 1].baddbmm_(u_part, d_gates_t)
                d_u_part.baddbmm_(d_gates_t, near[t - 1].transpose(1, 2))
        d_weight = torch.stack([d @ x.T for d, x in zip(d_gates, self.x, strict=True)])
        d_x, *others = ((w.T @ d).unflatten(1, (-1, count)) for w, d in zip(self.weight, d_gates, strict=True))
        for other, mirror in zip(others, lines.inward[1:], strict=True):
            assert mirror is not None
            d_x.add_(other.index_select(1, mirror))  # the mirror is its own inverse
        return d_x, d_weight, d_gates.sum(2), d_u
