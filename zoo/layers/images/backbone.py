"""Networks of torchvision as image encoders: a grid of vectors from a layer before their classifier.

Cells are regular for every network. In torchvision's ResNets the cells are at pixels 0, 32, 64, ..., half a cell up and
to the left of a regular grid, since an odd kernel of stride 2 is centred on the first of two pixels. Images are shifted
by this offset. The border is repeated outward, so that nothing is lost, and cells that see only the repeated border are
dropped. The shift is rounded to whole pixels: half a pixel of 32 remains. VGG, ConvNeXt, Swin and ViT need no shift.

The offset follows from kernels, strides and paddings. Pixel x of an axis is centred at x. A convolution of kernel k,
stride s and padding p that reads a cell every `step` pixels, the first at `first`, gives one every s * step, the first
at first + ((k - 1) / 2 - p) * step (Araujo, Norris and Sim 2019, https://distill.pub/2019/computing-receptive-fields/).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import Any, Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn
from torchvision.models import swin_transformer
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names

from zoo.arguments import Count, Natural, Positive
from zoo.errors import ConfigError, did_you_mean
from zoo.layers.images.encoder import ImageEncoder, Images
from zoo.layers.images.weights import DEFAULT, NONE, check_name, load_weights, network, weights_file
from zoo.layers.pretrained import Pretrained, pretrained_wanted
from zoo.precision import precise

Layout = Literal["channels first", "channels last", "tokens"]

LAYERS = {
    "Mixed_7c": ("inception",),
    "blocks": ("maxvit",),
    "conv5": ("shufflenet",),
    "encoder": ("vit",),
    "features": ("convnext", "efficientnet", "mobilenet", "squeezenet"),
    "inception5b": ("googlenet",),
    "layer4": ("resnet", "resnext", "wide_resnet"),
    "layers": ("mnasnet",),
    "permute": ("swin",),
    "relu": ("densenet",),
    "trunk_output": ("regnet",),
}
"""The last layer that has cells, with the beginnings of the names of its networks. In AlexNet and VGG it is the layer
before the last pool."""


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
    step: int = 1  # Pixels from one cell to the next
    first: float = 0.0  # The pixel at the centre of the first cell

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


class Axis(NamedTuple):
    """The padding and the cells of one axis of an image."""

    pixels: int
    before: int  # Copies of the first pixel that are added before it
    after: int  # Copies of the last pixel that are added after it
    dropped: int  # Cells that see only the copies before the first pixel
    cells: int  # Cells that are kept
    all: int  # Cells that the network gives

    @property
    def padded(self) -> int:
        return self.before + self.pixels + self.after

    @property
    def kept(self) -> slice:
        return slice(self.dropped, self.dropped + self.cells)


class Plan(NamedTuple):
    """The axes of images, and the memory layout of the layer's output."""

    rows: Axis
    columns: Axis
    layout: Layout
    dim: int  # D


class Backbone(ImageEncoder):
    """Any classifier of torchvision, up to a layer.

    `name` is that of `torchvision.models.get_model`. `layer` is a node of `torchvision.models.feature_extraction`, or a
    module, for its last node; None: the last one with cells, after its ReLU: conv5_4 of VGG-19, layer4 of a ResNet, the
    patches of a ViT without the class token. `weights` are `none` (random), `default` (torchvision's of ImageNet,
    downloaded once), or the path of a state dict. Images are scaled to `size` pixels per side; None: they keep their
    size. The weights are trained from the epoch `finetune_from` on, counted from 0; None: never. `learning_rate` is the
    maximum of their schedule. Raises ConfigError for impossible values.
    """

    def __init__(
        self,
        spec: Images,
        *,
        name: str,
        layer: str | None = None,
        weights: str = "default",
        size: Count | None = 224,
        finetune_from: Natural | None = None,
        learning_rate: Positive = 1e-5,
    ) -> None:
        if spec.encoded:
            if finetune_from is not None:
                raise ConfigError(
                    f"finetune_from={finetune_from}: the data hold features that were computed once, and {name} is not "
                    "run again: leave it null, or use data with pixels"
                )
            super().__init__(spec, spec.channels)
            return
        self.check({"name": name, "weights": weights, "size": None})
        sides = (size, size) if size else (spec.height, spec.width)
        body, whole = _body(name, layer, sides, drawn=weights == NONE and pretrained_wanted())
        plan = _plan(body, name, sides)
        super().__init__(spec, plan.dim)
        self.plan = plan
        if weights != NONE and pretrained_wanted():
            load_weights(body, whole, weights_file(name, weights), name)
        self.backbone = Pretrained(body, finetune_from=finetune_from, learning_rate=learning_rate)

    @classmethod
    def check(cls, arguments: Mapping[str, Any]) -> None:
        """Check the arguments before there are data. Raises ConfigError for an invalid one."""
        name, layer, weights = arguments["name"], arguments.get("layer"), arguments.get("weights", DEFAULT)
        check_name(name)
        if weights not in (NONE, DEFAULT) and pretrained_wanted():
            weights_file(name, weights)
        if size := arguments.get("size", 224):
            _try_out(name, layer, size)

    @property
    def cells(self) -> tuple[int, int]:
        """Rows and columns of the cells that `features` gives, before they are pooled to the grid."""
        return self.plan.rows.cells, self.plan.columns.cells

    def features(self, pixels: Tensor) -> Tensor:
        """(I, D, h, w) from normalised pixels (I, 3, H, W)."""
        rows, columns, layout, _ = self.plan
        if pixels.shape[2:] != (rows.pixels, columns.pixels):
            exact = precise(pixels)  # on a CPU, antialias requires float32
            brought = F.interpolate(exact, (rows.pixels, columns.pixels), mode="bilinear", antialias=True)
            pixels = brought.to(pixels.dtype)
        around = (columns.before, columns.after, rows.before, rows.after)
        found = self.backbone(F.pad(pixels, around, mode="replicate"))
        if layout == "tokens":
            found = found[:, -rows.all * columns.all :].unflatten(1, (rows.all, columns.all))  # without a class token
        if layout != "channels first":
            found = found.permute(0, 3, 1, 2)
        return found[:, :, rows.kept, columns.kept]


def _body(name: str, layer: str | None, sides: tuple[int, int], *, drawn: bool) -> tuple[fx.GraphModule, nn.Module]:
    """torchvision's network up to a layer, and the whole network. Raises ConfigError for an unknown layer."""
    if name.startswith("vit_") and sides[0] != sides[1]:
        raise ConfigError(f"size=null: {name} requires square images, found {sides[0]} by {sides[1]}: set size=224")
    whole = network(name, drawn=drawn, size=sides[0])
    node = layer or _last_with_cells(name, whole)
    try:
        both = create_feature_extractor(whole, [node])
    except ValueError as error:
        nodes = get_graph_node_names(whole)[1]
        modules = [key for key, _ in whole.named_modules() if any(each.startswith(f"{key}.") for each in nodes)]
        hint = did_you_mean(node, [*nodes, *modules])
        raise ConfigError(f"layer={node}: {name} has no such node; {hint}") from error
    body = fx.GraphModule(both, both.eval_graph)
    (end,) = body.graph.find_nodes(op="output")
    end.args = (end.args[0][node],)  # the output itself instead of a dict with one entry
    body.recompile()
    return body.eval(), whole


def _last_with_cells(name: str, whole: nn.Module) -> str:
    for layer, beginnings in LAYERS.items():
        if name.startswith(beginnings):
            return layer
    if name.startswith(("alexnet", "vgg")):
        return f"features.{len(whole.features) - 2}"  # type: ignore[arg-type]
    raise ConfigError(
        f"layer=null: the last node of {name} with cells is not known; set layer to one of the names that "
        "torchvision.models.feature_extraction.get_graph_node_names lists"
    )


@cache
def _try_out(name: str, layer: str | None, size: int) -> None:
    """Raises ConfigError if such an encoder cannot be built."""
    body, _ = _body(name, layer, (size, size), drawn=False)
    _plan(body, name, (size, size))


def _axis(body: fx.GraphModule, name: str, pixels: int) -> Axis:
    """The padding that makes the cells of an axis regular. Raises ConfigError if none does."""
    cells = _cells(body, name, pixels)
    count, beyond = divmod(pixels, cells.step)
    if beyond:
        raise ConfigError(
            f"size={pixels}: a cell of {name} is {cells.step} pixels wide, expected a multiple of that: set "
            f"size={round(pixels / cells.step) * cells.step or cells.step}"
        )
    late = cells.first - (cells.step - 1) / 2  # pixels by which the first cell is too far
    dropped = max(0, math.ceil((-0.5 - late) / cells.step))
    before = max(0, math.ceil(late + dropped * cells.step - 0.5))
    after = 0
    while (found := _cells(body, name, before + pixels + after).count) < dropped + count:
        after += 1
    return Axis(pixels, before, after, dropped, count, found)


def _cells(body: fx.GraphModule, name: str, pixels: int) -> Cells:
    try:
        cells = cells_of(body, pixels)
    except ValueError as error:
        raise ConfigError(f"layer: its cells have no regular positions, {error}; choose another of {name}") from error
    if cells is None:
        raise ConfigError(
            f"layer: it has one vector for the whole image, not one per cell; choose an earlier one of {name}"
        )
    return cells


def _plan(body: fx.GraphModule, name: str, sides: tuple[int, int]) -> Plan:
    """The axes of the images, and the layout of the output in a run on the meta device. Raises ConfigError if the
    network refuses such images, or if its layer has unexpected cells."""
    rows, columns = (_axis(body, name, pixels) for pixels in sides)
    weights = {key: torch.empty_like(weight, device="meta") for key, weight in body.state_dict().items()}
    images = torch.empty(1, 3, rows.padded, columns.padded, device="meta")
    try:
        with redirect_stderr(StringIO()):  # fx prints the code of the error
            shape = torch.func.functional_call(body, weights, images).shape
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ConfigError(
            f"name={name}: it cannot read images of {rows.padded} by {columns.padded} pixels ({reason})"
        ) from error
    cells = rows.all, columns.all
    if len(shape) == 4 and shape[2:] == cells:
        return Plan(rows, columns, "channels first", shape[1])
    if len(shape) == 4 and shape[1:3] == cells:
        return Plan(rows, columns, "channels last", shape[3])
    if len(shape) == 3 and shape[1] - cells[0] * cells[1] in (0, 1):
        return Plan(rows, columns, "tokens", shape[2])
    raise ConfigError(
        f"layer: it gives {' x '.join(map(str, shape[1:]))} numbers per image, expected {cells[0]} x {cells[1]} cells; "
        f"choose another of {name}, or null"
    )
