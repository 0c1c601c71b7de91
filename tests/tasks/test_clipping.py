"""Gradients clipped by their norm, against torch, and matrix by matrix, against torch's singular values."""

import pytest
import torch
from torch import nn

from zoo.tasks.clipping import clip_matrices, clip_norm, spectral_norms


def parameter(gradient: torch.Tensor) -> nn.Parameter:
    made = nn.Parameter(torch.zeros_like(gradient))
    made.grad = gradient.clone()
    return made


@pytest.mark.parametrize("values", [[3.0, 4.0], [0.3, 0.4], [0.6, 0.8], [0.0, 0.0], [torch.nan, 1.0], [torch.inf, 1.0]])
def test_the_norm_is_clipped_as_by_torch(values: list[float]) -> None:
    """Norms above, below and at the bound of 1, also infinite ones: all gradients are equal to the bit."""
    own, theirs = ([parameter(torch.tensor(values)), nn.Parameter(torch.zeros(1))] for _ in range(2))
    norm, expected = clip_norm(iter(own), 1.0), nn.utils.clip_grad_norm_(theirs, 1.0)
    torch.testing.assert_close(norm, expected, rtol=0.0, atol=0.0, equal_nan=True)
    torch.testing.assert_close(own[0].grad, theirs[0].grad, rtol=0.0, atol=0.0, equal_nan=True)


def test_norms() -> None:
    generator = torch.Generator().manual_seed(0)
    for shape in ((5, 30, 7), (3, 4, 20), (2, 1, 9), (1, 1, 1)):
        matrices = torch.randn(shape, generator=generator) * 1e6
        torch.testing.assert_close(spectral_norms(matrices), torch.linalg.matrix_norm(matrices, 2), rtol=1e-5, atol=0.0)


def test_each_matrix_by_itself() -> None:
    """diag(3, 4) has norm 4 and stays, diag(6, 8) has 8 and is halved; the third is zero. A vector's norm is 5.

    The squares of all entries add up to 25 + 100 + 25."""
    small = torch.diag(torch.tensor([3.0, 4.0]))
    stacked = parameter(torch.stack([small, 2 * small, torch.zeros(2, 2)]))
    vector, none = parameter(torch.tensor([3.0, 4.0])), nn.Parameter(torch.zeros(2))
    assert clip_matrices([stacked, vector, none], 4.0).item() == pytest.approx(150**0.5)
    assert stacked.grad is not None and vector.grad is not None and none.grad is None
    torch.testing.assert_close(stacked.grad, torch.stack([small, small, torch.zeros(2, 2)]))
    torch.testing.assert_close(vector.grad, torch.tensor([2.4, 3.2]))


def test_half_precision() -> None:
    one = parameter(torch.diag(torch.tensor([6.0, 8.0])).bfloat16())
    clip_matrices([one], 4.0)
    assert one.grad is not None and one.grad.diagonal().tolist() == [3.0, 4.0]


def test_norms_that_need_not_be_known() -> None:
    """Frobenius norms 5 and 10: only the second exceeds 6; diag(6, 8) has norm 8."""
    small = torch.diag(torch.tensor([3.0, 4.0]))
    torch.testing.assert_close(spectral_norms(torch.stack([small, 2 * small]), above=6.0), torch.tensor([0.0, 8.0]))


def test_a_norm_between_its_bounds_is_left_alone() -> None:
    """The Frobenius norm of five equal singular values of 3 is 6.7, the spectral norm 3."""
    turned = torch.linalg.qr(torch.randn(5, 5, generator=torch.Generator().manual_seed(0)))[0] * 3
    one = parameter(turned)
    clip_matrices([one], 4.0)
    assert one.grad is not None
    torch.testing.assert_close(one.grad, turned)


def test_huge_entries_and_entries_that_are_no_numbers() -> None:
    """diag(3e30, 4e30) cannot be squared in float32; what is infinite or no number is left for others to see."""
    huge, no_number = torch.diag(torch.tensor([3e30, 4e30])), torch.tensor([[1e30, torch.inf], [0.0, torch.nan]])
    small = torch.diag(torch.tensor([3.0, 8.0]))
    one = parameter(torch.stack([huge, no_number, no_number.nan_to_num(0.0, 1.0), small, small / 4]))
    assert clip_matrices([parameter(huge), parameter(small)], 4.0).item() == pytest.approx(5e30)
    assert not clip_matrices([one], 4.0).isfinite()
    assert one.grad is not None
    torch.testing.assert_close(one.grad[0], torch.diag(torch.tensor([3.0, 4.0])))
    torch.testing.assert_close(one.grad[1], no_number, equal_nan=True)
    torch.testing.assert_close(one.grad[2], torch.tensor([[4.0, 4e-30], [0.0, 0.0]]))
    torch.testing.assert_close(one.grad[3:], torch.stack([small / 2, small / 4]))


def test_matrices_for_which_the_solver_does_not_converge(monkeypatch: pytest.MonkeyPatch) -> None:
    """LAPACK's solver in float32 failed for gradients of bAbI with 10,000 questions. Here it always fails."""
    solver = torch.linalg.eigvalsh

    def in_float64_alone(matrices: torch.Tensor) -> torch.Tensor:
        if matrices.dtype == torch.float32:
            raise torch.linalg.LinAlgError("the algorithm failed to converge")
        return solver(matrices)

    monkeypatch.setattr(torch.linalg, "eigvalsh", in_float64_alone)
    generator = torch.Generator().manual_seed(0)
    matrices = torch.randn(3, 30, 7, generator=generator) * torch.tensor([1.0] * 6 + [1e-22])
    torch.testing.assert_close(spectral_norms(matrices), torch.linalg.matrix_norm(matrices, 2), rtol=1e-5, atol=0.0)
