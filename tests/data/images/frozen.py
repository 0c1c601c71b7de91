"""A small frozen encoder that counts the images of each call."""

from typing import ClassVar

import torch
from torch import Tensor, nn

from zoo.data.images.batch import ImageSpec
from zoo.layers.images.encoder import ImageEncoder

TARGET = "tests.data.images.frozen.Frozen"


class Frozen(ImageEncoder):
    """A convolution that is not trained."""

    seen: ClassVar[list[int]] = []
    """The number of images of each call."""

    def __init__(self, spec: ImageSpec, *, scale: float = 1.0, weights: str = "none", learns: bool = False) -> None:
        super().__init__(spec, 6)
        if spec.encoded:
            return
        self.convolution = nn.Conv2d(3, 6, 4, stride=4)
        if weights != "none":
            self.load_state_dict(torch.load(weights, weights_only=True))
        self.scale = scale
        self.requires_grad_(learns)

    def features(self, pixels: Tensor) -> Tensor:
        self.seen.append(len(pixels))
        return self.scale * self.convolution(pixels)
