"""The frames of clips as vectors: what an image encoder sees in each of them, and how it moves.

Notation: I clips of F frames, N real frames of all; S cells of a frame, C numbers per cell; D width of a frame.
"""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

from zoo.arguments import Count
from zoo.layers.images.encoder import Images, image_encoder
from zoo.layers.packing import Packing

Motion = Literal["none", "differences", "conv3d"]


class Films(Protocol):
    """The frames of a batch, see `ClipBatch`."""

    @property
    def frames(self) -> Tensor: ...
    @property
    def frame_packing(self) -> Packing: ...


class FrameEncoder(nn.Module):
    """One vector for each frame: the vectors of its cells, concatenated, and those of its motion.

    `motion` = none | differences: the difference of each number from the frame before, 0 in the first frame | conv3d: a
    convolution of the cells of three frames in time and of 3 by 3 cells, with a ReLU, of which the mean over the cells
    is taken.
    """

    def __init__(
        self, spec: Images, encoder: Mapping[str, Any], motion: Motion = "none", motion_dim: Count = 64
    ) -> None:
        super().__init__()
        self.image = image_encoder(encoder, spec)
        self.grid, self.motion = spec.grid, motion
        appearance = self.image.dim * spec.grid[0] * spec.grid[1]
        self.dim = appearance + {"none": 0, "differences": appearance, "conv3d": motion_dim}[motion]
        self.convolution = nn.Conv3d(self.image.dim, motion_dim, 3, padding=1) if motion == "conv3d" else None

    def forward(self, batch: Films) -> Tensor:
        """(I, F, D), 0 at padding."""
        packing = batch.frame_packing
        cells = packing.unpack(self.image(packing.pack(batch.frames)))  # (I, F, S, C)
        seen = cells.flatten(2)
        if self.convolution is not None:
            volume = cells.unflatten(2, self.grid).permute(0, 4, 1, 2, 3)  # (I, C, F, rows, columns)
            moved = self.convolution(volume).relu().mean((3, 4)).transpose(1, 2)
        elif self.motion == "differences":
            moved = torch.cat([torch.zeros_like(seen[:, :1]), seen[:, 1:] - seen[:, :-1]], 1)
        else:
            return seen
        return packing.unpack(packing.pack(torch.cat([seen, moved], 2)))
