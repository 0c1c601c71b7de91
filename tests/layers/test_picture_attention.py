"""Attention over the places of a map against slow loops, and convolutions that resize against two steps."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.contract import equal
from zoo.layers.picture_attention import PictureAttention
from zoo.layers.spectral import Convolution


def windows(side):
    """The places that each key of the pooled map is the maximum of, along one side."""
    return [[at for at in (2 * key, 2 * key + 1) if at < side] for key in range(math.ceil(side / 2))]


def attention_by_loops(x, block, form):
    """Equations (1) to (3), one output place and one key at a time."""
    w = {name: getattr(block, name).weight[:, :, 0, 0] for name in ("query", "key", "value", "output")}
    _, _, height, width = x.shape
    if form == "paper":
        areas = [[(row, column)] for row in range(height) for column in range(width)]
    else:
        areas = [[(r, c) for r in rows for c in columns] for rows in windows(height) for columns in windows(width)]
    y, beta = torch.empty_like(x), []
    for n, picture in enumerate(x):

        def highest(matrix, area, picture=picture):
            return torch.stack([matrix @ picture[:, row, column] for row, column in area]).amax(0)

        keys = [highest(w["key"], area) for area in areas]
        values = [highest(w["value"], area) for area in areas]
        for row in range(height):
            for column in range(width):
                query = w["query"] @ picture[:, row, column]
                exponents = [(query @ key).exp() for key in keys]
                weights = [one / sum(exponents) for one in exponents]
                o = w["output"] @ sum(weight * value for weight, value in zip(weights, values, strict=True))
                y[n, :, row, column] = block.gamma * o + picture[:, row, column]
                beta.append(torch.stack(weights))
    return y, torch.stack(beta).view(len(x), height * width, -1)


@pytest.mark.parametrize("form", ["code", "paper"])
@pytest.mark.parametrize("size", [(4, 4), (3, 3), (5, 2)], ids=str)
def test_attention_equals_loops_over_places(form, size):
    torch.manual_seed(2)
    block = PictureAttention(16, form).double()
    nn.init.constant_(block.gamma, 0.7)
    x = torch.randn(2, 16, *size, dtype=torch.float64, requires_grad=True)
    slope, of_weights = torch.randn_like(x), None
    inputs, found = [x, *block.parameters()], []
    for y, weights in (block(x), attention_by_loops(x.clone(), block, form)):
        of_weights = torch.randn_like(weights) if of_weights is None else of_weights
        gradients = torch.autograd.grad((y * slope).sum() + (weights * of_weights).sum(), inputs)
        found.append([y, weights, *gradients])
    for one, other in zip(*found, strict=True):
        equal(one, other)


def test_gamma_zero_is_the_identity():
    block, x = PictureAttention(8, "code"), torch.randn(2, 8, 6, 6)
    assert torch.equal(block(x)[0], x)
    nn.init.constant_(block.gamma, 0.1)
    assert not torch.equal(block(x)[0], x)


@pytest.mark.parametrize("kernel", [1, 3, 5])
def test_a_convolution_that_resizes_equals_two_steps(kernel):
    torch.manual_seed(4)
    layer = Convolution(3, 4, kernel).double()
    x = torch.randn(2, 3, 6, 8, dtype=torch.float64, requires_grad=True)
    pairs = [
        (layer.halved(x), F.avg_pool2d(layer(x), 2)),
        (layer.doubled(x), layer(F.interpolate(x, scale_factor=2))),
    ]
    for found, expected in pairs:
        equal(found, expected)
        slope = torch.randn_like(found)
        ours, theirs = (torch.autograd.grad(y, [x, *layer.parameters()], slope) for y in (found, expected))
        for one, two in zip(ours, theirs, strict=True):
            equal(one, two)
