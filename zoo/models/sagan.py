"""Self-Attention Generative Adversarial Networks.

Han Zhang, Ian Goodfellow, Dimitris Metaxas, Augustus Odena. ICML 2019. https://arxiv.org/abs/1805.08318

Equations: (1)-(3), attention over the places of a feature map, in the generator and in the discriminator; they are in
`zoo/layers/picture_attention.py`. Section 4: spectral normalisation of both networks. Section 5: conditional batch
normalisation in the generator, and the projection of Miyato and Koyama (2018) in the discriminator,
D(x, y) = w . h + b + <embedding(y), h>, where h is the sum of the last features over all places.

What differs from the paper:
- The paper makes pictures of 128 x 128. The layout here is StudioGAN's for 32 x 32. All layers of a network have one
  width, and after two halvings the blocks of the discriminator keep the size of the map.
- `attention: paper` is the block of the paper. `code`, the default, is the block of the authors' program: it pools keys
  and values, and its values are wider.
- A map with an odd side is pooled with the last row and column, so that each place has a key. The program drops them.
- In the authors' program a discriminator step updates the vectors of the power iteration by its real pictures alone.
  Here each pass in training makes one step, and `forward` reads real and generated pictures in one pass.
- A convolution next to a doubling or a halving of the map is one product with it, and a 1 x 1 convolution reads the
  smaller map. The functions are the same and take fewer products.
- Adversarial losses and the two learning rates belong to the task.

Notation: B pictures, C colours, H rows, W columns, L levels, Z noise_dim, D width of a network, N places of the map
that attends, M its keys, n halvings.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.arguments import Count
from zoo.data.pictures.batch import PictureBatch, PictureSpec, scaled
from zoo.layers.batch_norm import BatchNorm
from zoo.layers.picture_attention import PictureAttention
from zoo.layers.spectral import Convolution, normalise_, weight_of
from zoo.layers.state import MemoryPositions
from zoo.models.network import Network
from zoo.models.output import Output
from zoo.precision import precise

Form = Literal["code", "paper", "none"]
SMALLEST = 3
"""The shortest side of the map that a generator starts from."""


class GeneratorBlock(nn.Module):
    """Two convolutions after batch normalisation, which double the sides, and a shortcut."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(BatchNorm(width, classes) for _ in range(2))
        self.first, self.second = Convolution(width, width, 3), Convolution(width, width, 3)
        self.shortcut = Convolution(width, width, 1)

    def forward(self, x: Tensor, label: Tensor | None) -> Tensor:
        """(B, D, H, W) -> (B, D, 2 H, 2 W)."""
        y = self.first.doubled(self.norms[0](x, label).relu())
        y = self.second(self.norms[1](y, label).relu())
        return y + F.interpolate(self.shortcut(x), scale_factor=2)


class DiscriminatorBlock(nn.Module):
    """Two convolutions and a shortcut. The one that `reads` pictures has no rectifier before its first convolution."""

    def __init__(self, inputs: int, width: int, *, reads: bool, halves: bool) -> None:
        super().__init__()
        self.reads = reads
        self.first, self.second = Convolution(inputs, width, 3), Convolution(width, width, 3)
        self.shortcut = Convolution(inputs, width, 1) if halves else None

    def forward(self, x: Tensor) -> Tensor:
        """(B, I, H, W) -> (B, D, H / 2, W / 2), or (B, D, H, W) if it does not halve."""
        y = self.first(x if self.reads else x.relu()).relu()
        if self.shortcut is None:
            return self.second(y) + x
        return self.second.halved(y) + self.shortcut(F.avg_pool2d(x, 2))


class AttendingNetwork(nn.Module):
    """A network in which the first feature map with `side` rows attends to itself."""

    def __init__(self, width: int, attention: Form, side: int) -> None:
        super().__init__()
        self.attention = None if attention == "none" else PictureAttention(width, attention)
        self.side = side

    def attended(self, x: Tensor, weights: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """A map and the weights so far -> the map after attention, if it is the one that attends, and the weights."""
        if self.attention is None or weights is not None or x.shape[2] != self.side:
            return x, weights
        return self.attention(x)


class Generator(AttendingNetwork):
    """Noise to pictures."""

    def __init__(
        self, spec: PictureSpec, noise_dim: int, width: int, classes: int, halvings: int, attention: Form, side: int
    ) -> None:
        super().__init__(width, attention, side)
        self.base = (spec.height >> halvings, spec.width >> halvings)
        self.linear = nn.Linear(noise_dim, width * self.base[0] * self.base[1])
        self.blocks = nn.ModuleList(GeneratorBlock(width, classes) for _ in range(halvings))
        self.norm = BatchNorm(width)
        self.output = Convolution(width, spec.channels, 3)
        normalise_(self)

    def forward(self, noise: Tensor, label: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Noise (B, Z), classes (B,) -> pictures (B, C, H, W) in [-1, 1], weights (B, N, M)."""
        x = F.linear(noise, weight_of(self.linear), self.linear.bias)
        x = x.unflatten(1, (*self.base, -1)).permute(0, 3, 1, 2)  # (B, D, H / 2^n, W / 2^n), channels_last
        x, weights = self.attended(x)
        for block in self.blocks:
            x, weights = self.attended(block(x, label), weights)
        return precise(self.output(self.norm(x).relu())).tanh(), weights


class Discriminator(AttendingNetwork):
    """Pictures to scores."""

    def __init__(self, spec: PictureSpec, width: int, classes: int, halvings: int, attention: Form, side: int) -> None:
        super().__init__(width, attention, side)
        halves = [True] * min(2, halvings) + [False] * 2
        self.blocks = nn.ModuleList(
            DiscriminatorBlock(width if number else spec.channels, width, reads=not number, halves=half)
            for number, half in enumerate(halves)
        )
        self.linear = nn.Linear(width, 1)
        self.embedding = nn.Embedding(classes, width) if classes else None
        normalise_(self)

    def forward(self, pictures: Tensor, label: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Pictures (B, C, H, W), classes (B,) -> scores (B,), weights (B, N, M)."""
        x, weights = pictures.contiguous(memory_format=torch.channels_last), None
        for block in self.blocks:
            x, weights = self.attended(block(x), weights)
        h = precise(x).relu().sum((2, 3))  # (B, D)
        w = weight_of(self.linear)  # (1, D)
        if self.embedding is not None:
            w = w + F.embedding(label, weight_of(self.embedding))  # type: ignore[arg-type]  # w . h + <embedding(y), h>
        return (h * w).sum(1) + self.linear.bias, weights


class SAGAN(Network):
    """A generator and a discriminator with self-attention and spectral normalisation.

    `attention_size` is the number of rows of the feature map that attends, in both networks. `condition: label` gives
    both networks the class of a picture. Raises ValueError for pictures that cannot be halved to sides of 3 or more,
    for an attention_size that no feature map has, and for classes that the pictures do not have.
    """

    tasks = ("adversarial",)
    attends = {"generator": None, "discriminator": None}
    not_exported = "is a pair of networks, and an export has one"

    def __init__(
        self,
        spec: PictureSpec,
        *,
        noise_dim: Count = 128,
        generator_dim: Count = 256,
        discriminator_dim: Count = 128,
        attention: Form = "code",
        attention_size: Count = 16,
        condition: Literal["label", "none"] = "label",
    ) -> None:
        super().__init__()
        self.levels, self.noise_dim, self.condition = spec.levels, noise_dim, condition
        halvings = halvings_of(spec.height, spec.width)
        sides = [spec.height >> number for number in range(1, min(2, halvings) + 1)]
        for name, width in {"generator_dim": generator_dim, "discriminator_dim": discriminator_dim}.items():
            if attention != "none" and width % 8:
                raise ValueError(f"{name}={width}: attention needs a multiple of 8, such as {width + -width % 8}")
        if attention == "none":
            self.attends = {}  # type: ignore[misc]
        elif attention_size not in sides:
            choices = " or ".join(map(str, sides))
            raise ValueError(
                f"attention_size={attention_size}: of {spec.height} x {spec.width} pictures, both networks have feature"
                f" maps with {choices} rows; set attention_size to one of these, or attention=none"
            )
        if condition == "label" and not spec.classes:
            raise ValueError("condition=label: these pictures have no label; set condition=none")
        classes = len(spec.classes) if condition == "label" else 0
        shared = (classes, halvings, attention, attention_size)
        self.generator = Generator(spec, noise_dim, generator_dim, *shared)
        self.discriminator = Discriminator(spec, discriminator_dim, *shared)

    def forward(self, batch: PictureBatch) -> Output:
        """Scores (B, 2) of real and of generated pictures. Attention (B, N, M): `generator` of the generated pictures,
        `discriminator` of the real ones."""
        if batch.noise is None:
            raise ValueError("the batch has no noise to generate pictures from")
        count, label = batch.image.shape[0], batch.label
        made, attention = self.generate(batch.noise, label)
        real = scaled(batch.image, self.levels, self.discriminator.linear.bias)  # (B, C, H, W)
        scores, seen = self.criticise(torch.cat([real, made]), None if label is None else label.repeat(2))
        attention |= {name: weights[:count] for name, weights in seen.items()}
        exist = {name: a.new_ones(count, a.shape[2], dtype=torch.bool) for name, a in attention.items()}
        memories = {name: MemoryPositions.of(mask) for name, mask in exist.items()}
        return Output(scores.unflatten(0, (2, -1)).T, attention, memories=memories)

    def generate(self, noise: Tensor, label: Tensor | None = None) -> tuple[Tensor, dict[str, Tensor]]:
        """Noise (B, Z or more), classes (B,) -> pictures (B, C, H, W) in [-1, 1], attention `generator` (B, N, M)."""
        self._check(label)
        if noise.shape[1] < self.noise_dim:
            raise ValueError(f"noise_dim={self.noise_dim}: the batch has {noise.shape[1]} numbers per picture")
        noise = noise[:, : self.noise_dim].to(self.generator.linear.bias.dtype)
        pictures, weights = self.generator(noise, label)
        return pictures, {} if weights is None else {"generator": weights}

    def criticise(self, pictures: Tensor, label: Tensor | None = None) -> tuple[Tensor, dict[str, Tensor]]:
        """Pictures (B, C, H, W) in [-1, 1], classes (B,) -> scores (B,), attention `discriminator` (B, N, M)."""
        self._check(label)
        scores, weights = self.discriminator(pictures.to(self.discriminator.linear.bias.dtype), label)
        return scores, {} if weights is None else {"discriminator": weights}

    def _check(self, label: Tensor | None) -> None:
        if self.condition == "label" and label is None:
            raise ValueError("the network was built with condition=label, and the batch has none")


def halvings_of(height: int, width: int) -> int:
    """The largest n for which height / 2^n and width / 2^n are whole and at least 3. Raises ValueError for n = 0."""
    number = 0
    while not (height | width) >> number & 1 and min(height, width) >> (number + 1) >= SMALLEST:
        number += 1
    if not number:
        raise ValueError(
            f"the sides of {height} x {width} pictures cannot be halved to 3 or more; choose even sides of 6 or more,"
            " such as 12, 16, 28 or 32"
        )
    return number
