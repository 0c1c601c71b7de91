"""Addressing and allocation of a memory against the papers' equations as loops, and by hand."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from zoo.attention.addressing import (
    CLIP,
    LENGTH_FLOOR,
    USAGE_FLOOR,
    Demands,
    Heads,
    addressed,
    allocation,
    by_content,
    followed,
    linked,
    sharpened,
    shifted,
    usage,
    written,
)
from zoo.errors import ConfigError

DOUBLE = torch.float64


def random_demands(batch: int, heads: Heads, seed: int = 0) -> Demands:
    """Wide enough that no gate is near a half and no weighting flat."""
    generator = torch.Generator().manual_seed(seed)
    return heads.demands(3 * torch.randn(batch, sum(heads.sizes), generator=generator, dtype=DOUBLE))


def slow(demands: Demands, memory: Tensor, previous: Tensor) -> Tensor:
    """(5) to (9), number by number."""
    batch, heads, rows = previous.shape
    found = torch.zeros_like(previous)
    for b in range(batch):
        for h in range(heads):
            key, shift = demands.key[b, h].tolist(), demands.shift[b, h].tolist()
            strength, gate = demands.strength[b, h].item(), demands.gate[b, h].item()

            def length(vector: list[float]) -> float:
                return math.sqrt(sum(x * x for x in vector) + LENGTH_FLOOR)

            scores = []
            for i in range(rows):
                row = memory[b, i].tolist()
                scores.append(sum(x * y for x, y in zip(key, row, strict=True)) / (length(key) * length(row)))
            powers = [math.exp(strength * score) for score in scores]
            content = [power / sum(powers) for power in powers]
            gated = [gate * content[i] + (1 - gate) * previous[b, h, i].item() for i in range(rows)]
            reach, moved = len(shift) // 2, [0.0] * rows
            for i in range(rows):
                for j in range(rows):
                    for o in range(-reach, reach + 1):
                        moved[i] += gated[j] * shift[o + reach] if (i - j - o) % rows == 0 else 0.0
            sharp = [number ** demands.sharpness[b, h].item() for number in moved]
            found[b, h] = torch.tensor([number / sum(sharp) for number in sharp], dtype=DOUBLE)
    return found


@pytest.mark.parametrize("heads", [Heads(1, 1, 3, 1), Heads(2, 3, 2, 2), Heads(1, 1, 4, 0)])
def test_addressing_is_the_papers_equations(heads: Heads) -> None:
    generator = torch.Generator().manual_seed(1)
    memory = torch.randn(2, 6, heads.width, generator=generator, dtype=DOUBLE)
    previous = torch.rand(2, heads.number, 6, generator=generator, dtype=DOUBLE).softmax(-1)
    demands = random_demands(2, heads)
    torch.testing.assert_close(
        addressed(demands, memory, previous), slow(demands, memory, previous), rtol=1e-12, atol=1e-12
    )


def test_the_parameters_of_heads_are_within_their_bounds() -> None:
    heads = Heads(2, 1, 3, 2)
    raw = torch.linspace(-3 * CLIP, 3 * CLIP, sum(heads.sizes), dtype=DOUBLE)[None].roll(7, 1)
    demands = heads.demands(raw)
    torch.testing.assert_close(demands.shift.sum(-1), torch.ones(1, 3, dtype=DOUBLE))
    bounds = {"key": (-CLIP, CLIP), "strength": (0, CLIP + 1e-8), "gate": (0, 1), "shift": (0, 1)}
    bounds |= {"sharpness": (1, CLIP + 1.1), "erase": (0, 1), "add": (-CLIP, CLIP)}
    for name, (least, most) in bounds.items():
        assert least <= getattr(demands, name).min() and getattr(demands, name).max() <= most


def test_a_shift_takes_a_weight_to_the_next_row_and_round_the_end() -> None:
    weights = torch.tensor([0.0, 0.0, 0.7, 0.3])
    up, stay, down = torch.eye(3).flip(0)
    assert shifted(weights, stay).tolist() == pytest.approx([0.0, 0.0, 0.7, 0.3])
    assert shifted(weights, up).tolist() == pytest.approx([0.3, 0.0, 0.0, 0.7])
    assert shifted(weights, down).tolist() == pytest.approx([0.0, 0.7, 0.3, 0.0])
    assert shifted(weights, torch.tensor([0.1, 0.0, 0.0, 0.0, 0.9])).tolist() == pytest.approx([0.7, 0.3, 0.0, 0.0])
    half = shifted(weights, torch.tensor([0.5, 0.0, 0.5]))
    assert half.tolist() == pytest.approx([0.15, 0.35, 0.15, 0.35])


def test_a_key_finds_the_row_that_points_where_it_does() -> None:
    memory = torch.tensor([[[3.0, 4.0], [4.0, -3.0], [-0.6, -0.8]]])
    key, strength = torch.tensor([[[0.3, 0.4]]]), torch.tensor([[[2.0]]])
    powers = [math.exp(2), 1.0, math.exp(-2)]
    expected = [power / sum(powers) for power in powers]
    assert by_content(key, strength, memory)[0, 0].tolist() == pytest.approx(expected, abs=1e-5)


def test_a_row_of_zeros_is_like_nothing() -> None:
    memory = torch.zeros(1, 3, 4, requires_grad=True)
    weights = by_content(torch.ones(1, 1, 4), torch.full((1, 1, 1), 5.0), memory)
    assert weights[0, 0].tolist() == pytest.approx([1 / 3] * 3)
    (gradient,) = torch.autograd.grad(weights[0, 0, 0], memory)
    assert gradient.isfinite().all()
    assert gradient.abs().max() <= 5.0 / math.sqrt(LENGTH_FLOOR)


@pytest.mark.parametrize("sharpness", [1.0, 8.0, 9.0, 10.0, 20.0, 50.0])
def test_a_sharpened_flat_weighting_keeps_its_sum_and_its_gradient(sharpness: float) -> None:
    flat = torch.full((1, 128), 1 / 128, requires_grad=True)
    weights = sharpened(flat, torch.tensor([[sharpness]]))
    torch.testing.assert_close(weights, torch.full((1, 128), 1 / 128))
    (gradient,) = torch.autograd.grad(weights[0, 3], flat)
    assert gradient[0, 3] == pytest.approx(sharpness * (1 - 1 / 128), rel=1e-4)  # gamma w (1 - w) / w
    if sharpness == 20.0:  # as the power is usually written, the weighting is lost in float32
        assert (flat**sharpness / ((flat**sharpness).sum() + 1e-16)).sum() < 1e-9


def test_a_sharpened_weighting_is_a_power() -> None:
    assert sharpened(torch.tensor([0.5, 0.25, 0.25, 0.0]), torch.tensor([2.0])).tolist() == pytest.approx(
        [2 / 3, 1 / 6, 1 / 6, 0.0]
    )


def test_all_heads_erase_before_any_adds() -> None:
    memory = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    weights = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
    erase = torch.tensor([[[1.0, 0.5], [0.0, 1.0]]])
    add = torch.tensor([[[10.0, 0.0], [0.0, 20.0]]])
    # row 0 keeps 0 * 1 and .5 * .5 of (1, 2), row 1 1 and .5 of (3, 4); then (10, 10) and (0, 10) are added
    assert written(memory, weights, erase, add).tolist() == [[[10.0, 10.5], [3.0, 12.0]]]


def test_the_gradient_of_addressing_is_that_of_its_differences() -> None:
    heads = Heads(1, 2, 2, 1)
    generator = torch.Generator().manual_seed(0)
    raw = torch.randn(1, sum(heads.sizes), generator=generator, dtype=DOUBLE, requires_grad=True)
    memory = torch.randn(1, 4, 2, generator=generator, dtype=DOUBLE, requires_grad=True)
    previous = torch.rand(1, 3, 4, generator=generator, dtype=DOUBLE).softmax(-1).requires_grad_()

    def after(raw: Tensor, memory: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        demands = heads.demands(raw)
        weighting = addressed(demands, memory, previous)
        return weighting, written(memory, weighting[:, 1:], demands.erase, demands.add)

    assert torch.autograd.gradcheck(after, (raw, memory, previous))


def test_heads_that_a_memory_is_too_small_for() -> None:
    Heads(1, 1, 4, 2).check(5)
    with pytest.raises(
        ConfigError, match=r"shift_range=2: .* memory of 5 at least, memory_size is 4; .* shift_range=1"
    ):
        Heads(1, 1, 4, 2).check(4)


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
