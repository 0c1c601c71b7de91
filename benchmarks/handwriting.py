"""Handwriting synthesis's training step against its floor, and its loop against its steps. Run:
python -m benchmarks.handwriting

The paper's size: three layers of 400 units, 20 components, 10 Gaussians of the window, 57 symbols. A batch has 16 lines
of 270 to 300 points and 12 letters. Step: forward, loss, backward, limits of derivatives, fused Adam. Floor: torch's
LSTMs without peepholes, whose inputs are all known; the window's products and sums step by step; the output layer; all
of them forward and backward. It has no loss, no optimiser, and no window that feeds the first layer. The loop is the
first layer with its window, forward and backward, on shorter lines, against its readable steps, plain and compiled.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.timing import paired, prepare, ratio, write
from zoo.attention.soft_window import SoftWindow
from zoo.data.strokes.batch import StrokeBatch, StrokeSpec
from zoo.layers.mixture import Mixture
from zoo.layers.peephole import PeepholeLSTM
from zoo.models.handwriting import HandwritingSynthesis

LINES, POINTS, LETTERS, SYMBOLS, WIDTH, LAYERS, WINDOWS, OUTPUTS = 16, 300, 12, 57, 400, 3, 10, 121
SHORT = 60  # Points of the lines on which the loop is compared with its steps


def lines(seed: int, points: int = POINTS) -> StrokeBatch:
    """Random lines, the shortest a tenth shorter than the longest."""
    torch.manual_seed(seed)
    lengths = torch.randint(points - points // 10, points + 1, (LINES,))
    lengths[0] = points
    mask = torch.arange(points) < lengths[:, None]
    given = torch.randn(LINES, points, 3) * mask[..., None]
    given[..., 2] = given[..., 2] > 1.5
    text = torch.randint(1, SYMBOLS + 1, (LINES, LETTERS))
    return StrokeBatch(given, mask, text=text, text_mask=torch.ones_like(text, dtype=torch.bool))


def whole_step(batch: StrokeBatch) -> Callable[[], None]:
    """The zoo's step."""
    network = HandwritingSynthesis(StrokeSpec(vocabulary_size=SYMBOLS + 1, lines=1))
    optimizer = torch.optim.Adam(network.parameters(), fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        nats = -Mixture.of(network(batch).logits).log_prob(batch.points).where(batch.point_mask, 0).sum()
        (nats / len(batch)).backward()
        optimizer.step()

    return step


def floor_step(batch: StrokeBatch) -> Callable[[], None]:
    """The library calls, time first, on all positions of the grid."""
    below = [0, *[WIDTH] * (LAYERS - 1)]
    lstms = nn.ModuleList(nn.LSTM(3 + SYMBOLS + width, WIDTH) for width in below)
    window, outputs = SoftWindow(WIDTH, WINDOWS), nn.Linear(LAYERS * WIDTH, OUTPUTS)
    parameters = [*lstms.parameters(), *window.parameters(), *outputs.parameters()]
    x, content = batch.points.transpose(0, 1), torch.randn(batch.points.shape[1], LINES, SYMBOLS)
    symbols = nn.functional.one_hot(batch.text - 1, SYMBOLS).float()

    def step() -> None:
        for parameter in parameters:
            parameter.grad = None
        given, hidden = torch.cat([x, content], 2), []
        for lstm in lstms:
            hidden.append(lstm(given)[0])
            given = torch.cat([x, hidden[-1], content], 2)
        kappa, looked = x.new_zeros(LINES, WINDOWS), []
        for h in hidden[0].unbind(0):
            phi, kappa = window(h, kappa, LETTERS)
            looked.append((phi[:, None] @ symbols)[:, 0])
        (outputs(torch.cat(hidden, 2)).mean() + torch.stack(looked).mean()).backward()

    return step


def loop_steps(batch: StrokeBatch) -> dict[str, Callable[[], None]]:
    """The first layer with its window, forward and backward: the loop, its steps, and these compiled."""
    layer, window = PeepholeLSTM(3 + SYMBOLS, WIDTH), SoftWindow(WIDTH, WINDOWS)
    parameters = [*layer.parameters(), *window.parameters()]
    symbols = nn.functional.one_hot(batch.text - 1, SYMBOLS).float()
    x = batch.packing.pack(batch.points)

    def cell(x_t: Tensor, h: Tensor, c: Tensor, w: Tensor, kappa: Tensor) -> tuple[Tensor, ...]:
        h, c = layer.step(torch.cat([x_t, w], 1), (h, c))
        phi, kappa = window(h, kappa, LETTERS)
        return h, c, (phi[:, None] @ symbols)[:, 0], kappa

    compiled = torch.compile(cell, dynamic=False)

    def by_steps(step: Callable[..., tuple[Tensor, ...]]) -> Callable[[], None]:
        def run() -> None:
            for parameter in parameters:
                parameter.grad = None
            state = tuple(x.new_zeros(LINES, width) for width in (WIDTH, WIDTH, SYMBOLS, WINDOWS))
            found = []
            for x_t in batch.points.unbind(1):
                state = step(x_t.clone(), *state)
                found.append(torch.cat([state[0], state[2]], 1))
            torch.stack(found).mean().backward()

        return run

    def loop() -> None:
        for parameter in parameters:
            parameter.grad = None
        h, w, _, _ = layer.along(x, batch.packing, window, symbols)
        torch.cat([h, w], 1).mean().backward()

    return {"loop": loop, "steps": by_steps(cell), "compiled": by_steps(compiled)}


def main() -> None:
    """Measure on several batches, print and write the medians."""
    parser = argparse.ArgumentParser(description="The training step of handwriting by its floor")
    parser.add_argument("--rounds", type=int, default=9, help="timed rounds per batch")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batches", type=int, default=3, help="batches of different lines")
    arguments = parser.parse_args()
    environment = prepare(arguments.threads)
    how: dict[str, Any] = {"rounds": arguments.rounds, "warmup": 2, "clock": time.process_time}
    batches: list[dict[str, Any]] = []
    for seed in range(arguments.batches):
        batch, short = lines(seed), lines(seed, SHORT)
        seconds = paired({"step": whole_step(batch), "floor": floor_step(batch)}, **how)
        loops = paired(loop_steps(short), **how)
        found: dict[str, Any] = {
            "step_by_floor": ratio(seconds, "step", "floor"),
            "steps_by_loop": ratio(loops, "steps", "loop"),
            "compiled_by_loop": ratio(loops, "compiled", "loop"),
        }
        found["milliseconds"] = {
            key: round(1000 * statistics.median(times), 1) for key, times in {**seconds, **loops}.items()
        }
        batches.append(found)
        print(found, flush=True)
    middle = {key: statistics.median([batch[key][1] for batch in batches]) for key in batches[0] if "_by_" in key}
    print(middle)
    write("handwriting", {"environment": environment, "rounds": arguments.rounds, **middle, "batches": batches})


if __name__ == "__main__":
    main()
