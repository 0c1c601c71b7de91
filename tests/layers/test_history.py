"""Appending to the tokens that a decoder keeps."""

from __future__ import annotations

import torch

from zoo.layers.history import LEAST, appended


def test_it_gives_what_cat_gives() -> None:
    with torch.inference_mode():
        history = whole = torch.randn(2, 0, 3)
        for count in (1, 5, 5, LEAST, 1, 40):
            new = torch.randn(2, count, 3)
            history, whole = appended(history, new), torch.cat([whole, new], 1)
            assert torch.equal(history, whole)


def test_a_step_copies_only_what_is_new() -> None:
    with torch.no_grad():
        one = appended(torch.zeros(2, 1, 3), torch.ones(2, 1, 3))
        two = appended(one, torch.ones(2, 5, 3))
    assert two.untyped_storage().data_ptr() == one.untyped_storage().data_ptr()


def test_two_continuations_do_not_see_each_other() -> None:
    with torch.no_grad():
        shared = appended(torch.zeros(1, 1, 2), torch.ones(1, 1, 2))
        first, second = (appended(shared, torch.full((1, 1, 2), value)) for value in (5.0, 7.0))
        third = appended(first, torch.full((1, 1, 2), 9.0))
    assert shared[0, :, 0].tolist() == [0, 1]
    assert [part[0, :, 0].tolist() for part in (first, second, third)] == [[0, 1, 5], [0, 1, 7], [0, 1, 5, 9]]


def test_gradients_pass() -> None:
    new = torch.ones(1, 2, 3, requires_grad=True)
    appended(appended(torch.zeros(1, 1, 3), new), 2 * new).sum().backward()
    assert new.grad is not None and (new.grad == 3).all()
