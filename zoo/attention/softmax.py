"""From scores to weights and to their logarithms, and from weights to a drawn position.

An empty row of scores gives zeros and zero gradient, in every dtype: never NaN, never attention on padding.

A loss that reads the logarithm of a sum of small weights needs logarithms from the start: a weight of 1e-50 is 0 in
float32, but its logarithm is -115. The logarithm of an empty sum is the lowest number of the dtype, whose exp is 0. It
is never -inf, because gradients through -inf are NaN. Half precision is summed in float32.
"""

import torch
from torch import Tensor

from zoo.precision import precise


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    """Softmax of `scores` along `dim` over the positions where `mask` is True (broadcast to the scores); 0 elsewhere.

    The masked scores are replaced, not added to: an added -inf gives NaN gradients on an empty row, and adding the
    smallest number overflows in half precision.
    """
    if mask is None:
        return scores.softmax(dim)
    if mask.dtype != torch.bool:
        raise ValueError(f"a mask is boolean, True = real; got {mask.dtype}")
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(dim).masked_fill(~mask, 0.0)


def needed(mask: Tensor) -> Tensor | None:
    """The `mask`, or None if all of it is True, on the CPU. Other devices would have to wait for a look at it."""
    return None if mask.device.type == "cpu" and not torch.compiler.is_compiling() and mask.all() else mask


def segment_softmax(scores: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Softmax of `scores` (N,) inside each segment: `segment` (N,) numbers the row of each score, 0 ... segments - 1.

    The same weights as `masked_softmax` on the padded grid, without the padding. Each segment subtracts a maximum
    of its own: one maximum for all would underflow a segment whose scores lie far below it. Half precision is summed in
    float32, as torch's softmax does it: a sum of ones in bfloat16 ends at 256.
    """
    exact = precise(scores)
    highest = exact.detach().new_full((segments,), -torch.inf).scatter_reduce(0, segment, exact.detach(), "amax")
    exponential = (exact - highest.index_select(0, segment)).exp()
    total = exponential.new_zeros(segments).index_add(0, segment, exponential)
    return (exponential / total.index_select(0, segment)).to(scores.dtype)


def draw(weights: Tensor) -> Tensor:
    """Positions (...) drawn from weights (..., S) >= 0 with probability proportional to them; no gradient.

    One uniform number per row is compared with the cumulated weights. This takes a fifth of the time of
    `torch.multinomial`, which draws a number for every position and stops at a row of zeros. Such a row gives some
    position here, whose weight is 0.
    """
    exact = precise(weights.detach())
    cumulated = exact.cumsum(-1)
    total = cumulated[..., -1:]
    number = torch.rand(total.shape, dtype=exact.dtype, device=exact.device) * total
    return torch.searchsorted(cumulated, number, right=True).squeeze(-1).clamp(max=weights.shape[-1] - 1)


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
    none = log_weights.new_full((word.shape[0], count + 1), lowest)
    highest = none.scatter_reduce(1, word, log_weights.detach(), "amax")
    total = torch.zeros_like(none).scatter_add(1, word, (log_weights - highest.gather(1, word)).exp())
    placed = total > 0
    return (total.masked_fill(~placed, 1.0).log() + highest).masked_fill(~placed, lowest)[:, :count]
