"""The batch, the whole training step and the floor's step for the benchmarks of the translation models.

32 pairs of 20 to 40 tokens on both sides, vocabulary 10,000, hidden 512. Step: forward, cross-entropy, backward,
clipping of the gradient's norm, fused Adam. Floor: forward and backward of the unavoidable library kernels on the
padded grid, without loss, clipping and optimiser.
"""

import statistics
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.timing import options, paired, prepare, ratio, write
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.objectives.cross_entropy import vocabulary_cross_entropy

PAIRS, SHORTEST, LONGEST, VOCABULARY, HIDDEN = 32, 20, 40, 10_000, 512
SPEC = PairSpec(VOCABULARY, VOCABULARY, LONGEST, LONGEST)


def pair_batch(seed: int) -> PairBatch:
    """Random tokens; lengths are drawn evenly and the longest occurs on both sides."""
    generator = torch.Generator().manual_seed(seed)

    def side() -> tuple[Tensor, Tensor]:
        lengths = torch.randint(SHORTEST, LONGEST + 1, (PAIRS,), generator=generator)
        lengths[0] = LONGEST
        mask = torch.arange(LONGEST) < lengths[:, None]
        ids = torch.randint(4, VOCABULARY, mask.shape, generator=generator).masked_fill(~mask, SPEC.padding)
        return ids.scatter(1, lengths[:, None] - 1, SPEC.end), mask

    source, (target, mask) = side(), side()
    return PairBatch(*source, target=target, target_mask=mask)


def whole_step(model: nn.Module, batch: PairBatch) -> Callable[[], None]:
    """The training step of `model`, without attention weights where it has a choice."""
    assert batch.target is not None
    assert batch.target_packing is not None
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    target = batch.target_packing.pack(batch.target)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        total, _ = vocabulary_cross_entropy(model(batch, need_weights=False).logits, target)
        (total / len(target)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def floor_step(modules: list[nn.Module], forward: Callable[[], Tensor]) -> Callable[[], None]:
    """Forward and backward of what `forward` returns, nothing else."""
    parameters = [parameter for module in modules for parameter in module.parameters()]
    gradient = torch.randn_like(forward().detach())

    def step() -> None:
        for parameter in parameters:
            parameter.grad = None
        forward().backward(gradient)

    return step


def run(
    name: str, steps: Callable[[PairBatch], dict[str, Callable[[], None]]], ratios: dict[str, tuple[str, str]]
) -> None:
    """Measure on several batches, print and write the medians to results/<name>.json.

    `steps` gives the candidates for a batch by name; `ratios` names the pairs (candidate, floor) to divide.
    """
    arguments = options(f"The training step of {name} by its floor", rounds=30, threads=2, examples="pairs")
    environment = prepare(arguments.threads)
    batches: list[dict[str, Any]] = []
    for seed in range(arguments.batches):
        seconds = paired(steps(pair_batch(seed)), rounds=arguments.rounds)
        found: dict[str, Any] = {key: ratio(seconds, *names) for key, names in ratios.items()}
        found["milliseconds"] = {key: round(1000 * statistics.median(times), 1) for key, times in seconds.items()}
        batches.append(found)
        print(found, flush=True)
    middle = {key: statistics.median([batch[key][1] for batch in batches]) for key in ratios}
    print(middle)
    write(name, {"environment": environment, "rounds": arguments.rounds, **middle, "batches": batches})
