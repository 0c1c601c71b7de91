"""LSTM layers with peepholes (Gers et al. 2002), in the form of Graves 2013, equations (7)-(11).

i, f = sigmoid(W x + U h + p c + b);  g = tanh(W x + U h + b);  c' = f c + i g;  o = sigmoid(W x + U h + p c' + b);
h' = o tanh(c'). The peepholes p are one number per cell. Derivatives by the sums in the gates can be limited, at every
time step, before they flow further back.

Notation: N packed positions, R rows, I input_size, H hidden_size, C symbols of a text, U its positions, K windows.
"""

from math import inf

import torch
from torch import Tensor, nn

from zoo.attention.soft_window import SoftWindow
from zoo.layers.loops.peephole import PeepholeLoop, PeepholeWeights, SoftWindowLoop, WindowWeights
from zoo.layers.packing import Packing
from zoo.precision import precise

Cell = tuple[Tensor, Tensor]
"""h and c (R, H)."""


class PeepholeLSTM(nn.Module):
    """One layer. All of it is computed in float32 at least."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        self.weight_x = nn.Parameter(torch.empty(4 * hidden_size, input_size))  # the gates i, f, g, o
        self.weight_h = nn.Parameter(torch.empty(4 * hidden_size, hidden_size))
        self.peephole = nn.Parameter(torch.empty(3, hidden_size))  # in the gates i, f, o
        self.bias = nn.Parameter(torch.zeros(4 * hidden_size))
        for weight in (self.weight_x, self.weight_h, self.peephole):
            nn.init.uniform_(weight, -(hidden_size**-0.5), hidden_size**-0.5)

    def forward(self, x: Tensor, packing: Packing, limit: float = inf) -> Tensor:
        """h (N, H) of x (N, I), from states that are 0."""
        found: Tensor = PeepholeLoop(packing.batch_sizes, limit)(precise(x), self._weights())
        return found

    def along(
        self, x: Tensor, packing: Packing, window: SoftWindow, symbols: Tensor, limit: float = inf
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The layer with inputs [x, w], where w (N, C) is the content of a `window` that reads h, one step before.

        Args:
            x: (N, I - C).
            packing: the positions of x.
            window: moves along the symbols.
            symbols: (B, U, C) one-hot vectors, zeros at padding, of the rows of the packing.
            limit: as in `forward`.

        Returns:
            h (N, H), w (N, C), the weights phi (N, U) and kappa (N, K) after each step.
        """
        outer = self.input_size - symbols.shape[2]
        weights, projection = self._weights(), window.projection
        state = torch.cat([weights.state, weights.x[:, outer:]], 1)
        weights = PeepholeWeights(weights.x[:, :outer], state, weights.peephole, weights.bias)
        seen = WindowWeights(
            precise(projection.weight), precise(projection.bias), symbols.index_select(0, packing.order)
        )
        h, w, phi, kappa = SoftWindowLoop(packing.batch_sizes, limit)(precise(x), weights, seen)
        return h, w, phi, kappa

    def step(self, x: Tensor, state: Cell, limit: float = inf) -> Cell:
        """One time step of x (R, I) from `state`."""
        h, c = state
        weights = self._weights()
        sums = precise(x) @ weights.x.t() + h @ weights.state.t() + weights.bias
        i, f, g, o = sums.chunk(4, 1)
        of_i, of_f, of_o = weights.peephole
        i, f, g = limited(i + of_i * c, limit), limited(f + of_f * c, limit), limited(g, limit)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()  # (7)-(9)
        o = limited(o + of_o * c, limit)
        return o.sigmoid() * c.tanh(), c  # (10), (11)

    def start(self, rows: int) -> Cell:
        """The state of `rows` rows before the first step."""
        nothing = precise(self.bias).new_zeros(rows, self.hidden_size)
        return nothing, nothing

    def _weights(self) -> PeepholeWeights:
        return PeepholeWeights(*map(precise, (self.weight_x, self.weight_h, self.peephole, self.bias)))


def limited(values: Tensor, limit: float) -> Tensor:
    """`values`, whose derivative is limited to [-limit, limit] on its way back."""
    if limit == inf or not values.requires_grad:
        return values
    values = values.view_as(values)  # the hook belongs to this use alone
    values.register_hook(lambda gradient: gradient.clamp(-limit, limit))
    return values
