"""Pixel Recurrent Neural Networks: the Row LSTM and the Diagonal BiLSTM.

Aaron van den Oord, Nal Kalchbrenner, Koray Kavukcuoglu. ICML 2016. https://arxiv.org/abs/1601.06759

Equations: (3), [o, f, i, g] = s(K_ss * h + K_is * x), c' = f c + i g, h' = o tanh(c'), where s is the sigmoid for the
gates and tanh for the content g. Section 3.1, the Row LSTM reads three states of the row above, and its K_is is 1 x 3
with mask B. Section 3.2, the Diagonal BiLSTM reads the states above and to the left, in its second direction above and
to the right, and its K_is is 1 x 1 with mask B. The second direction is moved down by one row and added to the first.
Figure 5, right, and table 1: the first layer is 7 x 7 with mask A. A 1 x 1 convolution from h to 2h follows each LSTM,
with a residual connection around both. Two layers of ReLU and 1 x 1 with mask B lead to a softmax over the levels of
each value.

What differs from the paper:
- Rows and columns of a kernel that its mask would remove everywhere do not exist.
- Values are scaled to the range from -1 to 1; the paper does not describe its inputs.
- States outside the picture are 0, and K_ss has no bias of its own; the paper names neither.
- The 1 x 1 convolution after an LSTM has mask B, as it must; the paper's table does not list it.
- The second direction of the first LSTM also reads the value of each pixel itself, by a 1 x 1 convolution without mask.
  The paper states that every pixel before is seen. But features know only pixels before their own, by mask A, so that
  the last pixel of the row above would be hidden from all pixels that the first layer's kernel does not lead to it.
- The columns of the skewed picture have no padding: only real pixels are computed, with the same result.

Notation: B pictures, C colours, H rows, W columns, L levels, N = H W pixels in the order of lines (rows or diagonals),
D directions, h hidden_dim, k neighbours.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.arguments import Count, Odd
from zoo.data.pictures.batch import PictureBatch, PictureSpec, by_level, scaled
from zoo.layers.loops.diagonal import Lines, cell, line_lstm
from zoo.layers.masked import Inputs, MaskedConvolution, divides, level_scores
from zoo.models.network import DensityNetwork
from zoo.models.output import Output
from zoo.precision import precise, without_autocast


@dataclass
class StoredStates:
    """Inputs and states of a layer at the pixels that are known, with zeros around the picture."""

    inputs: Inputs
    hidden: Tensor  # (D, h, H + 1, W + 2, B); pixel (i, j) is at [i + 1, j + 1]
    cells: Tensor
    rows: int = 0
    """The number of rows that the second direction has read. It reads a row when the row is complete."""


class LineLSTM(nn.Module):
    """A layer of LSTMs over lines of pixels, with a residual connection, figure 5."""

    neighbours: ClassVar[tuple[tuple[int, int], ...]]
    """The pixels whose h is read, as (row, column) counted from the pixel to the upper left. The second one gives c."""
    kernel: ClassVar[int]
    """The width of K_is."""
    directions: ClassVar[int]

    def __init__(self, width: int, colours: int) -> None:
        super().__init__()
        self.input_to_state: Sequence[MaskedConvolution] = nn.ModuleList(  # type: ignore[assignment]
            MaskedConvolution(2 * width, 4 * width, self.kernel, above=False, colours=colours, halves=4)
            for _ in range(self.directions)
        )
        self.state_to_state: Sequence[nn.Linear] = nn.ModuleList(  # type: ignore[assignment]
            nn.Linear(len(self.neighbours) * width, 4 * width, bias=False) for _ in range(self.directions)
        )
        self.outward = MaskedConvolution(width, 2 * width, 1, colours=colours)

    def forward(self, x: Tensor, picture: Tensor, lines: Lines) -> Tensor:
        """(1, 2h, N, B), from the layer's input of this shape and the picture (1, C, N, B)."""
        weight = torch.stack([(one.weight * one.mask)[:, :, 0] for one in self.input_to_state])  # (D, 4h, 2h, columns)
        bias = torch.stack([one.bias for one in self.input_to_state if one.bias is not None])
        u = torch.stack([one.weight for one in self.state_to_state])
        inputs, weight = self.read(x[0], picture[0], weight.transpose(2, 3).flatten(2), lines)
        return x + self.outward(line_lstm(lines, inputs, weight, bias, u)[None])

    def read(self, x: Tensor, picture: Tensor, weight: Tensor, lines: Lines) -> tuple[Tensor, Tensor]:
        """All inputs of a pixel (I, N, B), and their weights (D, 4h, I), from x (2h, N, B) and the weights of K_is."""
        return x, weight

    def start(self, like: Tensor, height: int, width: int) -> StoredStates:
        """The states before the first pixel of B pictures is known; `like` (B, ...) gives the type."""
        first = self.input_to_state[0]
        inputs = Inputs(like.new_empty(len(like), first.in_channels), height, width, first)
        hidden = precise(like).new_zeros(self.directions, self.outward.in_channels, height + 1, width + 2, len(like))
        return StoredStates(inputs, hidden, hidden.clone())

    def at(self, x: Tensor, picture: Tensor, row: int, column: int, stored: StoredStates) -> Tensor:
        """Compute `forward` at one pixel, from the layer's input there (B, 2h, 1, 1) and the picture (B, C, H, W)."""
        sums = self.input_to_state[0].at(stored.inputs.pixel(x, row, column))
        h = self.advance(sums[:, :, 0, 0], row, column, 0, stored)
        return x + self.outward(h.T[..., None, None].to(x.dtype))

    def advance(self, sums: Tensor, row: int, column: int, direction: int, stored: StoredStates) -> Tensor:
        """Compute and store the state of a pixel, equation 3, from K_is * x (B, 4h). Returns h (h, B)."""
        hidden, cells = stored.hidden[direction], stored.cells[direction]
        near = torch.cat([hidden[:, row + i, column + j] for i, j in self.neighbours])  # (k h, B)
        i, j = self.neighbours[1]
        with without_autocast(sums.device):
            u = precise(self.state_to_state[direction].weight)
            h, c = cell(precise(sums).T, near, cells[:, row + i, column + j], u)
        hidden[:, row + 1, column + 1], cells[:, row + 1, column + 1] = h, c
        return h


class RowLSTM(LineLSTM):
    """Section 3.1: a pixel sees a triangle above it."""

    neighbours = (0, 0), (0, 1), (0, 2)
    kernel = 3
    directions = 1

    def read(self, x: Tensor, picture: Tensor, weight: Tensor, lines: Lines) -> tuple[Tensor, Tensor]:
        left = F.pad(x.unflatten(1, lines.size), (0, 0, 1, -1)).flatten(1, 2)
        return torch.cat([left, x]), weight


class DiagonalBiLSTM(LineLSTM):
    """Section 3.2: a pixel sees all pixels before it. The first layer also reads the picture."""

    neighbours = (0, 1), (1, 0)
    kernel = 1
    directions = 2

    def __init__(self, width: int, colours: int, *, first: bool) -> None:
        super().__init__(width, colours)
        self.own = nn.Conv2d(colours, 4 * width, 1, bias=False) if first else None

    def read(self, x: Tensor, picture: Tensor, weight: Tensor, lines: Lines) -> tuple[Tensor, Tensor]:
        if self.own is None:
            return x, weight
        own = self.own.weight[:, :, 0, 0]
        return torch.cat([x, picture]), torch.cat([weight, torch.stack([torch.zeros_like(own), own])], 2)

    def at(self, x: Tensor, picture: Tensor, row: int, column: int, stored: StoredStates) -> Tensor:
        if stored.rows < row:
            self._mirrored(picture, row - 1, stored)
            stored.rows = row
        return super().at(x, picture, row, column, stored)

    def advance(self, sums: Tensor, row: int, column: int, direction: int, stored: StoredStates) -> Tensor:
        h = super().advance(sums, row, column, direction, stored)
        above = stored.hidden[1, :, row, stored.hidden.shape[3] - 2 - column]  # mirrored
        return h if direction else h + above

    def _mirrored(self, picture: Tensor, row: int, stored: StoredStates) -> None:
        """Compute the states of the second direction in a whole row, from the right."""
        sums = self.input_to_state[1].at(stored.inputs.values[:, :, row, None])  # (B, 4h, 1, W)
        if self.own is not None:
            sums = sums + self.own(picture[:, :, row, None])
        for column, own in enumerate(reversed(sums[:, :, 0].unbind(2))):
            self.advance(own, row, column, 1, stored)


class PixelRNN(DensityNetwork):
    """LSTMs over the rows or the diagonals of a picture, with residual connections.

    `lstm`: `row` | `diagonal`, which sees every pixel before. Raises ValueError for a width that the number of colours
    does not divide.
    """

    tasks = ("density",)

    def __init__(
        self,
        spec: PictureSpec,
        *,
        lstm: Literal["row", "diagonal"] = "diagonal",
        hidden_dim: Count = 16,
        num_layers: Count = 7,
        first_kernel: Odd = 7,
        head_dim: Count = 32,
    ) -> None:
        super().__init__()
        self.levels, self.colours, self.lstm = spec.levels, spec.channels, lstm
        divides(self.colours, hidden_dim=hidden_dim, head_dim=head_dim)
        colours, rows = self.colours, lstm == "row"
        self.first = MaskedConvolution(colours, 2 * hidden_dim, first_kernel, first=True, colours=colours)
        self.layers: Iterable[LineLSTM] = nn.ModuleList(  # type: ignore[assignment]
            RowLSTM(hidden_dim, colours) if rows else DiagonalBiLSTM(hidden_dim, colours, first=not number)
            for number in range(num_layers)
        )
        self.head = level_scores(2 * hidden_dim, head_dim, self.levels, self.colours)

    def forward(self, batch: PictureBatch) -> Output:
        order = Lines.rows if self.lstm == "row" else Lines.diagonals
        lines = order(batch.image.shape[2], batch.image.shape[3], batch.image.device)
        values = scaled(batch.image, self.levels, self.first.weight)
        picture, x = lines.enter(values), lines.enter(self.first(values))  # (1, C, N, B) and (1, 2h, N, B)
        for layer in self.layers:
            x = layer(x, picture, lines)
        return Output(by_level(lines.leave(self.head(x)), self.colours))

    def start(self, batch: PictureBatch) -> tuple[Inputs, list[StoredStates]]:
        count, channels, height, width = batch.image.shape
        like = self.first.weight.new_empty(count, channels)
        return Inputs(like, height, width, self.first), [layer.start(like, height, width) for layer in self.layers]

    def step(self, values: Tensor, row: int, column: int, state: tuple[Inputs, list[StoredStates]]) -> Tensor:
        inputs, layers = state
        picture = scaled(values, self.levels, self.first.weight)
        x = self.first.at(inputs.picture(picture, row, column))  # (B, 2h, 1, 1)
        for layer, stored in zip(self.layers, layers, strict=True):
            x = layer.at(x, picture, row, column, stored)
        return by_level(self.head(x), self.colours)[..., 0, 0]
