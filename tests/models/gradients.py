"""Gradients of two losses, parameter by parameter."""

import torch


def assert_same_gradients(model, ours, theirs, *, constant=()):
    """`constant` holds (name, row) of the rows that the model keeps as they are, whose gradient it therefore drops."""
    parameters = dict(model.named_parameters())
    found, wanted = (torch.autograd.grad(loss, list(parameters.values())) for loss in (ours, theirs))
    for name, one, other in zip(parameters, found, wanted, strict=True):
        for row in (row for kept, row in constant if kept == name):
            other[row] = 0
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10, msg=lambda text, name=name: f"{name}: {text}")
