"""Sums of weighted rows against the dense matrix that they are."""

import pytest
import torch

from zoo.layers.bags import Bags


def bags() -> tuple[Bags, torch.Tensor]:
    """A sparse matrix (4, 6) with an empty row, an empty column and a cell of two entries, and the same dense."""
    row = torch.tensor([3, 0, 0, 1, 3, 3, 1])
    column = torch.tensor([5, 0, 2, 2, 1, 5, 4])
    weight = torch.tensor([0.5, -1.0, 2.0, 3.0, 1.5, 0.25, -2.0], dtype=torch.double)
    dense = torch.zeros(4, 6, dtype=torch.double).index_put((row, column), weight, accumulate=True)
    return Bags.of(row, column, weight, (4, 6)), dense


def test_products_from_both_sides() -> None:
    sparse, dense = bags()
    generator = torch.Generator().manual_seed(0)
    for shape in ((), (3,), (2, 3)):
        right = torch.randn(*shape, 6, dtype=torch.double, generator=generator)
        left = torch.randn(*shape, 4, dtype=torch.double, generator=generator)
        torch.testing.assert_close(sparse.times(right), right @ dense.T)
        torch.testing.assert_close(sparse.transposed_times(left), left @ dense)


@pytest.mark.parametrize("vectors", [1, 3])
def test_a_matrix_without_an_entry_is_zero(vectors: int) -> None:
    none = torch.zeros(0, dtype=torch.long)
    sparse = Bags.of(none, none, torch.zeros(0), (4, 6))
    assert sparse.times(torch.ones(vectors, 6)).tolist() == [[0.0] * 4] * vectors
    assert sparse.transposed_times(torch.ones(vectors, 4)).tolist() == [[0.0] * 6] * vectors


def test_half_precision_is_summed_in_float32() -> None:
    many = 1000
    sparse = Bags.of(torch.zeros(many, dtype=torch.long), torch.arange(many), torch.ones(many), (1, many))
    assert sparse.times(torch.ones(many, dtype=torch.bfloat16)).tolist() == [many]  # bfloat16 cannot count beyond 256
