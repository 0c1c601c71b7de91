"""A small convolutional image encoder, for pictures of generated scenes."""

from __future__ import annotations

from torch import Tensor, nn

from zoo.arguments import Count
from zoo.data.images.spec import ImageSpec
from zoo.layers.image_encoder import ImageEncoder


class SmallEncoder(ImageEncoder):
    """`halvings` convolutions of stride 2 and one more, each with a ReLU, and a learned vector for each cell, by which
    it can tell where it is.

    Kernels of stride 2 are 4 wide: they stand evenly around each cell, and cells are regular. With three halvings a
    cell sees 38 by 38 pixels.
    """

    def __init__(self, spec: ImageSpec, *, dim: Count = 128, width: Count = 32, halvings: Count = 3) -> None:
        super().__init__(spec, dim)
        if spec.encoded:
            return
        widths = [3, *(min(width * 2**k, dim) for k in range(halvings - 1)), dim]
        layers: list[nn.Module] = []
        for read, written in zip(widths[:-1], widths[1:], strict=True):
            layers += [nn.Conv2d(read, written, 4, stride=2, padding=1), nn.ReLU()]
        self.convolutions = nn.Sequential(*layers, nn.Conv2d(dim, dim, 3, padding=1), nn.ReLU())
        self.place = nn.Embedding(spec.cells, dim)
        for layer in self.convolutions:
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                nn.init.zeros_(layer.bias)
        nn.init.normal_(self.place.weight, std=0.1)

    def features(self, pixels: Tensor) -> Tensor:
        """(I, D, h, w) from normalised pixels (I, 3, H, W)."""
        return self.convolutions(pixels)

    def forward(self, image: Tensor) -> Tensor:
        """(I, S, D) from pixels, uint8 (I, 3, H, W), or from stored features."""
        cells = super().forward(image)
        return cells if self.encoded else cells + self.place.weight
