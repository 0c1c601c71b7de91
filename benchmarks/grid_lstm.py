"""The blocks of grid_lstm against the bare products of its anti-diagonals. Run: python -m benchmarks.grid_lstm

Two layers of 20 x 20 cells, 1 and 8 sentences, 64, 128 and 256 units: forward and backward, from the inputs along depth
to the h of the top layer, the second layer in the other direction. `layers`: as the network computes them. `products`:
the matrix products that this needs and nothing else, forward and backward. Those with the states of neighbours are one
for each anti-diagonal, the others one for all cells. `cells`: block by block, as the equations are written, with two
products for the gates of a block. `readable`: the plain form that defines a layer, under autograd. `compiled`: the
same with torch.compile on its step.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from benchmarks.timing import over_batches, paired, ratio
from zoo.layers import grid_lstm
from zoo.layers.grid_lstm import GridStack, Plane, States
from zoo.layers.loops import grid_lstm as loops

SIZE, LAYERS, SHAPES = 20, 2, ((1, 64), (1, 128), (8, 64), (8, 128), (8, 256))
PAIRS = {
    "layers_by_products": ("layers", "products"),
    "cells_by_layers": ("cells", "layers"),
    "readable_by_layers": ("readable", "layers"),
    "compiled_by_layers": ("compiled", "layers"),
}
CELL = loops.cell
torch._dynamo.config.recompile_limit = 200
COMPILED_CELL = torch.compile(CELL, dynamic=True)


def products(stack: GridStack, plane: Plane) -> Callable[[], None]:
    """The products of all layers, forward and backward, on random numbers."""
    width, count, sizes = stack.blocks[0].width, plane.cells, plane.wave.sizes
    near, gates, d_near = (torch.randn(count, size * width) for size in (2, 8, 2))
    depth, d_depth, d_rise = (torch.randn(count, size * width) for size in (1, 1, 4))

    def step() -> None:
        for block in stack:
            others, rise = block.others.weight.detach(), block.priority.weight.detach()
            u, w = others[:, : 2 * width], others[:, 2 * width :]
            p, q = rise[:, : 2 * width], rise[:, 2 * width :]
            torch.mm(depth, w.t(), out=gates)
            for x, y in zip(near.split(sizes), gates.split(sizes), strict=True):
                y.addmm_(x, u.t())
            torch.mm(near, p.t(), out=d_rise).addmm_(depth, q.t())
            for gradient, x in ((d_rise, near), (d_rise, depth), (gates, near), (gates, depth)):
                gradient.t() @ x
            torch.mm(d_rise, p, out=d_near)
            torch.mm(d_rise, q, out=d_depth)
            for x, y in zip(d_near.split(sizes), gates.split(sizes), strict=True):
                torch.mm(y, u, out=x)
            torch.mm(gates, w, out=d_depth)

    return step


def by_layers(stack: GridStack, plane: Plane, x: Tensor) -> Tensor:
    """The h of the top layer (n, d) from x (n, 2 d)."""
    below = States.of(x)
    for number, block in enumerate(stack):
        below, _ = block(plane.wave, below.at(plane.mirror) if number else below)
    return below.h


def by_cells(stack: GridStack, plane: Plane, x: Tensor) -> Tensor:
    """Compute the layers cell by cell, each for all sentences at once."""
    count, width = plane.number.shape[0], x.shape[1] // 2
    place = plane.number[:, 1:, 1:].permute(1, 2, 0)  # (S, T, B)
    nothing = x.new_zeros(count, 2 * width)
    below = {(i, j): States.of(x[place[i, j]]) for i in range(SIZE) for j in range(SIZE)}
    for number, block in enumerate(stack):
        sides: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}
        after = {}
        for i in range(SIZE):
            for j in range(SIZE):
                read = below[SIZE - 1 - i if number else i, j]
                up, left = (sides.get(place, (nothing, nothing)) for place in ((i - 1, j), (i, j - 1)))
                h, m = (
                    torch.cat([part[k][:, at] for part, at in ((up, slice(width)), (left, slice(width, None)))], 1)
                    for k in range(2)
                )
                sides[i, j] = CELL(block.others(torch.cat([h, read.h], 1)), m)
                found = CELL(block.priority(torch.cat([sides[i, j][0], read.h], 1)), read.m)
                after[i, j] = States(*found)
        below = after
    order = zip(plane.i[::count].tolist(), plane.j[::count].tolist(), strict=True)
    return torch.cat([below[place].h for place in order])


def ways(sentences: int, width: int) -> dict[str, Callable[[], None]]:
    """The layers, and all that they are compared with."""
    lengths = torch.full((sentences,), SIZE)
    plane = Plane(lengths, lengths, (SIZE, SIZE), sides=False, beside=False)
    stack = GridStack(width, 3, LAYERS, tied=False)
    x = torch.randn(plane.cells, 2 * width, requires_grad=True)
    gradient = torch.randn(plane.cells, width)

    def whole(forward: Callable[[GridStack, Plane, Tensor], Tensor]) -> Callable[[], None]:
        def step() -> None:
            for part in (x, *stack.parameters()):
                part.grad = None
            forward(stack, plane, x).backward(gradient)

        return step

    def readable(cell: Callable[..., Any]) -> Callable[[], None]:
        """The plain form in place of the loops, with another step in place of its own."""
        step = whole(by_layers)
        plain = {"ScanLoop": lambda wave: partial(loops.scan_by_lines, wave), "RiseLoop": lambda: loops.rise_by_cells}

        def run() -> None:
            with patch.object(loops, "cell", cell), patch.multiple(grid_lstm, **plain):
                step()

        return run

    torch.testing.assert_close(by_cells(stack, plane, x), by_layers(stack, plane, x), rtol=1e-4, atol=1e-5)
    return {
        "layers": whole(by_layers),
        "products": products(stack, plane),
        "cells": whole(by_cells),
        "readable": readable(CELL),
        "compiled": readable(COMPILED_CELL),
    }


def measured(seed: int, rounds: int) -> dict[str, Any]:
    """The ratios for one seed."""
    torch.manual_seed(seed)
    found: dict[str, Any] = {}
    for shape in SHAPES:
        seconds = paired(ways(*shape), rounds=rounds, warmup=2, clock=time.process_time)
        found |= {key(name, shape): ratio(seconds, *pair) for name, pair in PAIRS.items()}
        found[key("milliseconds", shape)] = {
            name: round(1000 * statistics.median(times), 1) for name, times in seconds.items()
        }
    return found


def key(name: str, shape: tuple[int, int]) -> str:
    """The name of a number for some sentences and units."""
    return f"{name}_{shape[0]}x{shape[1]}"


if __name__ == "__main__":
    keys = [key(name, shape) for shape in SHAPES for name in PAIRS]
    over_batches("grid_lstm", __doc__ or "", measured, keys, rounds=7, threads=1, examples="numbers")
