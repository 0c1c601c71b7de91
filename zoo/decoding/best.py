"""The largest entries of long rows. Unlike `torch.topk` it defines the order of equal entries."""

from __future__ import annotations

import torch
from torch import Tensor


def best(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the values and columns (B, count) of the `count` largest entries of each row of `scores` (B, M).

    The largest comes first, and of equal ones the lower column. Where M is less than `count`, all entries are returned.
    """
    entries = scores.shape[1]
    size = int((entries / max(count, 1)) ** 0.5)
    blocks = entries // max(size, 1)
    if blocks <= 2 * count:
        values, columns = scores.sort(dim=1, descending=True, stable=True)
        return values[:, :count], columns[:, :count]
    # Only the `count` blocks with the largest maxima can hold one of the `count` largest entries: the maximum of each
    # of these comes before any entry of another block. Entries after the last whole block are candidates, too.
    whole, columns = blocks * size, torch.arange(entries, device=scores.device)
    maxima = scores[:, :whole].unflatten(1, (blocks, size)).amax(2)
    chosen = maxima.sort(dim=1, descending=True, stable=True).indices[:, :count].sort(1).values  # columns stay in order
    inside = (chosen[:, :, None] * size + columns[:size]).flatten(1)
    candidates = torch.cat([inside, columns[whole:].expand(len(scores), -1)], 1)
    values, order = scores.gather(1, candidates).sort(dim=1, descending=True, stable=True)
    return values[:, :count], candidates.gather(1, order[:, :count])
