"""The training step of gated_pixelcnn against its convolutions, and drawing from stored activations. Run: python -m
benchmarks.gated_pixelcnn

Black and white pictures of 28 x 28, 10 layers of 64, kernels of 3 and first of 7. Step: forward, loss, backward, of 64
pictures; `compiled` by torch.compile. Floor: the convolutions alone, forward and backward, each reading random numbers:
the vertical ones of k // 2 + 1 rows, the horizontal ones of the k // 2 + 1 columns that a mask leaves, and the 1 x 1
ones. `floor` has PyTorch's default memory format, and `last_floor` channels_last, as the step has. Drawing: 16 pictures
from stored activations, against a full pass for each pixel. Eight passes are timed, and multiplied. Processor time, one
thread.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.timing import forward_and_backward, over_batches, paired, ratio
from zoo.data.pictures.batch import PictureBatch, PictureSpec
from zoo.decoding.pixels import draw_pictures
from zoo.models.gated_pixelcnn import GatedPixelCNN
from zoo.predicting.density import surprisal

SIDE, WIDTH, LAYERS, KERNEL, FIRST, PICTURES, DRAWN, PASSES = 28, 64, 10, 3, 7, 64, 16, 8
SPEC = PictureSpec(channels=1, height=SIDE, width=SIDE, levels=2)
RATIOS = {f"{step}_by_{floor}": (step, floor) for step in ("step", "compiled") for floor in ("floor", "last_floor")}


def network() -> GatedPixelCNN:
    """The network that is measured."""
    return GatedPixelCNN(
        SPEC, hidden_dim=WIDTH, num_layers=LAYERS, kernel_size=KERNEL, first_kernel=FIRST, head_dim=WIDTH
    )


def whole_step(batch: PictureBatch, *, compiled: bool = False) -> Callable[[], None]:
    """The zoo's step."""
    model = network()
    if compiled:
        model.compile()
    return forward_and_backward(model, lambda: surprisal(model(batch).logits, batch.image).mean())


def floor_step(memory_format: torch.memory_format) -> Callable[[], None]:
    """The convolutions of all layers, each by itself, on maps in a memory format."""
    parts: list[tuple[nn.Module, Tensor]] = []

    def add(inputs: int, outputs: int, kernel: tuple[int, int] = (1, 1), *, reads: bool = False) -> None:
        size = (SIDE + kernel[0] - 1, SIDE + kernel[1] - 1)
        x = torch.randn(PICTURES, inputs, *size).contiguous(memory_format=memory_format).requires_grad_(not reads)
        parts.append((nn.Conv2d(inputs, outputs, kernel).to(memory_format=memory_format), x))

    for number in range(LAYERS):
        inputs, kernel = (1, FIRST) if not number else (WIDTH, KERNEL)
        add(inputs, 2 * WIDTH, (kernel // 2 + 1, kernel), reads=not number)
        add(inputs, 2 * WIDTH, (1, kernel // 2 + bool(number)), reads=not number)
        add(2 * WIDTH, 2 * WIDTH)
        add(WIDTH, WIDTH)
    add(WIDTH, WIDTH)
    add(WIDTH, 2)

    def step() -> None:
        for layer, x in parts:
            x.grad = None
            layer.zero_grad(set_to_none=True)
            found = layer(x)
            found.backward(found)

    return step


def ways_to_draw(batch: PictureBatch) -> dict[str, Callable[[], object]]:
    """A whole picture by steps, and PASSES full passes."""
    model, random = network().eval(), torch.rand(DRAWN, 1, SIDE, SIDE)
    some = PictureBatch(batch.image[:DRAWN])

    @torch.no_grad()
    def passes() -> None:
        for _ in range(PASSES):
            model(some)

    kept = torch.zeros(DRAWN, dtype=torch.long)
    return {"drawn": lambda: draw_pictures(model, some, kept, random=random), "passes": passes}


def measured(seed: int, rounds: int) -> dict[str, Any]:
    """The ratios of one batch."""
    torch.manual_seed(seed)
    batch = PictureBatch(torch.randint(0, 2, (PICTURES, 1, SIDE, SIDE), dtype=torch.uint8))
    steps = {"step": whole_step(batch), "compiled": whole_step(batch, compiled=True)}
    steps |= {"floor": floor_step(torch.contiguous_format), "last_floor": floor_step(torch.channels_last)}
    seconds = paired(steps, rounds=rounds, warmup=1, clock=time.process_time)
    found: dict[str, Any] = {key: ratio(seconds, *names) for key, names in RATIOS.items()}
    drawing = paired(ways_to_draw(batch), rounds=3, warmup=1, clock=time.process_time)
    drawing["passes"] = [one * SIDE * SIDE / PASSES for one in drawing["passes"]]
    found["full_passes_by_drawn"] = ratio(drawing, "passes", "drawn")
    times = {**seconds, **drawing}
    found["milliseconds"] = {key: round(1000 * statistics.median(one)) for key, one in times.items()}
    return found


if __name__ == "__main__":
    every = [*RATIOS, "full_passes_by_drawn"]
    over_batches("gated_pixelcnn", __doc__ or "", measured, every, rounds=5, threads=1, examples="pictures")
