"""The common part of the networks of Graves 2013 that write by hand: layers, mixture, noise, and both faces.

Notation: B lines, T points, N real ones, U letters, C symbols, L layers, H hidden_dim, K windows, M mixtures.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.func import functional_call

from zoo.attention.addressing import precise_linear
from zoo.layers.loops.product import product
from zoo.layers.mixture import sizes
from zoo.layers.packing import Packing, Padded
from zoo.layers.peephole import Cell, PeepholeLSTM, limited
from zoo.layers.walk import scanned
from zoo.layers.weight_noise import AdaptiveWeightNoise
from zoo.linear import Linear
from zoo.models.network import Network
from zoo.models.output import Output
from zoo.precision import without_autocast


class Pen(NamedTuple):
    """The state of B lines after some points. Without a window, `kappa`, `content` and `phi` are 0 wide."""

    cells: tuple[Cell, ...]  # Of each layer, h and c (B, H)
    kappa: Tensor  # (B, K)
    content: Tensor  # (B, C) w
    phi: Tensor  # (B, U + 1) the weights of the letters, and of the position after the last one


class StrokeNetwork(Network):
    """Layers of peephole LSTMs that all read the input and feed the outputs, and a mixture density.

    `forward` gives the distribution of each point after all points before it; `start` and `step` do so point by point,
    with the same weights.
    """

    layers: nn.ModuleList

    def __init__(
        self, *, mixtures: int, hidden_dim: int, num_layers: int, output_limit: float | None, lstm_limit: float | None
    ) -> None:
        """Limits are those of derivatives; None is without a limit."""
        super().__init__()
        self.output_limit, self.lstm_limit = (
            float("inf") if limit is None else float(limit) for limit in (output_limit, lstm_limit)
        )
        self.outputs = Linear(num_layers * hidden_dim, sum(sizes(mixtures)))
        self.noise: AdaptiveWeightNoise | None = None

    def add_noise(self, deviation: float, lines: int) -> None:
        """Make all weights noisy in training, if the `deviation` is above 0. There are so many training `lines`."""
        if deviation:
            self.noise = AdaptiveWeightNoise(self, deviation, lines)

    def forward(self, batch: Any, *, drawn: bool = False) -> Output:
        """Outputs (B, T, 1 + 6M), the distribution of each point. `drawn`: the weights are as they have to be."""
        if self.noise is None or not self.training or drawn:
            with without_autocast(batch.points.device):
                return self.read(batch)
        means = {name: weight for name, weight in self.named_parameters() if not name.startswith("noise.")}
        output = functional_call(self, self.noise.draw(means), (batch,), {"drawn": True})
        return Output(output.logits, output.attention, {"weights": self.noise.divergence(means)})

    @property
    def cells(self) -> list[PeepholeLSTM]:
        """The layers, the lowest first."""
        return [cast(PeepholeLSTM, layer) for layer in self.layers]

    @abstractmethod
    def read(self, batch: Any) -> Output:
        """The output for a batch, in float32 at least."""

    def symbols(self, batch: Any) -> Tensor:
        """(B, U + 1, C) the letters of a batch as one-hot vectors, with a position after the last one that has none."""
        return self.outputs.weight.new_zeros(batch.points.shape[0], 0, 0)

    def begin(self, batch: Any) -> Pen:
        """The state before the first point."""
        rows, symbols = batch.points.shape[0], self.symbols(batch)
        cells = tuple(layer.start(rows) for layer in self.cells)
        nothing = cells[0][0]
        windows = nothing.new_zeros(rows, getattr(self, "windows", 0))
        return Pen(cells, windows, nothing.new_zeros(rows, symbols.shape[2]), nothing.new_zeros(rows, symbols.shape[1]))

    @abstractmethod
    def move(self, x: Tensor, pen: Pen, symbols: Tensor, share: float = 1.0) -> Pen:
        """The state after reading a point x (B, 3). `share` is that of a line in the loss, for the limits."""

    def density(self, hidden: list[Tensor], share: float = 1.0) -> Tensor:
        """(..., 1 + 6M) the outputs from h (..., H) of all layers."""
        states = torch.cat(hidden, -1)
        if self.training and states.dtype == self.outputs.weight.dtype:
            found = product(states, self.outputs)  # (12)-(14) and (17)
        else:
            found = precise_linear(self.outputs, states)
        return limited(found, self.output_limit * share)

    def step(self, points: Tensor, pen: Pen, symbols: Tensor) -> tuple[Tensor, Pen]:
        """Read a point (B, 3) of each line, which before the first one is 0: outputs (B, 1 + 6M) for the next point,
        and the state. `symbols` are those of the batch."""
        with without_autocast(points.device):
            pen = self.move(points, pen, symbols)
            return self.density([h for h, _ in pen.cells]), pen

    def packed(self, batch: Any) -> tuple[Tensor, Packing]:
        """(N, 3) the inputs of all points, in the order of the packing."""
        return batch.packing.pack(batch.inputs).to(self.outputs.weight.dtype), batch.packing

    def scan(self, x: Tensor, packing: Padded, batch: Any) -> tuple[Tensor, Tensor]:
        """Outputs (N, 1 + 6M) and the weights phi (N, U + 1), by the steps that `step` takes, for an export."""
        symbols = self.symbols(batch)

        def cell(point: Tensor, pen: Pen) -> Pen:
            return self.move(point, pen, symbols)

        def seen(pen: Pen) -> tuple[Tensor, ...]:
            return torch.cat([h for h, _ in pen.cells], 1), pen.phi

        (hidden, phi), _ = scanned(cell, seen, x, packing, self.begin(batch))
        return self.density([hidden]), phi
