"""The packed GRU and LSTM against torch's, forward and backward. Run: python -m benchmarks.recurrent

Both forms of torch's layers are timed: packed, and padded with two one-way layers. One of these reads every row
mirrored within its length; the mirrored input is prepared before.
"""

import argparse
from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.timing import paired, prepare, ratio, write
from zoo.layers.packing import Packing
from zoo.layers.recurrent import GRU, LSTM

# rows, longest row, input size, hidden size: words of sentences (HAN), documents of a reader, long and thin, an encoder
SHAPES = [(600, 25, 200, 50), (64, 200, 200, 50), (32, 400, 128, 64), (8, 400, 384, 256), (32, 40, 512, 512)]
TORCH = {"gru": nn.GRU, "lstm": nn.LSTM}
OURS = {"gru": GRU, "lstm": LSTM}


def step(parameters: list[Tensor], forward: Callable[[], Tensor], gradient: Tensor) -> Callable[[], None]:
    """Forward and backward with a given gradient of the output."""

    def run() -> None:
        for parameter in parameters:
            parameter.grad = None
        forward().backward(gradient)

    return run


def steps(cell: str, rows: int, longest: int, inputs: int, hidden: int) -> tuple[dict[str, Callable[[], None]], int]:
    """A step for each way to run a bidirectional layer over rows of half to full length; the number of positions."""
    torch.manual_seed(0)
    lengths = torch.randint(longest // 2, longest + 1, (rows,))
    mask = torch.arange(longest) < lengths[:, None]
    packing, grid = Packing.of(mask), torch.randn(rows, longest, inputs)
    packed = packing.pack(grid).requires_grad_()
    ahead = packing.unpack(packed.detach()).transpose(0, 1).contiguous().requires_grad_()  # (T, rows, input)
    mirrored = packing.unpack(packed.detach()[packing.flip]).transpose(0, 1).contiguous().requires_grad_()
    gradient = torch.randn(len(packing.cell), 2 * hidden)
    ours = OURS[cell](inputs, hidden, bidirectional=True, kernel="loop")
    library = OURS[cell](inputs, hidden, bidirectional=True, kernel="torch")
    pair = [TORCH[cell](inputs, hidden) for _ in range(2)]
    real = mask.T  # (T, rows)
    half = torch.randn(int(mask.sum()), 2 * hidden)
    return {
        "loop": step([packed, *ours.parameters()], lambda: ours(packed, packing)[0], gradient),
        "torch, packed": step([packed, *library.parameters()], lambda: library(packed, packing)[0], gradient),
        "torch, padded": step(
            [ahead, mirrored, *pair[0].parameters(), *pair[1].parameters()],
            lambda: torch.cat([pair[0](ahead)[0], pair[1](mirrored)[0]], 2)[real],
            half,
        ),
    }, len(packing.cell)


def main() -> None:
    """Measure every shape, print and write the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="timed rounds per shape")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    environment = prepare(arguments.threads)
    table = []
    for cell in TORCH:
        for rows, longest, inputs, hidden in SHAPES:
            ways, positions = steps(cell, rows, longest, inputs, hidden)
            seconds = paired(ways, rounds=arguments.rounds, warmup=2)
            table.append(
                {
                    "cell": cell,
                    "rows": rows,
                    "longest": longest,
                    "positions": positions,
                    "input": inputs,
                    "hidden": hidden,
                    "loop_by_torch_packed": ratio(seconds, "loop", "torch, packed"),
                    "loop_by_torch_padded": ratio(seconds, "loop", "torch, padded"),
                }
            )
            print(table[-1], flush=True)
    write("recurrent", {"environment": environment, "rounds": arguments.rounds, "table": table})


if __name__ == "__main__":
    main()
