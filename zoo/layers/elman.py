"""The simple recurrent layer over packed rows, by torch's kernel."""

from typing import Unpack

import torch
from torch import Tensor

from zoo.layers.packing import Packing
from zoo.layers.recurrent import PackedRNN, RNNArguments


class Elman(PackedRNN):
    """The simple recurrent layer (Elman 1990), h' = tanh(W x + U h), as torch.nn.RNN, by torch's kernel."""

    fast_grid = True

    def __init__(self, input_size: int, hidden_size: int, **rest: Unpack[RNNArguments]) -> None:
        super().__init__("RNN_TANH", input_size, hidden_size, **rest | {"kernel": "torch"})

    def forward(self, x: Tensor, packing: Packing, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Output (N, D*H) and final state (L*D, rows, H) of x (N, input), N > 0, from `state`, default zero."""
        output, (final,) = self._run(x, packing, None if state is None else (state,), None)
        return output, final

    def _cell(
        self, x: Tensor, states: tuple[Tensor, ...], weights: list[Tensor], context: Tensor | None
    ) -> tuple[Tensor, ...]:
        return (torch.rnn_tanh_cell(x, states[0], *weights),)
