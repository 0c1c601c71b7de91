"""Single precision at least, where half would lose too much: sums of many numbers, their logarithms, counts."""

from __future__ import annotations

import torch
from torch import Tensor


def precise(values: Tensor) -> Tensor:
    """In float32 at least."""
    return values.to(precise_dtype(values.dtype))


def precise_dtype(dtype: torch.dtype) -> torch.dtype:
    """What holds all values of a type, and is float32 at least."""
    return torch.promote_types(dtype, torch.float32)
