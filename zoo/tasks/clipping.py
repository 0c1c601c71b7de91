"""Gradients held down matrix by matrix."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


@torch.no_grad()
def clip_matrices(parameters: Iterable[nn.Parameter], most: float) -> None:
    """Scales every matrix of gradients of which the spectral norm exceeds `most` down to it, in place.

    The last two axes of a parameter are the matrix, so that stacked ones are clipped one by one; a vector counts as
    one with a single row. A singular value decomposition is computed only where the Frobenius norm, which is never
    smaller, leaves it open (the norm of Weight.m in the code of Sukhbaatar et al. 2015 is the spectral one).
    """
    for parameter in parameters:
        if parameter.grad is None:
            continue
        matrices = (
            parameter.grad.reshape(-1, *parameter.shape[-2:]) if parameter.dim() > 1 else parameter.grad[None, None]
        )
        if not bool(((bound := _bounds(matrices)) > most).any()):
            continue
        open_ = (bound > most).nonzero().squeeze(1)
        norms = torch.linalg.matrix_norm(matrices[open_].float(), 2)
        scale = torch.ones(len(matrices), device=matrices.device).index_copy(0, open_, (most / norms).clamp(max=1))
        matrices *= scale[:, None, None].to(matrices.dtype)


def _bounds(matrices: Tensor) -> Tensor:
    """(n,) what the spectral norm of each of some matrices (n, rows, columns) does not exceed: the smaller of the
    Frobenius norm and the root of the greatest row sum times the greatest column sum."""
    absolute = matrices.abs()
    sums = (absolute.sum(1).amax(1) * absolute.sum(2).amax(1)).sqrt()
    return torch.minimum(matrices.flatten(1).norm(dim=1), sums)
