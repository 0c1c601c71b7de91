"""Conditional Image Generation with PixelCNN Decoders.

Aaron van den Oord, Nal Kalchbrenner, Oriol Vinyals, Lasse Espeholt, Alex Graves, Koray Kavukcuoglu. NIPS 2016.
https://arxiv.org/abs/1606.05328

Equations: (2) y = tanh(W_f * x) ∘ sigmoid(W_g * x), and (3, 4) with a condition h, y = tanh(W_f * x + V_f^T h) ∘
sigmoid(W_g * x + V_g^T h). Figure 2: a vertical stack sees all rows above a pixel, and a horizontal stack the pixels to
the left in its own row. The horizontal stack reads the vertical one through a 1 x 1 convolution before the gate. It has
residual connections, except in the first layer. Together they see every earlier pixel. This removes the blind spot.

What differs from the paper (which gives no sizes but those for CIFAR-10 and ImageNet):
- The vertical stack is a convolution of k // 2 + 1 rows, moved down by one row where the horizontal stack reads it. The
  paper's figure shows n x n kernels with a mask, which have the same weights besides those that the mask removes.
- The first layer has a kernel of `first_kernel`, as in PixelCNN (van den Oord et al. 2016a).
- The link has no bias of its own, since its output is added to that of a convolution with a bias.
- The condition is added in both stacks. `condition: label` is a table of V^T h for classes, and `factors` a linear map.
  The paper's third form, a condition with a place, is not here.
- Two 1 x 1 convolutions with rectifiers lead to the scores, as in PixelCNN.

Notation: B pictures, C colours, H rows, W columns, L levels, D hidden_dim, k kernel_size, p = k // 2.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Odd
from zoo.data.pictures.batch import PictureBatch, PictureSpec, by_level, scaled
from zoo.layers.gate import gate, plain
from zoo.layers.masked import Inputs, MaskedConvolution, RowsAbove, divides, level_scores
from zoo.models.network import DensityNetwork
from zoo.models.output import Output

PIXEL = torch.Size((1, 1))


class Layer(nn.Module):
    """One layer of both stacks. The first one reads the picture."""

    def __init__(self, inputs: int, width: int, kernel: int, colours: int, *, first: bool) -> None:
        super().__init__()
        self.first = first
        self.vertical = RowsAbove(inputs, 2 * width, kernel)
        self.link = nn.Conv2d(2 * width, 2 * width, 1, bias=False)
        self.horizontal = MaskedConvolution(
            inputs, 2 * width, kernel, first=first, above=False, colours=colours, halves=2
        )
        self.outward = MaskedConvolution(width, width, 1, colours=colours)

    def beside(self, gated: Tensor, x: Tensor) -> Tensor:
        """The horizontal stack after its gate (B, D, ...); `x` is its input."""
        y = self.outward(gated)
        return y if self.first else y + x


class Rows(NamedTuple):
    """Activations at the pixels that are known."""

    vertical: list[Inputs]  # Of each layer, and so below
    horizontal: list[Inputs]
    linked: list[Tensor]  # (B, 2 D, 1, W) links to the row that is being read, with the condition
    condition: list[tuple[Tensor, Tensor]] | None


class GatedPixelCNN(DensityNetwork):
    """Gated convolutions in two stacks. It sees every pixel before, as far as its kernels reach.

    `condition`: `label` or `factors`, facts of the batch that each value depends on; `none`. Raises ValueError for a
    condition that the pictures do not have, and for a width that the number of colours does not divide.
    """

    tasks = ("density",)

    def __init__(
        self,
        spec: PictureSpec,
        *,
        hidden_dim: Count = 64,
        num_layers: Count = 10,
        kernel_size: Odd = 3,
        first_kernel: Odd = 7,
        head_dim: Count = 64,
        condition: Literal["none", "label", "factors"] = "none",
    ) -> None:
        super().__init__()
        self.levels, self.colours = spec.levels, spec.channels
        divides(self.colours, hidden_dim=hidden_dim, head_dim=head_dim)
        sizes = [(self.colours, first_kernel), *[(hidden_dim, kernel_size)] * (num_layers - 1)]
        self.layers: Sequence[Layer] = nn.ModuleList(  # type: ignore[assignment]
            Layer(inputs, hidden_dim, kernel, self.colours, first=not number)
            for number, (inputs, kernel) in enumerate(sizes)
        )
        self.head = level_scores(hidden_dim, head_dim, self.levels, self.colours)
        self.condition: nn.Module | None = None
        if condition != "none":
            given = len(spec.classes) if condition == "label" else spec.factors
            if not given:
                raise ValueError(f"condition={condition}: these pictures have no {condition}; set condition=none")
            width = 4 * hidden_dim * num_layers
            self.conditions = condition
            self.condition = nn.Embedding(given, width) if condition == "label" else nn.Linear(given, width)

    def forward(self, batch: PictureBatch) -> Output:
        above = beside = scaled(batch.image, self.levels, self.layers[0].link.weight)  # (B, C, H, W)
        condition = self._condition(batch)
        size = above.shape[2:]
        for number, layer in enumerate(self.layers):
            seen = layer.vertical.wide(above)  # (B, 2 D, H + p, W)
            read = layer.horizontal.wide(beside)  # (B, 2 D, H, W + p)
            linked = layer.link(seen)
            if condition is not None:
                seen, read = seen + condition[number][0], read + condition[number][1]
            beside = layer.beside(gate(read, size, linked), beside)  # (B, D, H, W)
            if layer is not self.layers[-1]:
                above = gate(seen, size)
        return Output(by_level(self.head(beside), self.colours))

    def start(self, batch: PictureBatch) -> Rows:
        count, _, height, width = batch.image.shape
        like = self.layers[0].link.weight
        inputs = [like.new_empty(count, layer.vertical.in_channels) for layer in self.layers]
        made = [(one, height, width) for one in inputs]
        nothing = like.new_zeros(count, like.shape[1], 1, width)
        return Rows(
            [Inputs(*sizes, layer.vertical) for sizes, layer in zip(made, self.layers, strict=True)],
            [Inputs(*sizes, layer.horizontal) for sizes, layer in zip(made, self.layers, strict=True)],
            [layer.link(nothing) for layer in self.layers],
            self._condition(batch),
        )

    def step(self, values: Tensor, row: int, column: int, state: Rows) -> Tensor:
        picture = scaled(values, self.levels, self.layers[0].link.weight)
        if row and not column:
            self._link(picture[:, :, row - 1, None], row - 1, state)
        beside = picture
        for number, layer in enumerate(self.layers):
            inputs = state.horizontal[number]
            window = (inputs.picture if layer.first else inputs.pixel)(beside, row, column)
            read = layer.horizontal.at(window)  # (B, 2 D, 1, 1)
            if state.condition is not None:
                read = read + state.condition[number][1]
            gated = plain(read + state.linked[number][..., column, None], PIXEL)
            beside = layer.beside(gated, beside)
        return by_level(self.head(beside), self.colours)[..., 0, 0]

    def _link(self, above: Tensor, row: int, state: Rows) -> None:
        """Read a whole row (B, C, 1, W) by the vertical stack, for the links to the row below."""
        for number, layer in enumerate(self.layers):
            seen = layer.vertical.at(state.vertical[number].row(above, row))
            state.linked[number] = layer.link(seen)
            if state.condition is not None:
                seen = seen + state.condition[number][0]
            above = gate(seen, above.shape[2:])

    def _condition(self, batch: PictureBatch) -> list[tuple[Tensor, Tensor]] | None:
        """V^T h of both stacks, (B, 2 D, 1, 1) each, for each layer."""
        if self.condition is None or self.conditions is None:
            return None
        given = getattr(batch, self.conditions)
        if given is None:
            raise ValueError(f"the network was built with condition={self.conditions}, and the batch has none")
        given = given.to(self.condition.weight.dtype) if self.conditions == "factors" else given
        parts = self.condition(given)[..., None, None].chunk(2 * len(self.layers), 1)
        return list(zip(parts[::2], parts[1::2], strict=True))
