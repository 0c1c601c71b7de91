"""What is learned first: a group of the configuration that only this task has."""

from __future__ import annotations

from torch import Tensor

from zoo.arguments import Count, Natural


class Beginnings:
    """For so many optimiser `steps` only the first `symbols` of a sequence count."""

    def __init__(self, *, symbols: Count, steps: Natural) -> None:
        self.symbols, self.steps = symbols, steps

    def counted(self, mask: Tensor, step: int) -> Tensor:
        """Of the symbols (B, T) that exist those that count at an optimiser step."""
        counted = mask.clone()
        if step < self.steps:
            counted[:, self.symbols :] = False
        return counted
