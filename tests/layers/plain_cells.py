"""Image encoders made so plain that where their cells look can be measured: weights positive, nothing nonlinear."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn
from torchvision.models import swin_transformer
from torchvision.ops import SqueezeExcitation

from zoo.layers.images.encoder import ImageEncoder

BENT = (nn.ReLU, nn.ReLU6, nn.Hardswish, nn.SiLU, nn.GELU, nn.Dropout, nn.BatchNorm2d, nn.LayerNorm)


def plain(encoder: ImageEncoder) -> ImageEncoder:
    """Make convolutions and pools means, remove norms and nonlinearities, and let operations on the whole image
    (attention, squeeze and excitation) add nothing that depends on it."""
    for parameter in encoder.parameters():
        fan = parameter[0].numel() if parameter.dim() > 1 else 1
        nn.init.constant_(parameter, 1 / fan if parameter.dim() > 1 else 0.1)
    for module in list(encoder.modules()):
        if isinstance(module, nn.MultiheadAttention):
            nn.init.zeros_(module.out_proj.weight)
        if isinstance(module, SqueezeExcitation):
            nn.init.zeros_(module.fc2.weight)
        for name, part in module.named_children():
            if isinstance(part, BENT):
                setattr(module, name, nn.Identity())
            if isinstance(part, nn.MaxPool2d):
                setattr(
                    module,
                    name,
                    nn.AvgPool2d(part.kernel_size, part.stride, part.padding, part.ceil_mode, count_include_pad=False),
                )
    for module in encoder.modules():
        if isinstance(module, fx.GraphModule):
            for node in module.graph.nodes:
                if node.op == "call_function":
                    _straighten(node)
            module.recompile()
    return encoder


def _straighten(node: fx.Node) -> None:
    """Do as `plain` does, for a function instead of a module."""
    if node.target in (F.layer_norm, F.relu):
        node.target, node.args, node.kwargs = _same, node.args[:1], {}
    if node.target in (F.max_pool2d, torch.max_pool2d):
        told = {key: value for key, value in node.kwargs.items() if key not in ("dilation", "return_indices")}
        node.target, node.kwargs = F.avg_pool2d, told
    if node.target is swin_transformer.shifted_window_attention:
        node.target, node.args, node.kwargs = _nothing, node.args[:1], {}


def _same(value: Any) -> Any:
    return value


def _nothing(value: Tensor) -> Tensor:
    return torch.zeros_like(value)


def looks_at(encoder: ImageEncoder, cell: tuple[int, int], sides: tuple[int, int]) -> tuple[float, float]:
    """The row and the column of pixels around which the cell looks: the middle of its gradient."""
    pixels = torch.ones(1, 3, *sides, requires_grad=True)
    (gradient,) = torch.autograd.grad(encoder.features(pixels)[0, :, cell[0], cell[1]].sum(), pixels)
    weight = gradient[0].sum(0, dtype=torch.float64)
    assert (weight >= 0).all() and weight.sum() > 0
    return _middle(weight.sum(1)), _middle(weight.sum(0))


def _middle(weight: Tensor) -> float:
    return float((weight * torch.arange(len(weight))).sum() / weight.sum())


def regular(cell: int, cells: int, pixels: int) -> float:
    """The pixel at which a cell of a regular grid is centred; pixel 0 is centred at 0."""
    return (cell + 0.5) / cells * pixels - 0.5
