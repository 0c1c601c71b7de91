"""The frames of clips as vectors: what an image encoder sees in each of them, and how it moves.

Notation: I clips of F frames, N real frames of all; S cells of a frame, C numbers per cell; D width of a frame.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

from zoo.arguments import Count
from zoo.layers.images.encoder import Images, image_encoder
from zoo.layers.packing import Packing

Motion = Literal["none", "differences", "conv3d"]
WAVES = 8


class Films(Protocol):
    """The frames of a batch, see `ClipBatch`."""

    @property
    def frames(self) -> Tensor: ...
    @property
    def frame_mask(self) -> Tensor: ...
    @property
    def frame_packing(self) -> Packing: ...


class FrameEncoder(nn.Module):
    """One vector for each frame: the vectors of its cells, concatenated, and those of its motion.

    `motion` = none | differences: how much each number has grown since the frame before, and how much it has fallen; 0
    in the first frame | conv3d: a convolution over three frames and 3 by 3 cells, with a ReLU, and the mean over the
    cells. With `times` a vector also has WAVES sines and cosines of the time of its frame, without which attention does
    not see the order of the frames.
    """

    def __init__(
        self,
        spec: Images,
        encoder: Mapping[str, Any],
        motion: Motion = "none",
        motion_dim: Count = 64,
        *,
        times: bool = False,
    ) -> None:
        super().__init__()
        self.image = image_encoder(encoder, spec)
        self.grid, self.motion = spec.grid, motion
        appearance = self.image.dim * spec.grid[0] * spec.grid[1]
        self.times = times
        self.dim = appearance + {"none": 0, "differences": 2 * appearance, "conv3d": motion_dim}[motion] + WAVES * times
        self.convolution = nn.Conv3d(self.image.dim, motion_dim, 3, padding=1) if motion == "conv3d" else None

    def forward(self, batch: Films) -> Tensor:
        """(I, F, D), 0 at padding."""
        packing = batch.frame_packing
        cells = packing.unpack(self.image(packing.pack(batch.frames)))  # (I, F, S, C)
        seen = cells.flatten(2)
        parts = [seen]
        if self.convolution is not None:
            volume = cells.unflatten(2, self.grid).permute(0, 4, 1, 2, 3)  # (I, C, F, rows, columns)
            parts.append(self.convolution(volume).relu().mean((3, 4)).transpose(1, 2))
        elif self.motion == "differences":
            change = torch.cat([torch.zeros_like(seen[:, :1]), seen[:, 1:] - seen[:, :-1]], 1)
            parts += [change.relu(), (-change).relu()]
        if self.times:
            parts.append(time_waves(batch.frame_mask, seen.dtype))
        return seen if len(parts) == 1 else packing.unpack(packing.pack(torch.cat(parts, 2)))


def time_waves(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """(I, F) -> (I, F, WAVES) sines and cosines of the times (i + 1/2) / length of the frames, from half a wave over a
    whole clip to four."""
    length = mask.sum(1).clamp(min=1).to(dtype)
    time = (torch.arange(mask.shape[1], device=mask.device, dtype=dtype) + 0.5) / length[:, None]
    phase = math.pi * time[..., None] * 2 ** torch.arange(WAVES // 2, device=mask.device)
    return torch.cat([phase.sin(), phase.cos()], 2)
