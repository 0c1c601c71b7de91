"""Distances between sets of features: numbers worked by hand, and other implementations."""

import numpy as np
import pytest
import torch

from zoo.metrics.pictures import FrechetDistance, KernelDistance, Manifold


def filled(metric, real, made, pieces=1):
    for part in real.chunk(pieces):
        metric.update(part, True)
    for part in made.chunk(pieces):
        metric.update(part, False)
    return metric.compute().item()


def draws(count, width, seed):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def test_the_frechet_distance():
    """From a set to itself it is 0; with equal covariances it is the squared distance of the means."""
    real = draws(200, 5, 1)
    assert filled(FrechetDistance(5), real, real, 7) == pytest.approx(0, abs=1e-3)
    away = torch.tensor([1.0, 0.0, -2.0, 0.0, 0.5])
    assert filled(FrechetDistance(5), real, real + away, 7) == pytest.approx(5.25, rel=1e-3)


def test_the_frechet_distance_of_other_spreads():
    """|m - n|^2 + tr(A + B - 2 (A B)^(1/2)), with the root by eigenvectors in numpy."""
    real, made = draws(300, 4, 1), draws(400, 4, 2) @ torch.tensor(np.diag([1, 2, 0.5, 3]) + 0.3).float() + 1
    a, b = (np.cov(one.double().numpy().T) for one in (real, made))
    values, vectors = np.linalg.eigh(a)
    root = vectors * np.sqrt(values) @ vectors.T
    cross = np.sqrt(np.linalg.eigvalsh(root @ b @ root)).sum()
    means = (real.double().mean(0) - made.double().mean(0)).square().sum().item()
    expected = means + np.trace(a) + np.trace(b) - 2 * cross
    assert filled(FrechetDistance(4), real, made, 3) == pytest.approx(expected, rel=1e-4)


def kernel(x, y):
    return (x @ y.T / x.shape[1] + 1) ** 3


def test_the_kernel_distance_is_unbiased():
    """With subsets of half of 8 pictures it is near the mean over all pairs; of two halves of a set about 0."""
    real, made = draws(400, 3, 1).double(), draws(400, 3, 2).double() + 0.7
    xx, yy, xy = kernel(real, real), kernel(made, made), kernel(real, made)
    n = len(real)
    exact = (xx.sum() - xx.trace() + yy.sum() - yy.trace()) / (n * (n - 1)) - 2 * xy.mean()
    assert filled(KernelDistance(), real.float(), made.float(), 5) == pytest.approx(exact.item(), rel=0.05)
    assert abs(filled(KernelDistance(), real[:200].float(), real[200:].float())) < 0.02 * exact


def test_the_kernel_distance_does_not_depend_on_batches_or_on_the_random_numbers_of_a_run():
    real, made = draws(60, 3, 1), draws(60, 3, 2)
    torch.manual_seed(1)
    state = torch.random.get_rng_state()
    found = filled(KernelDistance(), real, made)
    assert torch.equal(torch.random.get_rng_state(), state)
    shuffled = real[torch.randperm(60)]
    assert filled(KernelDistance(), shuffled, made.flip(0), 4) == found


def test_precision_and_recall_by_hand():
    """Real points at 0, 1, 2, 3 and 20: the third nearest neighbours are 3, 2, 2, 3 and 18 away. Made points at 4.5, 9
    and 50: 4.5 is within 3 of 3, 9 within 18 of 20, and 50 in no sphere. The third neighbour of a made point does not
    exist with three of them."""
    real = torch.tensor([[0.0], [1.0], [2.0], [3.0], [20.0]])
    made = torch.tensor([[4.5], [9.0], [50.0]])
    assert filled(Manifold(recall=False), real, made) == pytest.approx(2 / 3)
    assert np.isnan(filled(Manifold(recall=True), real, made))
    made = torch.tensor([[4.5], [5.0], [5.5], [6.0]])  # radii 1.5, 1, 1, 1.5
    assert filled(Manifold(recall=True), real, made) == pytest.approx(1 / 5)  # 3 is 1.5 from 4.5
    assert filled(Manifold(recall=False), real, made, 2) == 1
