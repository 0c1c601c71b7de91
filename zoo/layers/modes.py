"""The mode that a network is in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import torch
from torch import nn


class HasModules(Protocol):
    """What has modules, as every module has."""

    def modules(self) -> Iterator[nn.Module]: ...


@contextmanager
def evaluating(network: HasModules) -> Iterator[None]:
    """Without dropout and gradients; afterwards every part of `network` is in the mode that it was in."""
    training = [part for part in network.modules() if part.training]
    try:
        for part in training:
            part.training = False
        with torch.no_grad():
            yield
    finally:
        for part in training:
            part.training = True
