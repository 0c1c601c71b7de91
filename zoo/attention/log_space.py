"""Attention as logarithms of its weights, for losses that take the logarithm of a sum of small weights.

A weight of 1e-50 becomes 0 in float32, and the logarithm of 0 is -inf. Computed directly, the logarithm is -115. Half
precision is summed in float32, as in torch's softmax. An empty sum gives the lowest number of the dtype, because its
exp is exactly 0. It never gives -inf, because gradients through -inf are NaN."""

import torch
from torch import Tensor

from zoo.precision import precise


def masked_log_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """log of `masked_softmax`: over the positions where `mask` (of the shape of `scores`) is True, lowest elsewhere."""
    scores = precise(scores)
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).log_softmax(dim).masked_fill(~mask, lowest)


def masked_logsumexp(values: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """log sum exp along `dim` over the positions where `mask` (of the shape of `values`) is True; lowest where there
    are none."""
    values = precise(values)
    lowest = torch.finfo(values.dtype).min
    return values.masked_fill(~mask, lowest).logsumexp(dim).masked_fill(~mask.any(dim), lowest)


def pointer_sum(log_weights: Tensor, occurrence: Tensor, count: int) -> Tensor:
    """log of the weight of each of `count` words, summed over all its places: (B, S) -> (B, count).

    `occurrence` (B, S) is the number of the word at each place, -1 at a place without any of them. A word
    without a place has the lowest number.
    """
    log_weights = precise(log_weights)
    lowest = torch.finfo(log_weights.dtype).min
    word = torch.where(
        occurrence < 0, count, occurrence
    )  # places without a word are summed in an extra column, which is dropped
    none = log_weights.new_full((len(word), count + 1), lowest)
    highest = none.scatter_reduce(1, word, log_weights.detach(), "amax")
    total = torch.zeros_like(none).scatter_add(1, word, (log_weights - highest.gather(1, word)).exp())
    placed = total > 0
    return (total.masked_fill(~placed, 1.0).log() + highest).masked_fill(~placed, lowest)[:, :count]
