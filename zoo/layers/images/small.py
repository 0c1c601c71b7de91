"""A small convolutional image encoder, for pictures of generated scenes."""

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from zoo.arguments import Count
from zoo.errors import ConfigError
from zoo.layers.images.encoder import ImageEncoder, Images


class SmallEncoder(ImageEncoder):
    """`halvings` + 1 convolutions, each with a ReLU, and a learned vector for each cell that
    encodes its position.

    The last of the `halvings` keeps the size and max pooling halves it: a shape is found anywhere in a cell. The
    convolutions before it have a stride of 2 and kernels 4 wide, which are centred on each cell, so that cells are
    regular. With three halvings a cell sees 38 by 38 pixels. The vectors of the cells are initialised as waves of their
    rows and columns (`place_codes`).
    """

    def __init__(self, spec: Images, *, dim: Count = 128, width: Count = 32, halvings: Count = 3) -> None:
        super().__init__(spec, dim)
        if spec.encoded:
            return
        if (least := 2**halvings) > min(spec.height, spec.width):
            raise ConfigError(
                f"halvings={halvings}: found images of {spec.height} by {spec.width} pixels, expected at least {least} "
                "per side: set fewer halvings, or use larger images"
            )
        widths = [3, *(min(width * 2**k, dim) for k in range(halvings - 1)), dim]
        layers: list[nn.Module] = []
        for read, written in pairwise(widths[:-1]):
            layers += [nn.Conv2d(read, written, 4, stride=2, padding=1), nn.ReLU()]
        layers += [nn.Conv2d(widths[-2], dim, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        self.convolutions = nn.Sequential(*layers, nn.Conv2d(dim, dim, 3, padding=1), nn.ReLU())
        self.place = nn.Embedding.from_pretrained(place_codes(*spec.grid, dim), freeze=False)
        for layer in self.convolutions:
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                assert layer.bias is not None
                nn.init.zeros_(layer.bias)

    def features(self, pixels: Tensor) -> Tensor:
        """(I, D, h, w) from normalised pixels (I, 3, H, W)."""
        return self.convolutions(pixels.contiguous(memory_format=torch.channels_last))  # faster on a CPU

    def forward(self, image: Tensor) -> Tensor:
        """(I, S, D) from pixels, uint8 (I, 3, H, W), or from stored features."""
        cells = super().forward(image)
        return cells if self.encoded else cells + self.place.weight


def place_codes(rows: int, columns: int, dim: int) -> Tensor:
    """(rows * columns, dim) sines and cosines of the position of a cell, first of its row and then of its column, from
    half a wave over the whole image to nearly four. A linear map can read the position from them."""
    waves = math.pi * 2 ** torch.linspace(0, 3, dim // 4 + 2, dtype=torch.float64)[: -(-dim // 4)]  # (dim / 4,)

    def axis(cells: int) -> Tensor:
        phase = (torch.arange(cells) + 0.5)[:, None] / cells * waves
        return torch.cat([phase.sin(), phase.cos()], 1)  # (cells, dim / 2)

    row, column = axis(rows)[:, None].expand(-1, columns, -1), axis(columns).expand(rows, -1, -1)
    return torch.cat([row, column], 2).flatten(0, 1)[:, :dim].contiguous().to(torch.get_default_dtype())
