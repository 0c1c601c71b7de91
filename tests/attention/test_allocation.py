"""Usage, allocation and links against the paper's equations as loops, and by hand."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from zoo.attention.allocation import USAGE_FLOOR, allocation, followed, linked, usage

DOUBLE = torch.float64


def weightings(*shape: int, seed: int = 0) -> Tensor:
    """Rows that sum to less than 1."""
    generator = torch.Generator().manual_seed(seed)
    return 0.9 * (3 * torch.randn(*shape, generator=generator, dtype=DOUBLE)).softmax(-1)


def test_usage_is_the_papers() -> None:
    used, write = torch.rand(2, 5, dtype=DOUBLE), weightings(2, 5, seed=1)
    read, free = weightings(2, 3, 5, seed=2), torch.rand(2, 3, 1, dtype=DOUBLE)
    found = usage(used, write, read, free)
    for b in range(2):
        for i in range(5):
            retained = 1.0
            for head in range(3):
                retained *= 1 - free[b, head, 0].item() * read[b, head, i].item()
            u, w = used[b, i].item(), write[b, i].item()
            assert found[b, i].item() == pytest.approx((u + w - u * w) * retained, rel=1e-12)


def test_allocation_is_the_papers() -> None:
    used = torch.rand(3, 6, generator=torch.Generator().manual_seed(0), dtype=DOUBLE)
    found = allocation(used)
    for b in range(3):
        floored = [USAGE_FLOOR + (1 - USAGE_FLOOR) * u for u in used[b].tolist()]
        for j, row in enumerate(sorted(range(6), key=floored.__getitem__)):
            product = 1.0
            for k in sorted(range(6), key=floored.__getitem__)[:j]:
                product *= floored[k]
            assert found[b, row].item() == pytest.approx((1 - floored[row]) * product, rel=1e-12)


def test_allocation_by_hand() -> None:
    """(0.5, 1, 0.25): the third row gets 0.75, the first half of the quarter that is left, a full one nothing."""
    found = allocation(torch.tensor([[0.5, 1.0, 0.25]], dtype=DOUBLE))[0]
    assert found.tolist() == pytest.approx([0.125, 0.0, 0.75], abs=1e-5)
    assert allocation(torch.zeros(1, 4))[0].tolist() == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-5)
    assert allocation(torch.ones(1, 4))[0].tolist() == pytest.approx([0.0] * 4, abs=1e-5)


def test_links_are_the_papers() -> None:
    link, precedence = torch.zeros(1, 4, 4, dtype=DOUBLE), torch.zeros(1, 4, dtype=DOUBLE)
    slow_link, slow_precedence = [[0.0] * 4 for _ in range(4)], [0.0] * 4
    for step in range(6):
        write = weightings(1, 4, seed=step)
        link, precedence = linked(link, precedence, write)
        w = write[0].tolist()
        for i in range(4):
            for j in range(4):
                kept = (1 - w[i] - w[j]) * slow_link[i][j] + w[i] * slow_precedence[j]
                slow_link[i][j] = 0.0 if i == j else kept
        slow_precedence = [(1 - sum(w)) * p + x for p, x in zip(slow_precedence, w, strict=True)]
        torch.testing.assert_close(link[0], torch.tensor(slow_link, dtype=DOUBLE), rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(precedence[0], torch.tensor(slow_precedence, dtype=DOUBLE), rtol=1e-12, atol=1e-12)


def test_links_lead_through_the_rows_in_the_order_of_writing() -> None:
    """Rows 2, 0, 3 are written: from 0 it is back to 2 and forward to 3."""
    link, precedence = torch.zeros(1, 4, 4), torch.zeros(1, 4)
    for row in (2, 0, 3):
        link, precedence = linked(link, precedence, torch.eye(4)[row : row + 1])
    back, forward = followed(link, torch.eye(4)[None, :1])
    assert back[0, 0].tolist() == [0, 0, 1, 0]
    assert forward[0, 0].tolist() == [0, 0, 0, 1]
    assert precedence[0].tolist() == [0, 0, 0, 1]


def test_usage_gives_the_write_weighting_no_gradient() -> None:
    write = weightings(1, 5).requires_grad_()
    read = weightings(1, 2, 5, seed=1).requires_grad_()
    usage(torch.rand(1, 5, dtype=DOUBLE), write, read, torch.rand(1, 2, 1, dtype=DOUBLE)).sum().backward()
    assert write.grad is None
    assert read.grad is not None


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=130), st.integers(0, 100))
def test_nothing_leaves_its_bounds(values: list[float], seed: int) -> None:
    used = torch.tensor([values], requires_grad=True)
    found = allocation(used)
    assert (found >= 0).all()
    assert found.sum() <= 1 + 1e-5
    (gradient,) = torch.autograd.grad(found[0, 0], used)
    assert gradient.isfinite().all()
    rows = len(values)
    link, precedence = torch.zeros(1, rows, rows), torch.zeros(1, rows)
    for step in range(4):
        link, precedence = linked(link, precedence, weightings(1, rows, seed=seed + step).float())
        assert (link >= -1e-6).all()
        assert (link.sum(1) <= 1 + 1e-5).all()
        assert (link.sum(2) <= 1 + 1e-5).all()
        assert precedence.sum() <= 1 + 1e-5
