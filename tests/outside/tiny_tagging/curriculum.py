"""The symbols that are learned first: a group of the configuration that only this task has."""

from torch import Tensor

from zoo.arguments import Count, Natural


class Beginnings:
    """For so many optimiser `steps` only the first `symbols` of a sequence count."""

    def __init__(self, *, symbols: Count, steps: Natural) -> None:
        self.symbols, self.steps = symbols, steps

    def counted(self, mask: Tensor, step: int) -> Tensor:
        """(B, T) True at the symbols that count at an optimiser step; `mask` is True at all symbols."""
        counted = mask.clone()
        if step < self.steps:
            counted[:, self.symbols :] = False
        return counted
