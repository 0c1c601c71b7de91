"""Convolutions in which a pixel sees only pixels before it, in raster order, and colours before its own.

van den Oord, Kalchbrenner, Kavukcuoglu 2016, https://arxiv.org/abs/1601.06759, section 3.4. Pixels are read row by row
from the left, and the colours of a pixel in the order R, G, B. The channels of a layer are divided into as many groups
as there are colours, in sequence: group g may depend on colour g and the colours before it.

Notation: B pictures, I and O channels, H rows, W columns, k kernel size, p = k // 2.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class MaskedConvolution(nn.Conv2d):
    """A convolution whose mask multiplies the weights at each call, so that no update of the weights can undo it.

    Only the rows of the kernel up to its centre exist, and of a single row only the columns up to the centre, since the
    mask would remove all others.
    """

    mask: Tensor
    margin: tuple[int, int, int]
    """The columns to the left, the columns to the right and the rows above that a kernel reads."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        *,
        first: bool = False,
        above: bool = True,
        colours: int = 1,
        halves: int = 1,
    ) -> None:
        """
        Args:
            inputs: I, which the number of colours divides.
            outputs: O.
            kernel: k, an odd number.
            first: mask A, for the layer that reads the picture: the centre sees only colours before its own. Otherwise
                mask B: also its own.
            above: whether pixels of the p rows above are seen. Without them the kernel is part of one row.
            colours: the number of groups of channels.
            halves: the outputs are so many parts, each with all groups, such as the two parts of a gate.
        """
        centre = kernel // 2
        margin = (centre, centre if above else 0, centre if above else 0)
        super().__init__(inputs, outputs, (1 + margin[2], 1 + centre + margin[1]))
        self.margin = margin
        mask = torch.ones(self.weight.shape)
        mask[:, :, -1, centre + 1 :] = 0
        read, written = groups(inputs, colours), groups(outputs // halves, colours).repeat(halves)
        mask[:, :, -1, centre] = (read < written[:, None]) | (not first) & (read == written[:, None])
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, I, H, W) -> (B, O, H, W)."""
        return self.wide(x)[:, :, : x.shape[2], : x.shape[3]]

    def wide(self, x: Tensor) -> Tensor:
        """(B, I, H, W) -> (B, O, H + p, W), or (B, O, H, W + p) for a single row: zeros are added on both sides, which
        costs no copy. The last p rows or columns are of no use."""
        return F.conv2d(x, self.weight * self.mask, self.bias, padding=(self.margin[2], self.margin[0]))

    def at(self, window: Tensor) -> Tensor:
        """(B, I, rows, columns), the inputs around one pixel -> (B, O, 1, 1) at this pixel."""
        return F.conv2d(window, self.weight * self.mask, self.bias)


def level_scores(inputs: int, width: int, levels: int, colours: int) -> nn.Sequential:
    """The last layers of PixelCNN and PixelRNN, (B, I, H, W) -> (B, C L, H, W): two 1 x 1 convolutions with mask B and
    a rectifier before each."""
    return nn.Sequential(
        nn.ReLU(),
        MaskedConvolution(inputs, width, 1, colours=colours),
        nn.ReLU(),
        MaskedConvolution(width, colours * levels, 1, colours=colours),
    )


class RowsAbove(nn.Conv2d):
    """A convolution that sees its own row, all of it, and p rows above. Shift its output by `down` before a pixel reads
    it."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__(inputs, outputs, (kernel // 2 + 1, kernel))
        self.margin = (kernel // 2,) * 3

    def wide(self, x: Tensor) -> Tensor:
        """(B, I, H, W) -> (B, O, H + p, W). The last p rows are of no use."""
        return F.conv2d(x, self.weight, self.bias, padding=self.margin[2])

    def at(self, rows: Tensor) -> Tensor:
        """(B, I, p + 1, W + 2 p), a row and those above it, with zeros around -> (B, O, 1, W)."""
        return F.conv2d(rows, self.weight, self.bias)


class Inputs:
    """The inputs of one convolution at the pixels that were read so far, with zeros elsewhere and around."""

    def __init__(self, like: Tensor, height: int, width: int, convolution: MaskedConvolution | RowsAbove) -> None:
        """`like` (B, I, ...) gives the device and the type."""
        self.left, right, self.above = convolution.margin
        self.across = self.left + 1 + right
        self.values = like.new_zeros(*like.shape[:2], height + self.above, self.left + width + right)

    def pixel(self, x: Tensor, row: int, column: int) -> Tensor:
        """Store `x` (B, I, 1, 1) at a pixel. Returns its window (B, I, rows, columns)."""
        self._store(x, row, column)
        return self._window(row, column)

    def picture(self, x: Tensor, row: int, column: int) -> Tensor:
        """Store a picture `x` (B, I, H, W) up to a pixel, also the pixel before, whose last colour is known only now.
        Returns the window (B, I, rows, columns) of the pixel."""
        if row and not column:
            self._store(x[:, :, row - 1, None], row - 1, 0)
        self._store(x[:, :, row, None, max(0, column - 1) : column + 1], row, max(0, column - 1))
        return self._window(row, column)

    def row(self, x: Tensor, row: int) -> Tensor:
        """Store `x` (B, I, 1, W), a whole row. Returns it with the rows above (B, I, rows, W + 2 p)."""
        self._store(x, row, 0)
        return self.values[:, :, row : row + self.above + 1]

    def _store(self, x: Tensor, row: int, column: int) -> None:
        first = column + self.left
        self.values[:, :, row + self.above, first : first + x.shape[3]] = x[:, :, 0]

    def _window(self, row: int, column: int) -> Tensor:
        return self.values[:, :, row : row + self.above + 1, column : column + self.across]


def groups(channels: int, colours: int) -> Tensor:
    """(channels,) the colour, from 0, that each channel belongs to: floor(colours c / channels)."""
    return torch.arange(channels) * colours // channels


def down(x: Tensor) -> Tensor:
    """Move (B, C, H, W) down by one row. The first row becomes 0."""
    return F.pad(x, (0, 0, 1, -1))


def divides(colours: int, **widths: int) -> None:
    """Raise ValueError if a width cannot be divided into a group for each colour."""
    if wrong := {name: width for name, width in widths.items() if width % colours}:
        found = ", ".join(f"{name}={width}" for name, width in wrong.items())
        better = " ".join(f"{name}={width + -width % colours}" for name, width in wrong.items())
        raise ValueError(f"{found}: pictures of {colours} colours need multiples of {colours}, such as {better}")
