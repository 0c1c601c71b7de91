"""A plain LSTM over the samples of a sound, as a baseline.

Sepp Hochreiter, Jürgen Schmidhuber. Long Short-Term Memory. Neural Computation 9(8), 1997.
https://doi.org/10.1162/neco.1997.9.8.1735

Equations: the cell with a forget gate (Gers et al. 2000), as in torch. Each sample is a word, and the one after it is
predicted by softmax(W h + b).

What differs from the paper:
- `dropout` acts between layers and before the scores; the paper has none.
- The paper has no sounds. This network shows what dilated convolutions gain over a state that is carried from sample to
  sample (van den Oord et al. 2016, https://arxiv.org/abs/1609.03499, compare with such networks).

Notation: B sounds, N samples, L levels, D hidden_dim.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.arguments import Count, Share
from zoo.data.waves.batch import WaveBatch, WaveSpec
from zoo.layers.init import start_lstm_
from zoo.layers.packing import Packing
from zoo.layers.recurrent import LSTM
from zoo.linear import Linear
from zoo.models.network import SampleNetwork
from zoo.models.output import Output

States = tuple[Tensor, Tensor]
"""The h and the c of each layer, (layers, B, D)."""


class WaveLSTM(SampleNetwork):
    """An LSTM that reads a sound sample by sample.

    Raises ValueError for a condition that the sounds do not have.
    """

    tasks = ("wave_density",)

    def __init__(
        self,
        spec: WaveSpec,
        *,
        embedding_dim: Count = 64,
        hidden_dim: Count = 192,
        num_layers: Count = 1,
        dropout: Share = 0.0,
        condition: Literal["none", "label"] = "none",
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1 + spec.levels, embedding_dim)  # the first row is the begin
        self.recurrent = LSTM(embedding_dim, hidden_dim, num_layers=num_layers, dropout=dropout * (num_layers > 1))
        self.dropout = nn.Dropout(dropout)
        self.scores = Linear(hidden_dim, spec.levels)
        self.condition = None
        if condition == "label":
            if not spec.classes:
                raise ValueError("condition=label: these sounds have no classes; set condition=none")
            self.condition = nn.Embedding(len(spec.classes), embedding_dim)
            self.conditions = ("label",)
        start_lstm_(self.recurrent)

    def forward(self, batch: WaveBatch) -> Output:
        words = F.pad(batch.samples.long() + 1, (1, 0))[:, :-1]  # (B, N)
        packing = Packing.of(batch.sample_mask)
        h, _ = self.recurrent(packing.pack(self._read(words, batch.label)), packing)
        return Output(packing.unpack(self.scores(self.dropout(h))))

    def start(self, batch: WaveBatch) -> tuple[Tensor, tuple[Tensor | None, States]]:
        words = F.pad(batch.samples.long() + 1, (1, 0))  # (B, 1 + N)
        packing = Packing.of(torch.ones_like(words, dtype=torch.bool))
        h, states = self.recurrent(packing.pack(self._read(words, batch.label)), packing)
        return self.scores(packing.unpack(h)[:, -1]), (batch.label, states)

    def step(self, levels: Tensor, state: tuple[Tensor | None, States]) -> tuple[Tensor, tuple[Tensor | None, States]]:
        label, states = state
        h, states = self.recurrent.step(self._read(levels.long()[:, None] + 1, label)[:, 0], states)
        return self.scores(h), (label, states)

    def _read(self, words: Tensor, label: Tensor | None) -> Tensor:
        """(B, N) words -> (B, N, E), with the vector of the class added."""
        x = self.embedding(words)
        if self.condition is None:
            return x
        if label is None:
            raise ValueError("the network was built with condition=label, and the batch has no classes")
        return x + self.condition(label)[:, None]
