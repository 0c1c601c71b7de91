"""The Diagonal BiLSTM of pixelrnn against the bare products of its columns. Run: python -m benchmarks.pixelrnn

16 pictures of 28 x 28, 16 and 64 units. `layer`: forward and backward of both directions, from features 2h wide to the
sum of their states. Features and states are in the order of diagonals, as between the layers of the network. `columns`:
for each of the 55 columns of the skewed picture the product of both directions with features and states, at its real
pixels. The backward pass has two products of the same shape, for the gradients of these and of the weights.
`whole_columns`: the same with all 28 pixels of each column, as where the skewed picture is padded. `readable`: the
plain form that defines the layer, under autograd. `compiled`: the same with torch.compile on its step. `skewed`: the
padded picture under autograd, as in most public versions. `row_layer` and `row_compiled` are the LSTM of the Row LSTM,
which has one direction, on the same features.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.timing import over_batches, paired, ratio
from zoo.layers.loops import diagonal
from zoo.layers.loops.diagonal import Lines, by_lines, line_lstm

PICTURES, HEIGHT, WIDTH, UNITS = 16, 28, 28, (16, 64)
DIAGONALS, ROWS = (order(HEIGHT, WIDTH, torch.device("cpu")) for order in (Lines.diagonals, Lines.rows))
PAIRS = {
    "layer_by_columns": ("layer", "columns"),
    "layer_by_whole_columns": ("layer", "whole_columns"),
    "readable_by_layer": ("readable", "layer"),
    "compiled_by_layer": ("compiled", "layer"),
    "skewed_by_layer": ("skewed", "layer"),
    "row_compiled_by_layer": ("row_compiled", "row_layer"),
}
CELL = diagonal.cell
torch._dynamo.config.recompile_limit = 200  # for all lengths of lines
COMPILED_CELL = torch.compile(CELL, dynamic=True)


def products(width: int, sizes: list[int]) -> Callable[[], None]:
    """The products of columns of these sizes, forward and backward."""
    rows = [size * PICTURES for size in sizes]
    weight, total = torch.randn(2, 4 * width, 4 * width), sum(rows)
    read, found, d_found, d_read = (torch.randn(2, 4 * width, total).split(rows, 2) for _ in range(4))

    def step() -> None:
        for x, y in zip(read, found, strict=True):
            torch.bmm(weight, x, out=y)
        d_weight = torch.zeros_like(weight)
        for x, d_x, d_y in zip(reversed(read), reversed(d_read), reversed(d_found), strict=True):
            torch.bmm(weight.transpose(1, 2), d_y, out=d_x)
            d_weight.baddbmm_(d_y, x.transpose(1, 2))

    return step


def skewed(x: Tensor) -> Tensor:
    """(B, C, H, W) -> (B, C, H, W + H - 1), row i moved right by i."""
    return F.pad(x, (0, HEIGHT)).flatten(2)[..., : HEIGHT * (WIDTH + HEIGHT - 1)].unflatten(2, (HEIGHT, -1))


def column(x: Tensor, h: Tensor, c: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """A column of the skewed picture (B, 4h, H), from the states (B, h, H) of the column before."""
    o, f, i, g = (x + F.conv1d(F.pad(h, (1, 0)), u)).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def by_columns(x: Tensor, weight: Tensor, bias: Tensor, u: Tensor) -> Tensor:
    """The layer on the padded skewed picture (B, 2h, H, W) -> (B, h, H, W)."""
    found = []
    for direction in range(2):
        own = x.flip(3) if direction else x
        sums = skewed(F.conv2d(own, weight[direction, :, :, None, None], bias[direction]))
        h = c = x.new_zeros(PICTURES, u.shape[1] // 4, HEIGHT)
        kernel, states = u[direction].unflatten(1, (2, -1)).transpose(1, 2), []
        for column_sums in sums.unbind(3):
            h, c = column(column_sums, h, c, kernel)
            states.append(h)
        flat = F.pad(torch.stack(states, 3).flatten(2), (0, HEIGHT))
        found.append(flat.unflatten(2, (HEIGHT, -1))[..., :WIDTH])
    return found[0] + F.pad(found[1].flip(3), (0, 0, 1, -1))


def by_readable(lines: Lines, x: Tensor, weights: list[Tensor], step: Callable[..., Any]) -> Tensor:
    """The readable form, with another step in place of its own."""
    diagonal.cell = step
    try:
        return by_lines(lines, x, *weights)
    finally:
        diagonal.cell = CELL


def ways(width: int) -> dict[str, Callable[[], None]]:
    """The layers, and all that they are compared with."""
    picture = torch.randn(PICTURES, 2 * width, HEIGHT, WIDTH, requires_grad=True)
    x = DIAGONALS.enter(picture.detach())[0].requires_grad_()

    def random(*shape: int) -> Tensor:
        return (torch.randn(shape) / width**0.5).requires_grad_()

    weights = [random(2, 4 * width, 2 * width), random(2, 4 * width), random(2, 4 * width, 2 * width)]
    row_weights = [random(1, 4 * width, 2 * width), random(1, 4 * width), random(1, 4 * width, 3 * width)]
    d_states = torch.randn(width, HEIGHT * WIDTH, PICTURES)
    d_picture = DIAGONALS.leave(d_states[None]).contiguous()

    def whole(forward: Callable[[], Tensor], gradient: Tensor = d_states) -> Callable[[], None]:
        def step() -> None:
            for part in (x, picture, *weights, *row_weights):
                part.grad = None
            forward().backward(gradient)

        return step

    expected = line_lstm(DIAGONALS, x, *weights)
    for found in (by_lines(DIAGONALS, x, *weights), DIAGONALS.enter(by_columns(picture, *weights))[0]):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    return {
        "layer": whole(lambda: line_lstm(DIAGONALS, x, *weights)),
        "columns": products(width, list(DIAGONALS.sizes)),
        "whole_columns": products(width, [HEIGHT] * len(DIAGONALS.sizes)),
        "readable": whole(lambda: by_lines(DIAGONALS, x, *weights)),
        "compiled": whole(lambda: by_readable(DIAGONALS, x, weights, COMPILED_CELL)),
        "skewed": whole(lambda: by_columns(picture, *weights), d_picture),
        "row_layer": whole(lambda: line_lstm(ROWS, x, *row_weights)),
        "row_compiled": whole(lambda: by_readable(ROWS, x, row_weights, COMPILED_CELL)),
    }


def measured(seed: int, rounds: int) -> dict[str, Any]:
    """The ratios for pictures of one seed."""
    torch.manual_seed(seed)
    found: dict[str, Any] = {}
    for width in UNITS:
        seconds = paired(ways(width), rounds=rounds, warmup=2, clock=time.process_time)
        found |= {f"{name}_{width}": ratio(seconds, *pair) for name, pair in PAIRS.items()}
        found[f"milliseconds_{width}"] = {
            key: round(1000 * statistics.median(times), 1) for key, times in seconds.items()
        }
    return found


if __name__ == "__main__":
    keys = [f"{name}_{width}" for width in UNITS for name in PAIRS]
    over_batches("pixelrnn", __doc__ or "", measured, keys, rounds=15, threads=1, examples="pictures")
