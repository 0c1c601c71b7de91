"""The training step of sagan on pictures of 32 x 32. Run: python -m benchmarks.sagan

16 pictures of 3 colours and 10 classes, both networks 64 wide, attention at 16 x 16 in the form of the authors' code.
Step: the discriminator's (hinge loss, real and generated pictures, backward into the discriminator) and the generator's
(backward through the discriminator into the generator), all in training mode.

Floor: the convolutions, linear maps and products of attention alone, forward and backward, on random values of the same
shapes, with gradients where the step has them. Normalisation, rectifiers, pooling, softmax and sums are missing. A
convolution next to a doubling or a halving is one product with it, as in the network. `plain_floor` has the
convolutions of public versions, which read the doubled map or write the map before it is halved. Both have the faster
of two memory formats. `no_spectral` is the step without spectral normalisation.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrize

from benchmarks.timing import over_batches, paired, ratio
from zoo.data.pictures.batch import PictureBatch, PictureSpec
from zoo.models.sagan import SAGAN

PICTURES, SIDE, COLOURS, WIDTH, NOISE, ATTENDS = 16, 32, 3, 64, 128, 16
SPEC = PictureSpec(COLOURS, SIDE, SIDE, classes=tuple("0123456789"))
RATIOS = {
    "step_by_floor": ("step", "floor"),
    "step_by_plain_floor": ("step", "plain_floor"),
    "no_spectral_by_floor": ("no_spectral", "floor"),
    "step_by_no_spectral": ("step", "no_spectral"),
}


def batch_of(seed: int) -> PictureBatch:
    """Random pictures, classes and noise."""
    draw = torch.Generator().manual_seed(seed)
    image = torch.randint(SPEC.levels, (PICTURES, COLOURS, SIDE, SIDE), generator=draw, dtype=torch.uint8)
    label = torch.randint(len(SPEC.classes), (PICTURES,), generator=draw)
    return PictureBatch(image, label, noise=torch.randn(PICTURES, NOISE, generator=draw))


@contextmanager
def frozen(network: nn.Module) -> Iterator[None]:
    """Within the context the parameters of a network get no gradient."""
    network.requires_grad_(False)
    try:
        yield
    finally:
        network.requires_grad_(True)


def whole_step(batch: PictureBatch, *, spectral: bool = True) -> Callable[[], None]:
    """The zoo's two steps."""
    network = SAGAN(SPEC, noise_dim=NOISE, generator_dim=WIDTH, discriminator_dim=WIDTH, attention_size=ATTENDS)
    for layer in list(network.modules()):
        if not spectral and parametrize.is_parametrized(layer):
            parametrize.remove_parametrizations(layer, "weight")
    assert batch.noise is not None
    noise = batch.noise

    def step() -> None:
        network.zero_grad(set_to_none=True)
        with frozen(network.generator):
            real, made = network(batch).logits.unbind(1)
            ((1 - real).relu() + (1 + made).relu()).mean().backward()
        with frozen(network.discriminator):
            pictures, _ = network.generate(noise, batch.label)
            scores, _ = network.criticise(pictures, batch.label)
            (-scores.mean()).backward()

    return step


class Product(NamedTuple):
    """A function of inputs and weights. Its inputs may come from `outside`: pictures or noise."""

    function: Callable[..., Tensor]
    inputs: list[Tensor]
    weights: list[Tensor]
    outside: bool = False

    def step(self, *, weights: bool, inputs: bool, outside: bool) -> Callable[[], object]:
        """The function, and the gradients of its `weights`, of its `inputs`, and of inputs from `outside`."""
        slopes = inputs and (outside or not self.outside)
        given = [one.clone().requires_grad_(slopes) for one in self.inputs]
        given += [one.clone().requires_grad_(weights) for one in self.weights]
        asked = [one for one in given if one.requires_grad]
        if not asked:
            return lambda: self.function(*given)
        slope = torch.randn_like(self.function(*given))
        return lambda: torch.autograd.grad(self.function(*given), asked, slope)


class Maker(NamedTuple):
    """Makes products for a number of pictures, on maps in a memory format."""

    count: int
    memory_format: torch.memory_format
    fused: bool

    def map(self, channels: int, side: int) -> list[Tensor]:
        """Random features."""
        return [torch.randn(self.count, channels, side, side).contiguous(memory_format=self.memory_format)]

    def convolution(self, inputs: int, outputs: int, kernel: int, side: int, *, bias: bool = True) -> Product:
        """A convolution that keeps the sides."""
        weights = [torch.randn(outputs, inputs, kernel, kernel), *([torch.randn(outputs)] if bias else [])]
        return Product(
            lambda x, *w: F.conv2d(x, *w, padding=kernel // 2), self.map(inputs, side), weights, inputs == COLOURS
        )

    def resized(self, side: int, *, doubled: bool) -> Product:
        """A 3 x 3 convolution of a map that is doubled to `side` before, or has `side` and is halved after."""
        if not self.fused:
            return self.convolution(WIDTH, WIDTH, 3, side)
        weights = [torch.randn(WIDTH, WIDTH, 4, 4), torch.randn(WIDTH)]
        function = F.conv_transpose2d if doubled else F.conv2d
        inputs = self.map(WIDTH, side // 2 if doubled else side)
        return Product(lambda x, w, b: function(x, w, b, stride=2, padding=1), inputs, weights)

    def linear(self, inputs: int, outputs: int) -> Product:
        weights = [torch.randn(outputs, inputs), torch.randn(outputs)]
        return Product(F.linear, [torch.randn(self.count, inputs)], weights, inputs == NOISE)

    def attention(self) -> list[Product]:
        """Four 1 x 1 convolutions, two of them as one, and two products of matrices."""
        places, keys, d, v = ATTENDS**2, ATTENDS**2 // 4, WIDTH // 8, WIDTH // 2
        sizes = [((places, d), (d, keys)), ((places, keys), (keys, v))]
        return [
            *(self.convolution(*two, 1, ATTENDS, bias=False) for two in ((WIDTH, d), (WIDTH, d + v), (v, WIDTH))),
            *(Product(torch.bmm, [torch.randn(self.count, *size) for size in two], []) for two in sizes),
        ]

    def generator(self) -> list[Product]:
        """The products of the generator."""
        found = [self.linear(NOISE, WIDTH * 16), *self.attention(), self.convolution(WIDTH, COLOURS, 3, SIDE)]
        for side in (8, 16, 32):
            found += [self.resized(side, doubled=True), self.convolution(WIDTH, WIDTH, 3, side)]
            found.append(self.convolution(WIDTH, WIDTH, 1, side // 2 if self.fused else side))
        return found

    def discriminator(self) -> list[Product]:
        """The products of the discriminator."""
        sizes = [(COLOURS, 3, 32), (WIDTH, 3, 16), (COLOURS, 1, 16), (WIDTH, 1, 8 if self.fused else 16)]
        found = [self.convolution(inputs, WIDTH, kernel, side) for inputs, kernel, side in sizes]
        found += [self.resized(side, doubled=False) for side in (32, 16)]
        found += [self.convolution(WIDTH, WIDTH, 3, 8) for _ in range(4)]
        return [*found, *self.attention(), self.linear(WIDTH, 1)]


def floor_step(memory_format: torch.memory_format, *, fused: bool) -> Callable[[], None]:
    """The products of both steps."""
    one, two = (Maker(count, memory_format, fused) for count in (PICTURES, 2 * PICTURES))
    steps = [part.step(weights=False, inputs=False, outside=False) for part in one.generator()]
    steps += [part.step(weights=True, inputs=True, outside=False) for part in two.discriminator()]
    steps += [part.step(weights=True, inputs=True, outside=False) for part in one.generator()]
    steps += [part.step(weights=False, inputs=True, outside=True) for part in one.discriminator()]

    def step() -> None:
        for each in steps:
            each()

    return step


def measured(seed: int, rounds: int) -> dict[str, Any]:
    """The ratios of one batch."""
    torch.manual_seed(seed)
    batch = batch_of(seed)
    steps = {"step": whole_step(batch), "no_spectral": whole_step(batch, spectral=False)}
    for one in (torch.channels_last, torch.contiguous_format):
        steps |= {f"floor {one}": floor_step(one, fused=True), f"plain_floor {one}": floor_step(one, fused=False)}
    seconds = paired(steps, rounds=rounds, warmup=2, clock=time.process_time)
    for name in ("floor", "plain_floor"):
        forms = [seconds.pop(key) for key in list(seconds) if key.startswith(f"{name} ")]
        seconds[name] = min(forms, key=statistics.median)
    found: dict[str, Any] = {key: ratio(seconds, *names) for key, names in RATIOS.items()}
    found["milliseconds"] = {key: round(1000 * statistics.median(times)) for key, times in seconds.items()}
    return found


if __name__ == "__main__":
    over_batches("sagan", __doc__ or "", measured, RATIOS, rounds=11, threads=1, examples="pictures")
