"""Generating Sequences With Recurrent Neural Networks: handwriting synthesis.

Alex Graves. 2013. https://arxiv.org/abs/1308.0850

Equations: (46)-(51), with the layers, the mixture and the loss of `handwriting_prediction`. A soft window looks at the
text: with (alpha^, beta^, kappa^)_t = W h^1_t + b, alpha and beta are their exponentials, kappa_t = kappa_(t-1) +
exp(kappa^_t), phi(t, u) = sum over k of alpha^k exp(-beta^k (kappa^k - u)^2) for the letters u = 1, ..., U, and w_t is
the sum of phi(t, u) c_u over one-hot letters c_u. h^1 reads [x_t, w_(t-1)], the layers above [x_t, h_below, w_t].
A line ends when phi(t, U + 1) is larger than all other phi(t, u).

What differs from the paper:
- All that differs in `handwriting_prediction`, whose header describes it.
- The first kappa^ are near ln(1 / `pace`), so that a window crosses a text at the speed of a hand: 25 points per letter
  in the paper's data. The first alpha^ are near -1 - ln K. The paper gives no first weights.
- The symbols are the letters of the training text and an unknown one; in the paper they are 57.

Notation: B lines, T points, N real ones, U letters, C symbols, H hidden_dim, K windows, M mixtures.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.arguments import Count, NonNegative, Positive
from zoo.attention.soft_window import SoftWindow
from zoo.data.strokes.batch import StrokeBatch, StrokeSpec
from zoo.layers.packing import Padded
from zoo.layers.peephole import PeepholeLSTM
from zoo.models.output import Output
from zoo.models.stroke_network import Pen, StrokeNetwork
from zoo.precision import precise_dtype


class HandwritingSynthesis(StrokeNetwork):
    """The distribution of the next point of the pen, from all points before it and from a text.

    Raises ValueError for lines without text.
    """

    tasks = ("handwriting",)
    attends = {"window": "text_mask"}
    unnormalised = ("window",)

    def __init__(
        self,
        spec: StrokeSpec,
        *,
        hidden_dim: Count = 400,
        num_layers: Count = 3,
        mixtures: Count = 20,
        windows: Count = 10,
        pace: Positive = 25.0,
        weight_noise: NonNegative = 0.0,
        output_limit: Positive | None = 100.0,
        lstm_limit: Positive | None = 10.0,
    ) -> None:
        if not spec.symbols:
            raise ValueError("these lines have no text to write from; use model=handwriting_prediction")
        sizes = {"mixtures": mixtures, "hidden_dim": hidden_dim, "num_layers": num_layers}
        super().__init__(**sizes, output_limit=output_limit, lstm_limit=lstm_limit)
        self.width, self.windows = spec.symbols, windows
        below = [0, *[hidden_dim] * (num_layers - 1)]
        self.layers = nn.ModuleList(PeepholeLSTM(3 + width + spec.symbols, hidden_dim) for width in below)
        self.window = SoftWindow(hidden_dim, windows, pace)
        self.add_noise(weight_noise, spec.lines)

    def read(self, batch: StrokeBatch) -> Output:
        x, packing = self.packed(batch)  # (N, 3)
        if isinstance(packing, Padded):
            found, phi = self.scan(x, packing, batch)
        else:
            share = 1 / len(batch)
            first, *others = self.cells
            limit = self.lstm_limit * share
            h, w, phi, _ = first.along(x, packing, self.window, self.symbols(batch), limit)  # (N, H), (N, C), (N, U+1)
            hidden = [h]
            for layer in others:
                hidden.append(layer(torch.cat([x, hidden[-1], w], 1), packing, limit))
            found = self.density(hidden, share)
        assert batch.text_mask is not None
        weights = packing.unpack(phi)[..., :-1] * batch.text_mask[:, None]  # (B, T, U)
        return Output(packing.unpack(found), {"window": weights})

    def symbols(self, batch: StrokeBatch) -> Tensor:
        assert batch.text is not None and batch.text_mask is not None
        real = F.pad(batch.text.where(batch.text_mask, 0), (0, 1))  # (B, U + 1), padding is 0
        letters = F.one_hot(real, self.width + 1)[..., 1:]
        return letters.to(precise_dtype(self.outputs.weight.dtype))

    def move(self, x: Tensor, pen: Pen, symbols: Tensor, share: float = 1.0) -> Pen:
        limit, (first, *others) = self.lstm_limit * share, self.cells
        cells = [first.step(torch.cat([x, pen.content], 1), pen.cells[0], limit)]
        phi, kappa = self.window(cells[0][0], pen.kappa, symbols.shape[1])
        w = (phi[:, None] @ symbols)[:, 0]  # (47)
        for layer, cell in zip(others, pen.cells[1:], strict=True):
            cells.append(layer.step(torch.cat([x, cells[-1][0], w], 1), cell, limit))
        return Pen(tuple(cells), kappa, w, phi)
