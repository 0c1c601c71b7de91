"""The training step of wavenet against its convolutions, and samples made from stored activations. Run: python -m
benchmarks.wavenet

One sound of 16,000 samples, three blocks of ten layers, 64 channels, gates of 64, skips of 256. Step: forward, loss and
backward; `compiled` by torch.compile. Floor: the convolutions alone, forward and backward, each reading random numbers.
`floor` has the kernels that torch uses by itself for 1 x 1 convolutions, `onednn` those of oneDNN, as the step has.
Making a sound, one at a time: a sample at the field of 3,070 against a full pass over so many samples; and ten layers
with a dilation of 512 against ten with 2. Processor time, one thread.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.timing import forward_and_backward, over_batches, paired, ratio
from zoo.data.waves.batch import WaveBatch, WaveSpec
from zoo.models.wavenet import WaveNet, pointwise
from zoo.predicting.wave_density import surprisal

SAMPLES, WIDTH, SKIP, BLOCKS, LAYERS, MADE = 16_000, 64, 256, 3, 10, 200
SPEC = WaveSpec(rate=16_000)
RATIOS = {f"{step}_by_{floor}": (step, floor) for step in ("step", "compiled") for floor in ("floor", "onednn")}
MAKING = {"full_pass_by_sample": ("pass", "sample"), "dilation_512_by_2": ("dilation 512", "dilation 2")}


def network(dilations: list[int] | None = None) -> WaveNet:
    """The network that is measured, or one with other dilations."""
    sizes = {"residual_dim": WIDTH, "gate_dim": WIDTH, "skip_dim": SKIP, "head_dim": SKIP}
    model = WaveNet(SPEC, **sizes, num_blocks=BLOCKS if dilations is None else 1, layers_per_block=LAYERS)
    if dilations is not None:
        model.dilations = dilations
        for layer, dilation in zip(model.layers, dilations, strict=True):
            layer.dilation, layer.padding = (dilation,), (dilation,)
    return model


def sounds(count: int) -> WaveBatch:
    """One sound of random levels."""
    levels = torch.randint(0, 256, (1, count), dtype=torch.uint8)
    return WaveBatch(levels, torch.ones_like(levels, dtype=torch.bool))


def whole_step(batch: WaveBatch, *, compiled: bool = False) -> Callable[[], None]:
    """The zoo's step."""
    model = network()
    if compiled:
        model.compile()
    return forward_and_backward(model, lambda: surprisal(model(batch).logits, batch).mean())


def floor_step(narrow: Callable[[int, int], nn.Conv1d]) -> Callable[[], None]:
    """The convolutions of all layers, each by itself; `narrow` makes those of 1 x 1."""
    parts: list[tuple[nn.Module, Tensor]] = []

    def add(layer: nn.Conv1d, length: int = SAMPLES) -> None:
        parts.append((layer, torch.randn(1, layer.in_channels, length, requires_grad=True)))

    model = network()
    for number, dilation in enumerate(model.dilations):
        add(nn.Conv1d(WIDTH, 2 * WIDTH, 2, dilation=dilation), SAMPLES + dilation)
        if number < len(model.residual):
            add(narrow(WIDTH, WIDTH))
    add(narrow(WIDTH * len(model.dilations), SKIP))
    add(narrow(SKIP, SKIP))
    add(narrow(SKIP, SPEC.levels))

    def step() -> None:
        for layer, x in parts:
            x.grad = None
            layer.zero_grad(set_to_none=True)
            found = layer(x)
            found.backward(found)

    return step


@torch.no_grad()
def made(model: WaveNet) -> Callable[[], None]:
    """Makes MADE samples."""
    scores, state = model.eval().start(sounds(1100))

    @torch.no_grad()
    def make() -> None:
        held, known = scores, state
        for _ in range(MADE):
            held, known = model.step(held.argmax(1), known)

    return make


def measured(seed: int, rounds: int) -> dict[str, Any]:
    """The ratios of one batch."""
    torch.manual_seed(seed)
    batch = sounds(SAMPLES)
    steps = {"step": whole_step(batch), "compiled": whole_step(batch, compiled=True)}
    steps |= {"floor": floor_step(partial(nn.Conv1d, kernel_size=1)), "onednn": floor_step(pointwise)}
    seconds = paired(steps, rounds=rounds, warmup=1, clock=time.process_time)
    found: dict[str, Any] = {key: ratio(seconds, *names) for key, names in RATIOS.items()}
    model = network().eval()
    whole = sounds(3070)

    @torch.no_grad()
    def once() -> None:
        model(whole)

    ways: dict[str, Callable[[], object]] = {"sample": made(model), "pass": once}
    ways |= {f"dilation {one}": made(network([one] * LAYERS)) for one in (2, 512)}
    making = paired(ways, rounds=2 * rounds, warmup=1, clock=time.process_time)
    making = {name: times if name == "pass" else [one / MADE for one in times] for name, times in making.items()}
    found |= {key: ratio(making, *names) for key, names in MAKING.items()}
    found["samples_per_second"] = round(1 / statistics.median(making["sample"]))
    found["milliseconds"] = {key: round(1000 * statistics.median(one), 2) for key, one in (seconds | making).items()}
    return found


if __name__ == "__main__":
    every = [*RATIOS, *MAKING]
    over_batches("wavenet", __doc__ or "", measured, every, rounds=5, threads=1, examples="sounds")
