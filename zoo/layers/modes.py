"""The mode that a network is in."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import torch
from torch import nn


class HasModules(Protocol):
    """Anything with a method `modules`, such as a network or a task."""

    def modules(self) -> Iterator[nn.Module]: ...


@contextmanager
def evaluating(network: HasModules) -> Iterator[None]:
    """Evaluate `network` without dropout and gradients; afterwards each of its parts returns to its mode."""
    training = [part for part in network.modules() if part.training]
    try:
        for part in training:
            part.training = False
        with torch.no_grad():
            yield
    finally:
        for part in training:
            part.training = True
