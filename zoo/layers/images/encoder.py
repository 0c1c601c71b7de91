"""The base of image encoders, which turn images into the vectors that a network attends to.

Notation: I images of C channels and H by W pixels; S cells of the grid, row by row; D numbers per cell.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from zoo.dotted import built

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Mean and deviation of red, green and blue over ImageNet, with which every encoder normalises pixels."""


class Images(Protocol):
    """The facts about its images that an encoder is built from, see `ImageSpec`."""

    @property
    def channels(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def grid(self) -> tuple[int, int]: ...
    @property
    def encoded(self) -> bool: ...


class ImageEncoder(nn.Module, ABC):
    """A grid of vectors for each image: the annotation vectors of Xu et al. 2015, section 3.1.1.

    A subclass defines `features`. Its result is pooled to the grid if it has another size, and its cells must be
    regular: cell (i, j) of h by w is centred at ((i + 1/2) / h, (j + 1/2) / w) of the image. If the data hold features
    already (`spec.encoded`), nothing is computed, and `dim` is the width of these features.
    """

    dim: int  # D
    mean: Tensor
    deviation: Tensor

    def __init__(self, spec: Images, dim: int) -> None:
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


def image_encoder(encoder: Mapping[str, Any], spec: Images) -> ImageEncoder:
    """The encoder that a plain dict describes: its class as `_target_`, and its arguments besides the spec. Raises
    CheckpointError if the class does not exist or is not an `ImageEncoder`."""
    return built(encoder, ImageEncoder, spec)
