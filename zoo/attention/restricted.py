"""Which positions may see which: masks of self-attention, True = may see.

Queries and keys are aligned at their ends: of S keys, the last L are those of the queries themselves, and query i is
position i + S - L. So a mask also fits a cache, where one new query (L = 1) sees all the keys before it. Rows that see
nothing (L > S) get zero weights from `masked_softmax`.

Notation: L queries, S keys.
"""

import torch
from torch import Tensor


def causal_mask(queries: int, keys: int, *, device: torch.device | None = None) -> Tensor:
    """(L, S): query i sees the keys up to its own position, j <= i + S - L."""
    return _distance(queries, keys, device) <= 0


def neighbourhood_mask(queries: int, keys: int, size: int, *, device: torch.device | None = None) -> Tensor:
    """(L, S): restricted self-attention sees the keys at most size // 2 positions away. Combine with others by &.

    Vaswani et al. 2017, section 4: "a neighborhood of size r in the input sequence centered around the respective
    output position". Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"a neighbourhood holds at least the position itself; got size={size}")
    return _distance(queries, keys, device).abs() <= size // 2


def _distance(queries: int, keys: int, device: torch.device | None) -> Tensor:
    """(L, S) position of the key minus position of the query."""
    own = torch.arange(keys - queries, keys, device=device)
    return torch.arange(keys, device=device) - own[:, None]
