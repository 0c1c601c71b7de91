"""Single precision for values that half precision cannot hold: sums of many numbers, their logarithms, counts."""

import torch
from torch import Tensor


def precise(values: Tensor) -> Tensor:
    """Convert values to float32 if they have a lower precision."""
    return values.to(precise_dtype(values.dtype))


def precise_dtype(dtype: torch.dtype) -> torch.dtype:
    """A type that holds all values of `dtype`, at least float32."""
    return torch.promote_types(dtype, torch.float32)
