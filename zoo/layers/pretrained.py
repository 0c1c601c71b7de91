"""Parts of a network that bring their weights along: frozen, or trained from some epoch on at a rate of their own."""

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
    """Within it networks are built of which a checkpoint has the weights: none is read from elsewhere, or drawn."""
    before = _wanted.set(False)
    try:
        yield
    finally:
        _wanted.reset(before)


def pretrained_wanted() -> bool:
    """Whether a network that is built reads the weights that it brings along; not within `not_pretrained`."""
    return _wanted.get()


class Pretrained(nn.Module):
    """`body`, whose weights are not trained until the epoch `finetune_from`, counted from 0, and then at the rate
    `learning_rate`; without `finetune_from` they never are.

    It stays in evaluation, trained or not: what its batch norms have counted elsewhere does not move, and nothing is
    dropped. A task tells it by `reach` which epoch begins, and gives its parameters a group of their own in the
    optimizer.
    """

    def __init__(self, body: nn.Module, *, finetune_from: int | None = None, learning_rate: float) -> None:
        super().__init__()
        self.body = body.eval()
        self.finetune_from, self.learning_rate = finetune_from, learning_rate
        self.trained = True
        self.reach(0)

    def reach(self, epoch: int) -> bool:
        """Freezes or frees the weights as it is right for an epoch; whether that changed anything."""
        before, self.trained = self.trained, self.finetune_from is not None and epoch >= self.finetune_from
        if self.trained != before:
            self.body.requires_grad_(self.trained)
        return self.trained != before

    def train(self, mode: bool = True) -> Pretrained:
        """Leaves the body in evaluation."""
        self.training = mode
        return self

    def forward(self, *inputs: Any) -> Any:
        with torch.set_grad_enabled(self.trained and torch.is_grad_enabled()):
            return self.body(*inputs)


def pretrained_parts(network: nn.Module) -> dict[str, Pretrained]:
    """The parts of a network that bring their weights along, by their names."""
    return {name: part for name, part in network.named_modules() if isinstance(part, Pretrained)}
