"""The DNC's whole training step against one written the usual way. Run: python -m benchmarks.dnc

Step: forward, loss, backward, fused Adam; copies of 20 vectors of 8 bits, 42 steps. `by_steps` calls `DNC.cell` step by
step under autograd, which is how the network was trained before it had a loop. `dnc_straightforward.py` is the usual
way. Times are of the processor, since other programs may run on the machine.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from benchmarks.dnc_straightforward import StraightforwardDNC
from benchmarks.ntm import SPEC, copies, training_step
from benchmarks.timing import paired, prepare, ratio, write
from zoo.data.bits.batch import BitBatch
from zoo.models.dnc import DNC

SIZES: dict[str, dict[str, int]] = {
    "default": {"memory_size": 32, "memory_width": 16, "controller_dim": 100, "read_heads": 1},
    "authors": {"memory_size": 16, "memory_width": 16, "controller_dim": 64, "read_heads": 4},
    "large": {"memory_size": 128, "memory_width": 20, "controller_dim": 100, "read_heads": 4},
}
"""`default` is that of the catalogue, `authors` that of the authors' code."""
BAR = 1.5
"""How many times faster than by steps the loop must be."""


def by_steps(network: DNC, batch: BitBatch) -> Tensor:
    """Logits (B, T, O), one cell per step."""
    x, state, found = network.input(batch.inputs), network.start(len(batch)), []
    for x_t in x.unbind(1):
        state = network.cell(x_t, state)
        found.append(torch.cat([state.hidden, state.reads], 1))
    logits: Tensor = network.output(torch.stack(found, 1))
    return logits


def measure(size: dict[str, int], sequences: int, rounds: int) -> dict[str, Any]:
    """Ratios on one batch."""
    batch = copies(0, sequences)

    def step(network: Any, logits: Callable[[Any], Tensor]) -> Callable[[], None]:
        return training_step(network, lambda: logits(network), batch)

    torch.manual_seed(0)
    steps = {
        "loop": step(DNC(SPEC, **size), lambda network: network(batch).logits),
        "by_steps": step(DNC(SPEC, **size), lambda network: by_steps(network, batch)),
        "straightforward": step(StraightforwardDNC(SPEC, **size), lambda network: network(batch)),
    }
    seconds = paired(steps, rounds=rounds, warmup=3, clock=time.process_time)
    return {
        "by_steps_by_loop": ratio(seconds, "by_steps", "loop"),
        "straightforward_by_loop": ratio(seconds, "straightforward", "loop"),
        "straightforward_by_steps": ratio(seconds, "straightforward", "by_steps"),
    }


def main() -> None:
    """Measure all sizes, print and write the result to results/dnc.json."""
    parser = argparse.ArgumentParser(description="The DNC's training step against one written the usual way")
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    result: dict[str, Any] = {"environment": prepare(1), "rounds": arguments.rounds, "bar": BAR}
    for name, size in SIZES.items():
        for sequences in (1, 16):
            found = measure(size, sequences, arguments.rounds)
            print(name, sequences, found, flush=True)
            result[f"{name}, {sequences} sequences"] = found
    write("dnc", result)


if __name__ == "__main__":
    main()
