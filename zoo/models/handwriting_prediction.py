"""Generating Sequences With Recurrent Neural Networks: handwriting prediction.

Alex Graves. 2013. https://arxiv.org/abs/1308.0850

Equations: (1)-(14), (15)-(26). h^1_t = LSTM(x_t, h^1_(t-1)), h^n_t = LSTM(x_t, h^(n-1)_t, h^n_(t-1)) with peepholes
(7)-(11), and y^_t = sum over n of W_n h^n_t + b. From y^_t come the probability e that a stroke ends and M bivariate
normal distributions of the next offset; the loss is the negative log-likelihood of each line.

What differs from the paper:
- The paper has no numbers for the first weights. Here they are in [-1/sqrt(H), 1/sqrt(H)], and biases of the LSTMs 0.
- The log standard deviations are at least ln 1e-4, and the inverse hyperbolic tangent of a correlation is at most 8.5.
  Otherwise points without movement make the density infinite. The paper has no such floor.
- e is the probability sigmoid(e^); in the paper it is 1 / (1 + exp(e^)). The sign of a weight is all that differs.
- Limits of derivatives hold for the loss of one line, as in the paper. The loss here is a mean over the lines of a
  batch, and the limits are divided by their number. null removes a limit.
- `weight_noise` is the adaptive weight noise of Graves (2011), which `zoo/layers/weight_noise.py` derives. One draw of
  the weights serves a batch; in the paper it serves a line. Deviations learn from the derivative of drawn weights, not
  from squares of gradients. 0 turns it off.

Notation: B lines, T points, N real ones, H hidden_dim, M mixtures.
"""

import torch
from torch import Tensor, nn

from zoo.arguments import Count, NonNegative, Positive
from zoo.data.strokes.batch import StrokeBatch, StrokeSpec
from zoo.layers.packing import Padded
from zoo.layers.peephole import Cell, PeepholeLSTM
from zoo.models.output import Output
from zoo.models.stroke_network import Pen, StrokeNetwork


class HandwritingPrediction(StrokeNetwork):
    """The distribution of the next point of the pen, from all points before it."""

    tasks = ("handwriting",)

    def __init__(
        self,
        spec: StrokeSpec,
        *,
        hidden_dim: Count = 400,
        num_layers: Count = 3,
        mixtures: Count = 20,
        weight_noise: NonNegative = 0.0,
        output_limit: Positive | None = 100.0,
        lstm_limit: Positive | None = 10.0,
    ) -> None:
        sizes = {"mixtures": mixtures, "hidden_dim": hidden_dim, "num_layers": num_layers}
        super().__init__(**sizes, output_limit=output_limit, lstm_limit=lstm_limit)
        below = [0, *[hidden_dim] * (num_layers - 1)]
        self.layers = nn.ModuleList(PeepholeLSTM(3 + width, hidden_dim) for width in below)
        self.add_noise(weight_noise, spec.lines)

    def read(self, batch: StrokeBatch) -> Output:
        x, packing = self.packed(batch)  # (N, 3)
        if isinstance(packing, Padded):
            return Output(packing.unpack(self.scan(x, packing, batch)[0]))
        share = 1 / len(batch)
        hidden: list[Tensor] = []
        for layer in self.cells:
            given = x if not hidden else torch.cat([x, hidden[-1]], 1)
            hidden.append(layer(given, packing, self.lstm_limit * share))  # (N, H)
        return Output(packing.unpack(self.density(hidden, share)))  # (B, T, 1 + 6M)

    def move(self, x: Tensor, pen: Pen, symbols: Tensor, share: float = 1.0) -> Pen:
        cells: list[Cell] = []
        given = x
        for layer, cell in zip(self.cells, pen.cells, strict=True):
            cells.append(layer.step(given, cell, self.lstm_limit * share))
            given = torch.cat([x, cells[-1][0]], 1)
        return pen._replace(cells=tuple(cells))
