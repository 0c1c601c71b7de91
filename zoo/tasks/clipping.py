"""Gradients held down matrix by matrix."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


@torch.no_grad()
def clip_matrices(parameters: Iterable[nn.Parameter], most: float) -> None:
    """Scales every matrix of gradients of which the spectral norm exceeds `most` down to it, in place.

    The last two axes of a parameter are the matrix, so that stacked ones are clipped one by one; a vector counts as
    one with a single row. The norm itself is computed only where cheaper bounds leave it open (the norm of Weight.m in
    the code of Sukhbaatar et al. 2015 is Matlab's `norm`, the spectral one).
    """
    for parameter in parameters:
        if parameter.grad is None:
            continue
        gradient = parameter.grad if parameter.dim() > 1 else parameter.grad[None]
        matrices = gradient.view(-1, *gradient.shape[-2:])
        candidates = (_bounds(matrices) > most).nonzero().squeeze(1)
        if len(candidates):
            chosen = matrices[candidates]
            matrices[candidates] = chosen * (most / spectral_norms(chosen)).clamp(max=1)[:, None, None]


def _bounds(matrices: Tensor) -> Tensor:
    """(n,) what the spectral norms of matrices (n, rows, columns) do not exceed: the smaller of the Frobenius norm and
    the root of the greatest row sum times the greatest column sum."""
    absolute = matrices.abs()
    sums = (absolute.sum(1).amax(1) * absolute.sum(2).amax(1)).sqrt()
    return torch.minimum(matrices.flatten(1).norm(dim=1), sums)


def spectral_norms(matrices: Tensor) -> Tensor:
    """(n,) the greatest singular values of matrices (n, rows, columns), none of them zero, to a relative 1e-3.

    The Gram matrix is raised to its 256th power, of which little but the first eigenvector is left, and that one's
    Rayleigh quotient is the square of the norm: an eigenvalue smaller by a factor q makes it too small by a share of
    (1 - q) q^512, which is 7e-4 at most. A singular value decomposition of such small matrices takes several times as
    long.
    """
    if matrices.shape[1] < matrices.shape[2]:
        matrices = matrices.mT
    size = matrices.flatten(1).norm(dim=1)[:, None, None]
    gram = (matrices / size).mT @ (matrices / size)
    power = gram
    for _ in range(4):
        power = power @ power
        power = power @ power
        power = power / power.diagonal(dim1=1, dim2=2).sum(1)[:, None, None]
    first = power.gather(2, power.diagonal(dim1=1, dim2=2).argmax(1)[:, None, None].expand(-1, power.shape[1], 1))
    quotient = (gram @ first * first).sum(1) / (first * first).sum(1)  # (n, 1)
    return quotient.sqrt().squeeze(1) * size.view(-1)
