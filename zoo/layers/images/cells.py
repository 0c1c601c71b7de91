"""The positions of a layer's cells on an image, computed through the graph of a convolutional network.

Pixel x of an axis is centred at x. A convolution of kernel k, stride s and padding p that reads a cell every `step`
pixels, the first at `first`, gives one every s * step, the first at first + ((k - 1) / 2 - p) * step (Araujo, Norris
and Sim 2019, https://distill.pub/2019/computing-receptive-fields/). In the last layer of torchvision's ResNets cell o
is at pixel 32 o: an odd kernel of stride 2 is centred on the first of two pixels, not between them. In a regular grid,
which every `ImageEncoder` gives, it would be at 32 o + 15.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn
from torchvision.models import swin_transformer

WINDOWS = (nn.Conv2d, nn.MaxPool2d, nn.AvgPool2d)
POOLS = {torch.nn.functional.max_pool2d, torch.max_pool2d, torch.nn.functional.avg_pool2d, torch._C._nn.avg_pool2d}
NOWHERE = {torch.nn.functional.adaptive_avg_pool2d, "mean", getattr, "size", "dim"}
"""Operations on the whole image or only its shape, so that their output has no position."""
HALVES = {swin_transformer._patch_merging_pad}
"""Operations that join 2 by 2 cells, as a kernel of 2 with a stride of 2."""


@dataclass(frozen=True)
class Cells:
    """The cells of a layer along one axis of an image."""

    count: int
    step: int = 1
    """Pixels from one cell to the next."""
    first: float = 0.0
    """The pixel at the centre of the first cell."""

    def through(self, kernel: int, stride: int, padding: int, dilation: int = 1, ceil: bool = False) -> Cells:
        """The cells of the next layer."""
        room = self.count + 2 * padding - dilation * (kernel - 1) - 1
        count = (math.ceil if ceil else math.floor)(room / stride) + 1
        if ceil and (count - 1) * stride >= self.count + padding:  # a window that would see only padding
            count -= 1
        return Cells(count, self.step * stride, self.first + (dilation * (kernel - 1) / 2 - padding) * self.step)


def cells_of(graph: fx.GraphModule, pixels: int) -> Cells | None:
    """The cells of the output of `graph` along one axis of `pixels` pixels, since networks treat both axes in the same
    way. None if the output has no position, such as the score of a class or the mean of an image."""
    found: dict[fx.Node, Cells | None] = {}
    for node in graph.graph.nodes:
        if node.op == "placeholder":
            found[node] = Cells(pixels)
            continue
        found[node] = _joined([cells for each in node.all_input_nodes if (cells := found[each]) is not None])
        if node.op == "call_module":
            found[node] = _module(graph.get_submodule(node.target), found[node])
        elif node.op in ("call_function", "call_method"):
            found[node] = _function(node, found[node])
    return found[node]


def _joined(read: Sequence[Cells]) -> Cells | None:
    """The cells of branches that are added, multiplied or concatenated. Raises ValueError if they differ."""
    for cells in read:
        if cells != read[0]:
            raise ValueError(f"its branches have different cells: {cells} and {read[0]}")
    return read[0] if read else None


def _module(module: nn.Module, cells: Cells | None) -> Cells | None:
    if isinstance(module, nn.Sequential):  # a leaf module of torchvision, such as a convolution with its norm
        for part in module:
            cells = _module(part, cells)
        return cells
    if isinstance(module, nn.AdaptiveAvgPool2d):
        return None
    if cells is None or not isinstance(module, WINDOWS):
        return cells
    kernel, stride, padding = (_one(size) for size in (module.kernel_size, module.stride, module.padding))
    dilation, ceil = _one(getattr(module, "dilation", 1)), bool(getattr(module, "ceil_mode", False))
    return cells.through(kernel, stride, padding, dilation, ceil)


def _function(node: fx.Node, cells: Cells | None) -> Cells | None:
    if cells is None or node.target in NOWHERE:
        return None
    if node.target in HALVES:
        return Cells(math.ceil(cells.count / 2), cells.step * 2, cells.first + cells.step / 2)
    if node.target not in POOLS:
        return cells
    names = ("input", "kernel_size", "stride", "padding")
    options: dict[str, Any] = dict(zip(names, node.args, strict=False)) | node.kwargs
    kernel, ceil = _one(options["kernel_size"]), bool(options.get("ceil_mode", False))
    return cells.through(kernel, _one(options.get("stride") or kernel), _one(options.get("padding", 0)), ceil=ceil)


def _one(size: Any) -> int:
    """The size along the first axis."""
    return int(size if isinstance(size, int) else size[0])
