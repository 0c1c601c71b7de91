"""Grid Long Short-Term Memory over pictures: three dimensions, row, column and depth.

Nal Kalchbrenner, Ivo Danihelka, Alex Graves. ICLR 2016. https://arxiv.org/abs/1507.01526

Equations: sections 3.1 and 3.2, a block of three dimensions reads H = [h_1, h_2, h_3] and has an LSTM for each, with
(h'_k, m'_k) = LSTM_k(H, m_k) and h' = tanh(o m'). Depth has priority: its LSTM reads the h' of the other two. A pixel
has a block in each layer, which reads the states of the pixel above, of the pixel to the left, and of the layer below.
Even layers scan the columns from the right.

The field: a convolution of k x k with mask A feeds the first layer, so that one layer sees the pixels before as far as
k // 2 columns to the right of a pixel. With two layers or more, a pixel sees every pixel before it and none after it.

What differs from the paper:
- The paper classifies pictures of 2 x 2 patches, which it scans in four directions. This network gives the probability
  of each value from the values before it, in the order of PixelRNN (van den Oord et al. 2016): mask A at the entrance,
  groups of units for the colours, and two 1 x 1 convolutions with mask B before the softmax.
- An even layer would see later pixels of its own row. So its states along rows and columns are moved down by one row
  before depth reads them, as in the Diagonal BiLSTM. The first even layer also reads the values of a pixel itself.
- The network ends with h alone, which lies between -1 and 1, without a rectifier before the first 1 x 1 convolution.
- The matrices between dimensions start orthogonal, with a gain of 2, and biases of forget gates at 1; the paper draws
  weights uniformly.

Notation: B pictures, C colours, H rows, W columns, L levels, d hidden_dim, n = H W B cells in the order of
anti-diagonals.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count, Odd
from zoo.data.pictures.batch import PictureBatch, PictureSpec, by_level, scaled
from zoo.layers.grid_lstm import GridBlock, GridStack, Plane, States
from zoo.layers.loops.grid_lstm import Wave
from zoo.layers.masked import Inputs, MaskedConvolution, divides, level_scores
from zoo.models.network import DensityNetwork
from zoo.models.output import Output


class GridLSTMPixels(DensityNetwork):
    """Blocks of three dimensions: row, column and depth.

    With `tied`, all layers have the same weights. Raises ValueError for a width that the number of colours does not
    divide.
    """

    tasks = ("density",)
    not_exported = "computes anti-diagonals, whose cells depend on the number of pictures"

    def __init__(
        self,
        spec: PictureSpec,
        *,
        hidden_dim: Count = 32,
        num_layers: Count = 4,
        first_kernel: Odd = 7,
        head_dim: Count = 32,
        tied: bool = False,
    ) -> None:
        super().__init__()
        self.levels, self.colours, self.width = spec.levels, spec.channels, hidden_dim
        divides(self.colours, hidden_dim=hidden_dim, head_dim=head_dim)
        self.first = MaskedConvolution(
            self.colours, 2 * hidden_dim, first_kernel, first=True, colours=self.colours, halves=2
        )
        self.grid = GridStack(hidden_dim, 3, num_layers, tied=tied, colours=self.colours)
        self.own = nn.Linear(self.colours, 8 * hidden_dim, bias=False) if num_layers > 1 else None
        self.head = level_scores(hidden_dim, head_dim, self.levels, self.colours)[1:]

    def forward(self, batch: PictureBatch) -> Output:
        count, _, height, width = batch.image.shape
        cells = Cells(count, height, width, batch.image.device)
        values = scaled(batch.image, self.levels, self.first.weight)
        depth, picture = States.of(cells.enter(self.first(values))), cells.enter(values)  # (n, d) each, (n, C)
        for number, block in enumerate(self.grid):
            if number % 2 == 0:
                near = block.scan(cells.wave, depth.h).h  # (n, 2d)
            else:
                x, more = self._entering(number, depth.h, picture)
                mirrored = block.scan(cells.wave, x.index_select(0, cells.from_right), more=more).h
                near = F.pad(mirrored, (0, 0, 0, 1)).index_select(0, cells.above)
            depth = block.rise(near, depth)
        return Output(by_level(self.head(cells.leave(depth.h)), self.colours))

    def start(self, batch: PictureBatch) -> "Known":
        count, channels, height, width = batch.image.shape
        like = self.first.weight.new_empty(count, channels)
        number = torch.arange(count, device=like.device)
        wave = Wave.of([count], torch.stack([number, number + count], 1) + count, 2 * count)
        rows = [like.new_zeros(2, 2, height + 1, width + 1, count, self.width) for _ in range(self.grid.layers)]
        below = like.new_zeros(self.grid.layers, width, count, self.width)
        return Known(Inputs(like, height, width, self.first), wave, rows, below)

    def step(self, values: Tensor, row: int, column: int, state: "Known") -> Tensor:
        picture = scaled(values, self.levels, self.first.weight)
        if state.rows < row:
            self._complete(picture[:, :, row - 1], row - 1, state)
            state.rows = row
        depth = States.of(self.first.at(state.inputs.picture(picture, row, column))[:, :, 0, 0])  # (B, d) each
        for number, block in enumerate(self.grid):
            state.below[number, column] = depth.h
            if number % 2 == 0:
                near = state.advance(number, row, column, block, depth.h)
            else:
                near = state.near(number, row, state.width - 1 - column)
            depth = block.rise(near, depth)
        return by_level(self.head(depth.h[:, :, None, None]), self.colours)[..., 0, 0]

    def _complete(self, picture: Tensor, row: int, state: "Known") -> None:
        """Compute the states of the even layers in a whole row, from the right; its values are (B, C, W)."""
        for number, block in enumerate(self.grid):
            for place in range(state.width) if number % 2 else ():
                column = state.width - 1 - place
                x, more = self._entering(number, state.below[number, column], picture[:, :, column])
                state.advance(number, row, place, block, x, more)

    def _entering(self, number: int, h: Tensor, picture: Tensor) -> tuple[Tensor, Tensor | None]:
        """The inputs of an even layer, from the h of the layer below (n, d) and the values of the pixels (n, C), and
        the weights of those values. Only the first such layer reads them."""
        if number > 1 or self.own is None:
            return h, None
        return torch.cat([h, picture.to(h.dtype)], 1), self.own.weight


class Cells(Plane):
    """The cells of B pictures."""

    def __init__(self, count: int, height: int, width: int, device: torch.device) -> None:
        rows, columns = (torch.full((count,), size, device=device) for size in (height, width))
        super().__init__(rows, columns, (height, width), sides=False, beside=False)
        self.size = count, height, width
        self.order = (self.example * height + self.i) * width + self.j
        self.from_right = self.number[self.example, self.i + 1, width - self.j]
        above = self.number[self.example, self.i, width - self.j]  # in the scan from the right
        self.above = above.where(self.i > 0, self.cells)

    def enter(self, x: Tensor) -> Tensor:
        """Pictures (B, F, H, W) -> (n, F)."""
        return x.permute(0, 2, 3, 1).flatten(0, 2).index_select(0, self.order)

    def leave(self, x: Tensor) -> Tensor:
        """(n, F) -> pictures (B, F, H, W)."""
        return x.index_select(0, self.number[:, 1:, 1:].flatten()).unflatten(0, self.size).permute(0, 3, 1, 2)


@dataclass
class Known:
    """Inputs and states of each layer at the pixels that are known, with zeros before the first row and column."""

    inputs: Inputs
    wave: Wave  # A line with one cell of each picture
    states: Sequence[Tensor]
    """(2, 2, H + 1, W + 1, B, d) for each layer: h and m, along rows and along columns."""
    below: Tensor  # (layers, W, B, d) the h that entered each layer in the row that is being read
    rows: int = 0
    """The number of rows that the even layers have read. They read a row when it is complete."""

    @property
    def width(self) -> int:
        return self.below.shape[1]

    def advance(
        self, layer: int, row: int, column: int, block: GridBlock, x: Tensor, more: Tensor | None = None
    ) -> Tensor:
        """Compute and store the states of a cell of a layer, from what `block.scan` reads. Returns both h (B, 2d)."""
        states = self.states[layer]
        begin = torch.cat([states[:, 0, row, column + 1], states[:, 1, row + 1, column]], 1)  # (2, 2 B, d)
        for kind, part in enumerate(block.scan(self.wave, x, States(*begin), more=more)):
            along_rows, along_columns = part.chunk(2, 1)
            states[kind, 0, row + 1, column + 1], states[kind, 1, row + 1, column + 1] = along_rows, along_columns
        return self.near(layer, row + 1, column)

    def near(self, layer: int, row: int, column: int) -> Tensor:
        """Both h (B, 2d) of the cell in the row above `row`."""
        return self.states[layer][0, :, row, column + 1].transpose(0, 1).flatten(1)
