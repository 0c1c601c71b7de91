"""A plain LSTM over the pixels of a picture, as a baseline.

Sepp Hochreiter, Jürgen Schmidhuber. Long Short-Term Memory. Neural Computation 9(8), 1997.
https://doi.org/10.1162/neco.1997.9.8.1735

Equations: the cell with a forget gate (Gers et al. 2000), as in torch. Each value of a picture is a word, in raster
order and with the colours of a pixel side by side. The word after each one is predicted by softmax(W h + b).

What differs from the paper:
- `dropout` acts between layers and before the scores; the paper has none.
- The paper has no pictures. This network shows what is lost without neighbours: the pixel above is W steps away.

Notation: B pictures, C colours, H rows, W columns, L levels, T = C H W, D hidden_dim.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.data.pictures.batch import PictureBatch, PictureSpec
from zoo.layers.init import start_lstm_
from zoo.layers.packing import Packing
from zoo.layers.recurrent import LSTM
from zoo.linear import Linear
from zoo.models.network import DensityNetwork
from zoo.models.output import Output


@dataclass
class Reading:
    """The state of the LSTM after the values that are known."""

    states: tuple[Tensor, Tensor]  # (layers, B, D) each
    last: Tensor  # (B, D) the output after the last one
    read: int = 0  # The number of words that were read; the first one is the begin


class PixelLSTM(DensityNetwork):
    """An LSTM that reads a picture value by value."""

    tasks = ("density",)

    def __init__(
        self,
        spec: PictureSpec,
        *,
        embedding_dim: Count = 32,
        hidden_dim: Count = 128,
        num_layers: Count = 1,
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.levels, self.colours = spec.levels, spec.channels
        self.embedding = nn.Embedding(1 + spec.channels * spec.levels, embedding_dim)  # the first row is the begin
        self.recurrent = LSTM(embedding_dim, hidden_dim, num_layers=num_layers, dropout=dropout * (num_layers > 1))
        self.dropout = nn.Dropout(dropout)
        self.scores = Linear(hidden_dim, spec.levels)
        start_lstm_(self.recurrent)

    def forward(self, batch: PictureBatch) -> Output:
        count, colours, height, width = batch.image.shape
        words = self._words(batch.image)[:, :-1]  # (B, T)
        packing = Packing.of(torch.ones_like(words, dtype=torch.bool))
        h, _ = self.recurrent(self.embedding(packing.pack(words)), packing)  # (B T, D)
        scores = packing.unpack(self.scores(self.dropout(h)))  # (B, T, L)
        return Output(scores.view(count, height, width, colours, self.levels).permute(0, 4, 3, 1, 2))

    def start(self, batch: PictureBatch) -> Reading:
        layers, width = self.recurrent.num_layers, self.recurrent.hidden_size
        nothing = self.embedding.weight.new_zeros(layers, len(batch), width)
        return Reading((nothing, nothing), nothing[0])

    def step(self, values: Tensor, row: int, column: int, state: Reading) -> Tensor:
        words = self._words(values)
        first = (row * values.shape[3] + column) * self.colours  # the words before are known
        for place in range(state.read, first + 1):
            h, state.states = self.recurrent.step(self.embedding(words[:, place]), state.states)
            state.read, state.last = place + 1, h
        found, states = [self.scores(state.last)], state.states
        for place in range(first + 1, first + self.colours):
            h, states = self.recurrent.step(self.embedding(words[:, place]), states)
            found.append(self.scores(h))
        return torch.stack(found, 2)

    def _words(self, image: Tensor) -> Tensor:
        """(B, C, H, W) levels -> (B, 1 + T), the begin and then each value as the row of its embedding."""
        offset = 1 + self.levels * torch.arange(self.colours, device=image.device)
        values = image.permute(0, 2, 3, 1).long() + offset
        return nn.functional.pad(values.flatten(1), (1, 0))
