"""Dropout for networks that drop many numbers at each step: cheap masks on the CPU, and one mask for all time steps.

On the CPU torch draws a random number for each value. Here 16 random bits decide about a value, in a third of the time
(benchmarks/rnn_lm.py), so that p is a multiple of 2^-16; values are scaled by the p that is used. Other devices have
torch's own.

Notation: N packed positions, p probability of dropping a value.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.layers.packing import Packing

LEVELS = 2**16


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """Return `x` with values set to 0 at random with probability p, and the others scaled by 1 / (1 - p); in evaluation
    `x` itself."""
    if not training or not p:
        return x
    return x * scaled_mask(x.shape, p, x)


def locked_dropout(x: Tensor, packing: Packing, p: float, training: bool) -> Tensor:
    """Dropout of x (N, D) with the same mask at all time steps of a row (Gal and Ghahramani 2016)."""
    if not training or not p:
        return x
    return x * scaled_mask((packing.shape[0], x.shape[1]), p, x).index_select(0, packing.row)


def scaled_mask(shape: Sequence[int], p: float, like: Tensor) -> Tensor:
    """A tensor of that shape, with the type and device of `like`: 0 with probability p, otherwise 1 / (1 - p)."""
    dropped = round(p * LEVELS)
    if like.device.type != "cpu" or torch.compiler.is_compiling() or dropped == LEVELS:
        return F.dropout(like.new_ones(shape), p)
    count = torch.Size(shape).numel()
    bits = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None).view(torch.int16)[:count]
    return (bits >= dropped - LEVELS // 2).to(like.dtype).mul_(LEVELS / (LEVELS - dropped)).view(*shape)
