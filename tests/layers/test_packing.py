"""Packing against the padded grid it stands for, and against torch's own packing; evaluation and back."""

import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from zoo.layers.modes import evaluating
from zoo.layers.packing import Packing
from zoo.layers.state import Annotations


@st.composite
def masks(draw):
    """(..., T) with rows of any length, empty ones and ones with holes among them; any axis may have size 0."""
    shape = [*draw(st.lists(st.integers(0, 4), max_size=2)), draw(st.integers(0, 7))]
    size = torch.Size(shape).numel()
    return torch.tensor(draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=torch.bool).view(shape)


def numbered(mask, width=3):
    return torch.arange(1, mask.numel() * width + 1, dtype=torch.float64).view(*mask.shape, width)


def rows(mask, grid):
    """The real positions of each grid row, in time order."""
    flat = mask.reshape(torch.Size(mask.shape[:-1]).numel(), mask.shape[-1])
    return [values[real] for values, real in zip(grid.reshape(*flat.shape, grid.shape[-1]), flat, strict=True)]


@given(masks())
def test_unpack_undoes_pack_and_is_zero_at_padding(mask):
    packing, grid = Packing.of(mask), numbered(mask)
    packed = packing.pack(grid)
    assert packed.shape == (int(mask.sum()), 3)
    assert torch.equal(packing.unpack(packed), grid * mask[..., None])
    assert torch.equal(packing.pack(packing.unpack(packed)), packed)
    assert torch.equal(packing.unpack(packing.pack(grid[..., 0])), grid[..., 0] * mask)


@given(masks())
def test_flip_mirrors_each_row_and_undoes_itself(mask):
    packing, grid = Packing.of(mask), numbered(mask)
    packed = packing.pack(grid)
    assert torch.equal(packing.flip[packing.flip], torch.arange(len(packed)))
    mirrored = packing.unpack(packed[packing.flip])
    for row, back in zip(rows(mask, grid), rows(mask, mirrored), strict=True):
        assert torch.equal(row.flip(0), back)


@given(masks())
def test_sum_is_the_masked_sum(mask):
    packing, grid = Packing.of(mask), numbered(mask)
    assert torch.equal(packing.sum(packing.pack(grid)), (grid * mask[..., None]).sum(-2))


@given(masks())
def test_order_row_and_last(mask):
    packing, grid = Packing.of(mask), numbered(mask)
    packed, by_row = packing.pack(grid), rows(mask, grid)
    lengths = [len(by_row[row]) for row in packing.order.tolist()]
    assert lengths == sorted((len(row) for row in by_row if len(row)), reverse=True)
    assert sum(packing.batch_sizes) == len(packed)
    assert torch.equal(packing.row[: len(lengths)], packing.order)
    for row, last in zip(packing.order.tolist(), packing.last.tolist(), strict=True):
        assert torch.equal(packed[last], by_row[row][-1])
    for position, row in enumerate(packing.row.tolist()):
        assert (by_row[row] == packed[position]).all(-1).any()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_the_layout_is_torchs(lengths):
    sizes = torch.tensor(lengths)
    mask = torch.arange(max(lengths)) < sizes[:, None]
    packing, grid = Packing.of(mask), numbered(mask)
    theirs = pack_padded_sequence(grid[packing.order], sizes[packing.order], batch_first=True)
    assert torch.equal(packing.pack(grid), theirs.data)
    assert packing.batch_sizes == tuple(theirs.batch_sizes.tolist())


def test_rows_of_equal_length_keep_their_order():
    assert Packing.of(torch.ones(5, 2, dtype=torch.bool)).order.tolist() == [0, 1, 2, 3, 4]


def test_worked_by_hand():
    mask = torch.tensor([[1, 0, 0], [0, 0, 0], [1, 0, 1]]).bool()  # lengths 1, 0, 2; the last row has a hole
    packing = Packing.of(mask)
    assert packing.shape == (3, 3)
    assert packing.batch_sizes == (2, 1)
    assert packing.order.tolist() == [2, 0]
    assert packing.cell.tolist() == [6, 0, 8]
    assert packing.row.tolist() == [2, 0, 2]
    assert packing.time.tolist() == [0, 0, 2]
    assert packing.flip.tolist() == [2, 1, 0]
    assert packing.last.tolist() == [2, 1]


def test_crosses_processes():
    packing = Packing.of(torch.tensor([[True, True], [True, False]]))
    again = pickle.loads(pickle.dumps(packing))
    assert torch.equal(again.cell, packing.cell)
    assert again.shape == packing.shape


@pytest.mark.parametrize("mask", [torch.ones(2, 3), torch.tensor(True)])
def test_anything_but_a_boolean_mask_is_refused(mask):
    with pytest.raises(ValueError, match="boolean mask"):
        Packing.of(mask)


def test_a_sum_in_half_precision_is_added_in_float32():
    packing = Packing.of(torch.arange(400) < torch.tensor([[400], [3]]))
    total = packing.sum(torch.ones(403, dtype=torch.bfloat16))
    assert total.dtype == torch.bfloat16
    assert total.tolist() == [400, 3]
    assert packing.sum(torch.ones(403, dtype=torch.long)).tolist() == [400, 3]


def test_every_part_returns_to_its_mode_whatever_happens():
    network = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(), nn.Dropout()))
    network[1][0].eval()  # as if it were frozen
    modes = [part.training for part in network.modules()]

    @evaluating(network)
    def fail():
        assert not any(part.training for part in network.modules())
        assert not torch.is_grad_enabled()
        raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [part.training for part in network.modules()] == modes == [True, True, True, False, True]
    assert torch.is_grad_enabled()


def test_tokens_are_laid_out_where_they_stand():
    mask = torch.tensor([[True, True, False], [True, True, True], [False, False, False]])
    packing = Packing.of(mask)
    grid = torch.arange(1.0, 19).view(3, 3, 2) * mask[..., None]
    annotations = Annotations.of_tokens(packing.pack(grid), packing, mask)
    assert annotations.vectors.shape == (5, 2)
    assert annotations.mask is mask
    assert torch.equal(annotations.laid_out(annotations.vectors), grid)
    assert torch.equal(annotations.laid_out(2 * annotations.vectors[:, :1]), 2 * grid[..., :1])


def test_cells_are_laid_out_for_each_caption_of_their_image():
    cells = torch.arange(24.0).view(2, 4, 3).requires_grad_()
    annotations = Annotations.of_cells(cells, torch.tensor([1, 0, 1]))
    assert annotations.vectors is cells
    assert torch.equal(annotations.mask, torch.ones(3, 4, dtype=torch.bool))
    laid_out = annotations.laid_out(cells)
    assert torch.equal(laid_out, torch.stack([cells[1], cells[0], cells[1]]))
    (gradient,) = torch.autograd.grad(laid_out.sum(), cells)
    assert torch.equal(gradient[:, 0, 0], torch.tensor([1.0, 2.0]))  # as many as there are captions


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_the_packing_of_one_step_is_that_of_its_mask(rows):
    mask = torch.ones(rows, 1, dtype=torch.bool)
    short, long = Packing.of_one_step(rows, mask.device), Packing.of(mask)
    assert (short.shape, short.batch_sizes) == (long.shape, long.batch_sizes)
    for name in ("cell", "row", "flip", "order", "last"):
        assert torch.equal(getattr(short, name), getattr(long, name)), name
