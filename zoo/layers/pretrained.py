"""Pretrained parts of a network: frozen, or trained from some epoch on at their own learning rate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import nn

_wanted: ContextVar[bool] = ContextVar("pretrained_wanted", default=True)


@contextmanager
def not_pretrained() -> Iterator[None]:
    """Build networks whose weights come from a checkpoint: no pretrained weights are read or drawn in this context."""
    before = _wanted.set(False)
    try:
        yield
    finally:
        _wanted.reset(before)


def pretrained_wanted() -> bool:
    """Whether a network that is built reads its pretrained weights; False within `not_pretrained`."""
    return _wanted.get()


class Pretrained(nn.Module):
    """Trains the weights of `body` from the epoch `finetune_from` on, counted from 0, at the rate `learning_rate`;
    never if `finetune_from` is None.

    It stays in evaluation mode even while it is trained: the statistics of its batch norms do not change, and there is
    no dropout. A task calls `reach` when an epoch begins, and gives its parameters their own group in the optimizer.
    """

    def __init__(self, body: nn.Module, *, finetune_from: int | None = None, learning_rate: float) -> None:
        super().__init__()
        self.body = body.eval()
        self.finetune_from, self.learning_rate = finetune_from, learning_rate
        self.trained = True
        self.reach(0)

    def reach(self, epoch: int) -> bool:
        """Freeze or unfreeze the weights for an epoch. Returns whether that changed anything."""
        before, self.trained = self.trained, self.finetune_from is not None and epoch >= self.finetune_from
        if self.trained != before:
            self.body.requires_grad_(self.trained)
        return self.trained != before

    def train(self, mode: bool = True) -> Pretrained:
        """Leave the body in evaluation mode."""
        self.training = mode
        return self

    def forward(self, *inputs: Any) -> Any:
        with torch.set_grad_enabled(self.trained and torch.is_grad_enabled()):
            return self.body(*inputs)


def pretrained_parts(network: nn.Module) -> dict[str, Pretrained]:
    """The pretrained parts of a network by their names."""
    return {name: part for name, part in network.named_modules() if isinstance(part, Pretrained)}
