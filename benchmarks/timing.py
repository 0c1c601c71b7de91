"""Paired timing: only ratios inside one process, of functions run in turn, mean anything on a shared machine."""

import argparse
import json
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from zoo.run.machine import keep_freed_memory

RESULTS = Path(__file__).resolve().parent / "results"


def options(description: str, *, rounds: int, threads: int, examples: str) -> argparse.Namespace:
    """Arguments of the command line: `rounds` per batch, `threads`, and the number of `batches` of different
    `examples`.

    The first sentence of `description` is the help text."""
    parser = argparse.ArgumentParser(description=" ".join(description.split()).partition(". ")[0])
    parser.add_argument("--rounds", type=int, default=rounds, help="timed rounds per batch")
    parser.add_argument("--threads", type=int, default=threads)
    parser.add_argument("--batches", type=int, default=3, help=f"batches of different {examples}")
    return parser.parse_args()


def prepare(threads: int) -> dict[str, Any]:
    """Fix threads and allocator for everything that is timed here; what a reader needs to judge the ratios."""
    torch.set_num_threads(threads)
    return {
        "torch": torch.__version__,
        "threads": threads,
        "processor": f"{platform.machine()}, {torch.backends.cpu.get_cpu_capability()}",
        "allocator": "glibc without mmap and trim" if keep_freed_memory() else "default",
    }


def paired(
    steps: dict[str, Callable[[], object]],
    *,
    rounds: int,
    warmup: int = 5,
    seed: int = 0,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of each step in each of `rounds` rounds; a round runs every step once, in a fresh random order."""
    names, order = list(steps), random.Random(seed)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for index in range(warmup + rounds):
        order.shuffle(names)
        for name in names:
            begin = clock()
            steps[name]()
            if index >= warmup:
                seconds[name].append(clock() - begin)
    return seconds


def forward_and_backward(model: nn.Module, loss: Callable[[], Tensor]) -> Callable[[], None]:
    """A step of a network without an optimiser."""

    def step() -> None:
        model.zero_grad(set_to_none=True)
        loss().backward()

    return step


def ratio(seconds: dict[str, list[float]], name: str, to: str) -> list[float]:
    """Quartiles (25 %, 50 %, 75 %), over the rounds, of the time of `name` by the time of `to` in the same round."""
    pairs = [a / b for a, b in zip(seconds[name], seconds[to], strict=True)]
    return [round(value, 3) for value in statistics.quantiles(pairs, n=4)]


def write(name: str, result: dict[str, Any]) -> None:
    """`result` as benchmarks/results/<name>.json."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n")


def over_batches(
    name: str, description: str, measured: Callable[[int, int], dict[str, Any]], ratios: Iterable[str], **how: Any
) -> None:
    """Measure several batches, print and write to results/<name>.json each of them and the medians of the `ratios`.

    `measured` takes the seed of a batch and the number of rounds, and returns the quartiles of each ratio by its name.
    `description` and `how` are the arguments of `options`.
    """
    arguments = options(description, **how)
    environment, batches = prepare(arguments.threads), list[dict[str, Any]]()
    for seed in range(arguments.batches):
        batches.append(measured(seed, arguments.rounds))
        print(batches[-1], flush=True)
    middle = {key: statistics.median([batch[key][1] for batch in batches]) for key in ratios}
    print(middle)
    write(name, {"environment": environment, "rounds": arguments.rounds, **middle, "batches": batches})
