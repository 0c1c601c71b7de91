"""Initialisations that several networks share. All of them work in place."""

import torch
from torch import Tensor, nn

from zoo.precision import precise_dtype

STATE_GAIN = 4.0
"""The gain over Glorot and Bengio (2010) of matrices that read states of an LSTM. With inputs near 1 these states are
near 0.2 at first, and without the gain each further layer would make them three times smaller."""


def orthogonal_matrix_(matrix: Tensor) -> None:
    """Start `matrix` as a random orthogonal one, drawn in float32 at least, since LAPACK has no half precision."""
    exact = torch.empty_like(matrix, dtype=precise_dtype(matrix.dtype))
    with torch.no_grad():
        matrix.copy_(nn.init.orthogonal_(exact))


def orthogonal_(rnn: nn.RNNBase, *, inputs: bool = False) -> None:
    """Start the matrix of the state of every gate as a random orthogonal one, with `inputs` that of the input too, and
    the biases as 0.

    A product with it keeps the length of a state (Saxe et al. 2014; Cho et al. 2014 and Bahdanau et al. 2015 start so).
    """
    for name, weight in rnn.named_parameters():
        if name.startswith("weight_hh") or (inputs and name.startswith("weight_ih")):
            for matrix in weight.detach().split(rnn.hidden_size):
                orthogonal_matrix_(matrix)
        elif name.startswith("bias"):
            nn.init.zeros_(weight)


def start_lstm_(lstm: nn.RNNBase) -> None:
    """Start states as `orthogonal_` does and the inputs of each gate by Glorot and Bengio (2010), with STATE_GAIN in
    the layers that read another."""
    orthogonal_(lstm)
    for name, weight in lstm.named_parameters():
        if name.startswith("weight_ih"):
            for matrix in weight.detach().split(lstm.hidden_size):
                nn.init.xavier_uniform_(matrix, 1.0 if name.startswith("weight_ih_l0") else STATE_GAIN)


def start_uniform_(network: nn.Module, init_range: float) -> None:
    """Start every weight in [-init_range, init_range]; embeddings of padding are 0. Raises ValueError unless the range
    is positive."""
    if not init_range > 0:
        raise ValueError(f"init_range is a number above 0, or null; got {init_range}")
    for parameter in network.parameters():
        nn.init.uniform_(parameter, -init_range, init_range)
    for module in network.modules():
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            nn.init.zeros_(module.weight[module.padding_idx])


def start_network_(network: nn.Module, init_range: float | None, *read_states: nn.Linear) -> None:
    """Start every weight in [-init_range, init_range].

    With None LSTMs start orthogonal for states and by Glorot and Bengio (2010) for inputs, see `start_lstm_`. The
    `read_states`, linear maps of their states, start likewise with STATE_GAIN. Everything else starts as torch's layers
    do, such as embeddings from N(0, 1). Raises ValueError for an invalid range.
    """
    if init_range is not None:
        start_uniform_(network, init_range)
        return
    for module in network.modules():
        if isinstance(module, nn.RNNBase) and module.mode == "LSTM":
            start_lstm_(module)
    for linear in read_states:
        nn.init.xavier_uniform_(linear.weight, STATE_GAIN)


def start_blocks_(linear: nn.Linear, identity: float) -> None:
    """Start each square block of a matrix (D, k D) as `identity` times the identity and noise from
    U(-1 / 2 sqrt(D), 1 / 2 sqrt(D)), and the bias as 0: what it makes of k states is like their sum (Socher et al.
    2013)."""
    width = linear.out_features
    with torch.no_grad():
        for block in linear.weight.split(width, 1):
            nn.init.uniform_(block, -0.5 * width**-0.5, 0.5 * width**-0.5)
            block.diagonal().add_(identity)
        if linear.bias is not None:
            nn.init.zeros_(linear.bias)
