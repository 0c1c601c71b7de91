"""Annotations: the same places of tokens and of cells, each vector held once."""

import torch

from zoo.layers.packing import Packing
from zoo.layers.state import Annotations


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
