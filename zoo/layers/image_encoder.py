"""From images to the vectors that a network looks at: what every image encoder is.

Notation: I images of C channels and H by W pixels; S cells of the grid, one row of cells after the other; D numbers a
cell.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from zoo.data.images.spec import ImageSpec
from zoo.dotted import class_at

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of red, green and blue over ImageNet: by these the pixels of every encoder are normalised."""


class ImageEncoder(nn.Module, ABC):
    """A grid of vectors for each image: the annotation vectors of Xu et al. 2015, section 3.1.1.

    A subclass fills in `features`, which needs not know of the grid: what it gives is pooled to that where it has
    another size, its cells being regular: cell (i, j) of h by w is centred at ((i + 1/2) / h, (j + 1/2) / w) of the
    image. Of data that hold features already (`spec.encoded`) nothing is computed, and `dim` is theirs.
    """

    dim: int
    """D."""
    mean: Tensor
    deviation: Tensor

    def __init__(self, spec: ImageSpec, dim: int) -> None:
        super().__init__()
        self.grid, self.encoded = spec.grid, spec.encoded
        self.dim = spec.channels if spec.encoded else dim
        self.register_buffer("mean", 255 * torch.tensor(MEAN).view(3, 1, 1), persistent=False)
        self.register_buffer("deviation", 255 * torch.tensor(DEVIATION).view(3, 1, 1), persistent=False)

    @abstractmethod
    def features(self, pixels: Tensor) -> Tensor:
        """(I, D, h, w) from normalised pixels (I, 3, H, W)."""

    def forward(self, image: Tensor) -> Tensor:
        """(I, S, D) from pixels, uint8 (I, 3, H, W), or from stored features (I, D, rows, columns)."""
        if self.encoded:
            features = image.float() if image.dtype == torch.float16 else image
        else:
            features = self.features((image.to(self.mean.dtype) - self.mean) / self.deviation)
        if features.shape[2:] != self.grid:
            features = nn.functional.adaptive_avg_pool2d(features, self.grid)
        return features.flatten(2).transpose(1, 2)


def image_encoder(encoder: Mapping[str, Any], spec: ImageSpec) -> ImageEncoder:
    """The encoder that a plain dict describes, its class as `_target_` and what that takes beside the spec. Raises
    CheckpointError where the class is not there or is no `ImageEncoder`."""
    options = {str(key): value for key, value in encoder.items() if key != "_target_"}
    return class_at(encoder["_target_"], ImageEncoder)(spec, **options)
