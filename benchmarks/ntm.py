"""The neural Turing machine's whole training step by that of one written the usual way. Run: python -m benchmarks.ntm

Step: forward, loss, backward, fused Adam, at the paper's size: memory 128 x 20, an LSTM of 100, one head that reads and
one that writes; copies of 20 vectors of 8 bits, 42 steps with a mark at the beginning. `ntm_straightforward.py` is what
it is compared with. `compiled` is `compile=true`, one step of the cell compiled; `straightforward_compiled` has each of
its modules compiled. Floor: torch's LSTM and the heads' projection in one call each, and the products of keys, weights
and written vectors with a memory that never changes, of all steps at once, forward and backward alone; no network whose
steps depend on each other can come near it.
"""

import argparse
import statistics
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.ntm_straightforward import StraightforwardNTM
from benchmarks.timing import paired, prepare, ratio, write
from zoo.data.bits.batch import BitBatch, BitSpec
from zoo.models.ntm import NTM

BITS, LENGTH, ROWS, WIDTH, HIDDEN = 8, 20, 128, 20, 100
STEPS = 2 * LENGTH + 2
SPEC = BitSpec(in_width=BITS + 1, out_width=BITS, groups=("all",))
BARS = {1: (0.4, 0.15), 16: (0.4, 0.25)}
"""Sequences -> the most that the step, and the compiled one, may take of the straightforward one's time."""


def copies(seed: int, sequences: int) -> BitBatch:
    """A mark, vectors, a mark, and blanks at which the vectors are to be written."""
    generator = torch.Generator().manual_seed(seed)
    bits = torch.randint(0, 2, (sequences, LENGTH, BITS), generator=generator).float()
    inputs, targets = torch.zeros(sequences, STEPS, BITS + 1), torch.zeros(sequences, STEPS, BITS)
    inputs[:, 1 : LENGTH + 1, :BITS], targets[:, LENGTH + 2 :] = bits, bits
    inputs[:, [0, LENGTH + 1], BITS] = 1
    real = torch.ones(sequences, STEPS, dtype=torch.bool)
    return BitBatch(inputs, real, real & (torch.arange(STEPS) >= LENGTH + 2), targets)


def training_step(network: nn.Module, logits: Callable[[], Tensor], batch: BitBatch) -> Callable[[], None]:
    """Forward, loss, backward, Adam."""
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4, fused=True)
    assert batch.targets is not None
    targets, scored = batch.targets, batch.scored[..., None]

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        each = F.binary_cross_entropy_with_logits(logits(), targets, reduction="none")
        ((each * scored).sum() / len(batch)).backward()
        optimizer.step()

    return step


def ours(batch: BitBatch, *, compiled: bool) -> Callable[[], None]:
    """Our training step."""
    torch.manual_seed(0)
    network = NTM(SPEC)
    if compiled:
        network.compile()
    return training_step(network, lambda: network(batch).logits, batch)


def straightforward(batch: BitBatch, *, compiled: bool) -> Callable[[], None]:
    """That of the network as it is usually written."""
    torch.manual_seed(0)
    network = StraightforwardNTM(SPEC)
    if compiled:
        for module in (*network.readers, *network.writers):
            module.compile()
    return training_step(network, lambda: network(batch), batch)


def floor(sequences: int) -> Callable[[], None]:
    """LSTM, projection and products, forward and backward."""
    lstm, heads = nn.LSTM(BITS + 1 + WIDTH, HIDDEN, batch_first=True), nn.Linear(HIDDEN, 4 * WIDTH)
    inputs = torch.randn(sequences, STEPS, BITS + 1 + WIDTH)
    memory = torch.randn(sequences * STEPS, ROWS, WIDTH, requires_grad=True)
    gradient = torch.randn(sequences * STEPS, ROWS, WIDTH)

    def step() -> None:
        for parameter in (*lstm.parameters(), *heads.parameters(), memory):
            parameter.grad = None
        told = heads(lstm(inputs)[0]).view(-1, 4, WIDTH)
        weights = told[:, :2] @ memory.mT
        read = weights[:, :1] @ memory
        torch.baddbmm(memory, weights[:, 1:].mT, told[:, 2:3] + read).backward(gradient)

    return step


def measure(sequences: int, rounds: int) -> dict[str, object]:
    """Ratios on one batch."""
    batch = copies(0, sequences)
    steps = {
        "step": ours(batch, compiled=False),
        "compiled": ours(batch, compiled=True),
        "straightforward": straightforward(batch, compiled=False),
        "straightforward_compiled": straightforward(batch, compiled=True),
        "floor": floor(sequences),
    }
    seconds = paired(steps, rounds=rounds)
    best = {name: min(times) for name, times in seconds.items()}
    return {
        "sequences": sequences,
        "step_by_straightforward": ratio(seconds, "step", "straightforward"),
        "compiled_by_straightforward": ratio(seconds, "compiled", "straightforward"),
        "compiled_by_straightforward_compiled": ratio(seconds, "compiled", "straightforward_compiled"),
        "step_by_floor": ratio(seconds, "step", "floor"),
        "compiled_by_floor": ratio(seconds, "compiled", "floor"),
        "fastest_step_by_fastest_straightforward": round(best["step"] / best["straightforward"], 3),
        "fastest_compiled_by_fastest_straightforward": round(best["compiled"] / best["straightforward"], 3),
        "sequences_per_second": round(sequences / statistics.median(seconds["step"])),
        "sequences_per_second_compiled": round(sequences / statistics.median(seconds["compiled"])),
    }


def main() -> None:
    """Measure for one sequence and for sixteen, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    result: dict[str, object] = {"environment": prepare(arguments.threads), "rounds": arguments.rounds}
    for sequences, (eager, compiled) in BARS.items():
        found = measure(sequences, arguments.rounds)
        print(found, f"bars: {eager} as it is, {compiled} compiled", sep="\n", flush=True)
        result[f"sequences_{sequences}"] = found
    write("ntm", result)


if __name__ == "__main__":
    main()
