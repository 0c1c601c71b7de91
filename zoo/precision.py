"""Single precision for values that half precision cannot hold: sums of many numbers, their logarithms, counts."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def precise(values: Tensor) -> Tensor:
    """Convert values to float32 if they have a lower precision."""
    return values.to(precise_dtype(values.dtype))


def precise_dtype(dtype: torch.dtype) -> torch.dtype:
    """A type that holds all values of `dtype`, at least float32."""
    return torch.promote_types(dtype, torch.float32)


def without_autocast(device: torch.device) -> AbstractContextManager[object]:
    """Within this context operations keep the precision of their inputs. While a network is exported it does nothing,
    because a file of `torch.export` cannot contain it."""
    return nullcontext() if torch.compiler.is_exporting() else torch.autocast(device.type, enabled=False)
