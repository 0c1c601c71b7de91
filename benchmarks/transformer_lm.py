"""The whole training step of transformer_lm against the library kernels that it cannot do without. Run: python -m
benchmarks.transformer_lm

8 columns of 128 tokens, vocabulary 10,000, D 512, 3 layers, 8 heads, 2048 units, post-norm, no dropout. Step: forward,
cross-entropy, backward, clipping of the gradient's norm, fused Adam. Network: its forward and backward alone. Floor:
the attention (SDPA), the products and the norms in plain library calls, forward and backward alone. Whole floor: the
same with the loss, the clipping and the optimiser. Processor time, one thread.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.pairs import HIDDEN, VOCABULARY, floor_step
from benchmarks.timing import options, paired, prepare, ratio, write
from benchmarks.transformer import FEEDFORWARD, HEADS, LAYERS, Kernels
from zoo.data.language.batch import LanguageSpec, StreamBatch
from zoo.models.transformer_lm import TransformerLanguageModel
from zoo.objectives.cross_entropy import vocabulary_cross_entropy

COLUMNS, LENGTH = 8, 128
SPEC = LanguageSpec(vocabulary_size=VOCABULARY)
RATIOS = {
    "network_by_floor": ("network", "floor"),
    "step_by_floor": ("step", "floor"),
    "step_by_whole_floor": ("step", "whole floor"),
    "whole_floor_by_floor": ("whole floor", "floor"),
}


class CausalKernels(Kernels):
    """Kernels of a layer; without a mask they are causal."""

    def __init__(self) -> None:
        super().__init__(source=False)


def stream_batch(seed: int) -> StreamBatch:
    """Random tokens."""
    ids = torch.randint(1, VOCABULARY, (COLUMNS, LENGTH + 1), generator=torch.Generator().manual_seed(seed))
    mask = torch.ones(COLUMNS, LENGTH, dtype=torch.bool)
    return StreamBatch(index=torch.arange(COLUMNS), target_input=ids[:, :-1], target=ids[:, 1:], target_mask=mask)


def whole(modules: list[nn.Module], loss: Callable[[], Tensor]) -> Callable[[], None]:
    """The training step that minimises `loss`."""
    parameters = [parameter for module in modules for parameter in module.parameters()]
    optimizer = torch.optim.Adam(parameters, fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()

    return step


def steps(batch: StreamBatch) -> dict[str, Callable[[], None]]:
    """The steps that are timed on one batch."""
    torch.manual_seed(0)
    model = TransformerLanguageModel(
        SPEC, hidden_dim=HIDDEN, layers=LAYERS, heads=HEADS, feedforward_dim=FEEDFORWARD, dropout=0.0, window=LENGTH
    )
    target = batch.true_tokens

    def loss() -> Tensor:
        logits = model(batch, need_weights=False, need_scores=False).logits
        return vocabulary_cross_entropy(logits, target)[0] / len(target)

    parts: list[nn.Module] = [nn.Embedding(VOCABULARY, HIDDEN), *(CausalKernels() for _ in range(LAYERS))]
    parts.append(nn.Linear(HIDDEN, VOCABULARY))
    assert batch.target_input is not None and batch.target is not None
    read, flat = batch.target_input, batch.target.flatten()

    def floor() -> Tensor:
        x = parts[0](read)
        for layer in parts[1:-1]:
            x = layer(x, None)
        return parts[-1](x.flatten(0, 1))

    return {
        "step": whole([model], loss),
        "network": floor_step([model], lambda: model(batch, need_weights=False).logits),
        "floor": floor_step(parts, floor),
        "whole floor": whole(parts, lambda: F.cross_entropy(floor(), flat)),
    }


def main() -> None:
    """Measure, print and write results/transformer_lm.json."""
    arguments = options("The training step of transformer_lm by its floor", rounds=20, threads=1, examples="windows")
    environment = prepare(arguments.threads)
    batches: list[dict[str, Any]] = []
    for seed in range(arguments.batches):
        seconds = paired(steps(stream_batch(seed)), rounds=arguments.rounds, warmup=2, clock=time.process_time)
        found: dict[str, Any] = {key: ratio(seconds, *names) for key, names in RATIOS.items()}
        found["milliseconds"] = {key: round(1000 * median(times), 1) for key, times in seconds.items()}
        batches.append(found)
        print(found, flush=True)
    middle = {key: median([batch[key][1] for batch in batches]) for key in RATIOS}
    print(middle)
    write("transformer_lm", {"environment": environment, "rounds": arguments.rounds, **middle, "batches": batches})


if __name__ == "__main__":
    main()
