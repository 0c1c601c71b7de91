"""Gradient clipping: of the norm of all gradients, and of each matrix by itself."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from zoo.precision import precise


@torch.no_grad()
def clip_norm(parameters: Iterable[nn.Parameter], most: float) -> Tensor:
    """Scale gradients whose norm exceeds `most` down to it, in place, and return their norm before that.

    As torch.nn.utils.clip_grad_norm_, which on the CPU multiplies the gradients of every step, by 1 where they are not
    too long.
    """
    parameters = list(parameters)
    norm = nn.utils.get_total_norm([one.grad for one in parameters if one.grad is not None])
    if norm.device.type != "cpu" or not most / (norm + 1e-6) >= 1:  # elsewhere a look at the norm would wait for it
        nn.utils.clip_grads_with_norm_(parameters, most, norm)
    return norm


@torch.no_grad()
def clip_matrices(parameters: Iterable[nn.Parameter], most: float) -> Tensor:
    """Scale each matrix of gradients whose spectral norm exceeds `most` down to that norm, in place, and return the
    norm of all gradients before that.

    The last two axes of a parameter are the matrix, so that stacked ones are clipped one by one; a vector counts as
    one with a single row (the norm of Weight.m in the code of Sukhbaatar et al. 2015 is Matlab's `norm`, the spectral
    one). A matrix with an entry that is not finite stays as it is.
    """
    total = torch.zeros(())
    for parameter in parameters:
        if parameter.grad is None:
            continue
        gradient = parameter.grad if parameter.dim() > 1 else parameter.grad[None]
        matrices = gradient.view(-1, *gradient.shape[-2:])
        norms, squared = _norms(matrices, most)
        total = total.to(squared.device) + squared.sum()
        scale = (most / norms.clamp(min=most)).where(norms.isfinite(), 1.0)
        matrices.mul_(scale[:, None, None].to(matrices.dtype))
    return total.sqrt()


def spectral_norms(matrices: Tensor, above: float = 0.0) -> Tensor:
    """(n,) the greatest singular values of matrices (n, rows, columns), in float32 at least.

    It is 0 for matrices whose Frobenius norm, an upper bound, does not exceed `above`, and inf for matrices with an
    entry that is not finite. Computed from the eigenvalues of the smaller Gram matrix, which takes a third of the time
    of a singular value decomposition.
    """
    return _norms(matrices, above)[0]


def _norms(matrices: Tensor, above: float) -> tuple[Tensor, Tensor]:
    """(n,) the spectral norms, see `spectral_norms`, and (n,) the squares of the Frobenius norms."""
    exact = precise(matrices)
    tall = exact if exact.shape[1] >= exact.shape[2] else exact.mT
    gram = tall.mT @ tall
    squared = gram.diagonal(dim1=1, dim2=2).sum(1)  # of the Frobenius norms
    if not squared.isfinite().all():
        return _of_huge(exact, above), exact.double().square().sum((1, 2))
    candidates = (squared > above**2).nonzero().squeeze(1)
    greatest = _eigenvalues(gram[candidates] / squared[candidates][:, None, None])[:, -1]
    return torch.zeros_like(squared).index_copy(0, candidates, (greatest * squared[candidates]).sqrt()), squared


def _eigenvalues(symmetric: Tensor) -> Tensor:
    """(n, d) the eigenvalues of finite symmetric matrices (n, d, d), in ascending order. In float32, LAPACK's solver
    does not converge for some matrices with denormal numbers; in float64 those numbers are not denormal."""
    try:
        return torch.linalg.eigvalsh(symmetric)
    except torch.linalg.LinAlgError:
        return torch.linalg.eigvalsh(symmetric.double()).to(symmetric.dtype)


def _of_huge(matrices: Tensor, above: float) -> Tensor:
    """Spectral norms of matrices with entries that overflow when squared."""
    peak = matrices.abs().amax((1, 2))
    numbers = peak.isfinite()
    scale = peak.where(numbers & (peak > 1), 1.0)[:, None, None]
    norms = spectral_norms((matrices / scale).where(numbers[:, None, None], 0.0)) * scale.flatten()
    return norms.where(norms > above, 0.0).where(numbers, torch.inf)
