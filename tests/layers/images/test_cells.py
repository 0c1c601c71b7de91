"""Positions of the cells of a network: numbers by hand, torch's own counts, and gradients."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, fx, nn
from torchvision.models import swin_transformer
from torchvision.ops import SqueezeExcitation

from zoo.data.images.batch import ImageSpec
from zoo.layers.images.backbone import Backbone, Cells, cells_of
from zoo.layers.images.encoder import ImageEncoder
from zoo.layers.pretrained import not_pretrained

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


def spec_of(grid: tuple[int, int], side: int = 224, **other) -> ImageSpec:
    facts = {"channels": 3, "height": side, "width": side, "target_size": 9, "longest_target": 5}
    return ImageSpec(**facts | other, grid=grid)


def images(side: int = 64) -> Tensor:
    """Two images of random pixels."""
    return torch.randint(256, (2, 3, side, side), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def test_by_hand() -> None:
    """The first convolution and the pool of a ResNet, a patch of a ViT, AlexNet's first convolution."""
    assert Cells(224).through(7, 2, 3) == Cells(112, 2, 0.0)
    assert Cells(112, 2, 0.0).through(3, 2, 1) == Cells(56, 4, 0.0)
    assert Cells(224).through(16, 16, 0) == Cells(14, 16, 7.5)
    assert Cells(224).through(11, 4, 2) == Cells(55, 4, 3.0)
    assert Cells(10).through(3, 1, 0, dilation=2) == Cells(6, 1, 2.0)


@given(
    pixels=st.integers(8, 60),
    kernel=st.integers(1, 5),
    stride=st.integers(1, 3),
    padding=st.integers(0, 2),
    ceil=st.booleans(),
)
def test_the_count_is_that_of_torch(pixels: int, kernel: int, stride: int, padding: int, ceil: bool) -> None:
    padding = min(padding, kernel // 2)
    pool = nn.MaxPool2d(kernel, stride, padding, ceil_mode=ceil)
    found = pool(torch.zeros(1, 1, pixels, pixels)).shape[-1]
    assert Cells(pixels).through(kernel, stride, padding, ceil=ceil).count == found


class Branches(nn.Module):
    """Two branches whose cells are `apart` pixels from each other."""

    def __init__(self, apart: int) -> None:
        super().__init__()
        self.one, self.other = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 4, 3, padding=1 + apart)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.one(x), self.other(x)], 1)


def test_branches_have_equal_cells_or_are_refused() -> None:
    assert cells_of(fx.symbolic_trace(Branches(0)), 9) == Cells(9)
    with pytest.raises(ValueError, match="its branches have different cells"):
        cells_of(fx.symbolic_trace(Branches(1)), 9)


FAMILIES = {
    "alexnet": 224,
    "convnext_tiny": 224,
    "densenet121": 224,
    "efficientnet_b0": 448,  # of wide fields, which the border would cut off
    "googlenet": 224,
    "inception_v3": 224,
    "mnasnet0_5": 448,
    "mobilenet_v3_small": 448,
    "regnet_y_400mf": 224,
    "resnet18": 224,
    "shufflenet_v2_x0_5": 224,
    "squeezenet1_1": 224,
    "swin_t": 224,
    "vgg11": 224,
    "vit_b_32": 224,
}


@pytest.mark.parametrize(("name", "side"), FAMILIES.items(), ids=FAMILIES)
def test_cells_of_every_network_are_regular(name: str, side: int) -> None:
    """A shift by whole pixels leaves up to half a pixel."""
    with not_pretrained():
        encoder = plain(Backbone(spec_of((7, 7)), name=name, size=side, weights="none", finetune_from=0))
    assert isinstance(encoder, Backbone)
    middle = encoder.cells[0] // 2
    for found in looks_at(encoder, (middle, middle), (side, side)):
        assert found == pytest.approx(regular(middle, encoder.cells[0], side), abs=0.6)
