"""Recurrent layers over rows of equal length on the CPU, by torch's kernels for a grid without padding.

oneDNN computes an LSTM there in half of the time that the loop takes for 64 units, and in 0.94 of it for 650
(benchmarks/rnn_lm.py).

Notation: N packed positions, R rows of T steps each, L layers, H hidden_size, G gates.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from zoo.layers.dropout import dropout
from zoo.layers.packing import Packing


def is_grid(x: Tensor, packing: Packing) -> bool:
    """Whether the rows have equal lengths, and torch has a fast kernel for their inputs x (N, I)."""
    plain = x.device.type == "cpu" and x.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    return (
        plain
        and len(x) > 0
        and packing.batch_sizes[0] == packing.batch_sizes[-1]
        and torch.backends.mkldnn.is_available()
    )


def run_grid(
    mode: str,
    x: Tensor,
    packing: Packing,
    start: tuple[Tensor, ...],
    weights: Sequence[list[Tensor]],
    between: float,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Output (N, H) and the final states (L, R, H) of layers in one direction.

    Args:
        mode: name of torch's layer, such as `lstm` or `rnn_tanh`.
        x: (N, I) the input.
        packing: of rows of equal length.
        start: the states before the first step, (L, R, H) each.
        weights: of each layer W (GH, I), U (GH, H) and both biases.
        between: probability with which dropout sets a value between layers to 0.
    """
    output, finals = x.reshape(len(packing.batch_sizes), -1, x.shape[1]), []  # (T, R, I)
    run = getattr(torch._VF, mode)
    for layer, own in enumerate(weights):
        output = dropout(output, between if layer else 0.0, True)
        begin = tuple(state[layer : layer + 1] for state in start)
        states = begin if len(begin) > 1 else begin[0]
        output, *final = run(output, states, own, True, 1, 0.0, torch.is_grad_enabled(), False, False)
        finals.append(final)
    return output.flatten(0, 1), tuple(torch.cat(states) for states in zip(*finals, strict=True))
