"""Pixel Recurrent Neural Networks: the convolutional network, PixelCNN.

Aaron van den Oord, Nal Kalchbrenner, Koray Kavukcuoglu. ICML 2016. https://arxiv.org/abs/1601.06759

Equations: section 3.4, masks A and B at each convolution, with the channels in a group for each colour; figure 5, left,
a residual block of ReLU, 1 x 1 from 2h to h, ReLU, 3 x 3, ReLU, 1 x 1 from h to 2h; table 1, the first layer is 7 x 7
with mask A, and two layers of ReLU and 1 x 1 with mask B lead to a softmax over the levels of each value.

What differs from the paper:
- Rows of a kernel below its centre do not exist, because the mask would remove them.
- Values are scaled to the range from -1 to 1; the paper does not describe its inputs.
- The network has a blind spot to the upper right (van den Oord et al. 2016b), which is the paper's.

Notation: B pictures, C colours, H rows, W columns, L levels, h hidden_dim.
"""

from collections.abc import Callable, Iterable

from torch import Tensor, nn

from zoo.arguments import Count, Odd
from zoo.data.pictures.batch import PictureBatch, PictureSpec, by_level, scaled
from zoo.layers.masked import Inputs, MaskedConvolution, divides, level_scores
from zoo.models.network import DensityNetwork
from zoo.models.output import Output

Convolve = Callable[[MaskedConvolution, Tensor], Tensor]
"""Applies a convolution to its input: to all pixels at once, or to one with its stored window."""


class Block(nn.Module):
    """A residual block, figure 5."""

    def __init__(self, width: int, kernel: int, colours: int) -> None:
        super().__init__()
        self.inward = MaskedConvolution(2 * width, width, 1, colours=colours)
        self.middle = MaskedConvolution(width, width, kernel, colours=colours)
        self.outward = MaskedConvolution(width, 2 * width, 1, colours=colours)

    def forward(self, x: Tensor, convolve: Convolve) -> Tensor:
        """(B, 2h, H, W) -> (B, 2h, H, W)."""
        h = self.inward(x.relu()).relu()
        return x + self.outward(convolve(self.middle, h).relu())


class PixelCNN(DensityNetwork):
    """Masked convolutions with residual connections.

    Raises ValueError for a width that the number of colours does not divide.
    """

    tasks = ("density",)

    def __init__(
        self,
        spec: PictureSpec,
        *,
        hidden_dim: Count = 128,
        num_layers: Count = 15,
        kernel_size: Odd = 3,
        first_kernel: Odd = 7,
        head_dim: Count = 1024,
    ) -> None:
        super().__init__()
        self.levels, self.colours = spec.levels, spec.channels
        divides(self.colours, hidden_dim=hidden_dim, head_dim=head_dim)
        colours = self.colours
        self.first = MaskedConvolution(colours, 2 * hidden_dim, first_kernel, first=True, colours=colours)
        self.blocks: Iterable[Block] = nn.ModuleList(  # type: ignore[assignment]
            Block(hidden_dim, kernel_size, colours) for _ in range(num_layers)
        )
        self.head = level_scores(2 * hidden_dim, head_dim, self.levels, self.colours)

    def forward(self, batch: PictureBatch) -> Output:
        return Output(self._scores(batch.image, lambda convolution, x: convolution(x)))

    def start(self, batch: PictureBatch) -> dict[nn.Module, Inputs]:
        count, _, height, width = batch.image.shape
        like = self.first.weight
        convolutions = [self.first, *(block.middle for block in self.blocks)]
        return {one: Inputs(like.new_empty(count, one.in_channels), height, width, one) for one in convolutions}

    def step(self, values: Tensor, row: int, column: int, state: dict[nn.Module, Inputs]) -> Tensor:
        def convolve(convolution: MaskedConvolution, x: Tensor) -> Tensor:
            inputs = state[convolution]
            window = (inputs.picture if convolution is self.first else inputs.pixel)(x, row, column)
            return convolution.at(window)

        return self._scores(values, convolve)[..., 0, 0]

    def _scores(self, image: Tensor, convolve: Convolve) -> Tensor:
        """(B, L, C, H, W) of pictures (B, C, H, W), or (B, L, C, 1, 1) of one pixel."""
        x = convolve(self.first, scaled(image, self.levels, self.first.weight))  # (B, 2h, H, W)
        for block in self.blocks:
            x = block(x, convolve)
        return by_level(self.head(x), self.colours)
