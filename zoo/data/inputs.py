"""The tensors from which a network predicts, as a family declares them for `zoo export`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

Axes = tuple[str | int, ...]
"""The names of the axes whose size may vary, and the sizes of the others."""


@dataclass(frozen=True)
class Given:
    """A tensor of a batch."""

    axes: Axes
    dtype: torch.dtype
    lowest: int = 0  # The lowest value of integers
    below: int | str = 2
    """Integers are smaller than this number, or than the size of the axis with this name."""

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape, from the sizes of the axes with a name."""
        return tuple(sizes[axis] if isinstance(axis, str) else axis for axis in self.axes)

    @property
    def values(self) -> str:
        """The values in words."""
        if self.dtype == torch.bool:
            return "true at real positions, a prefix of each row"
        if self.dtype.is_floating_point:
            return "real numbers"
        below = f"the size of {self.below} - 1" if isinstance(self.below, str) else self.below - 1
        return f"integers from {self.lowest} to {below}"

    def drawn(self, sizes: Mapping[str, int], generator: torch.Generator) -> Tensor:
        """Random values. The True values of a mask are a prefix of each row, and at least one."""
        shape = self.shape(sizes)
        if self.dtype == torch.bool:
            return _drawn_mask(shape, generator)
        if self.dtype.is_floating_point:
            return torch.rand(shape, dtype=self.dtype, generator=generator)
        below = sizes[self.below] if isinstance(self.below, str) else self.below
        return torch.randint(self.lowest, below, shape, dtype=self.dtype, generator=generator)


@dataclass(frozen=True)
class Inputs:
    """The tensors of a batch without targets, from which a network predicts."""

    batch: type
    """The class of the batch."""
    tensors: Mapping[str, Given]
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of the batch, which are the same in every batch."""

    @property
    def axes(self) -> list[str]:
        """The names of the axes whose size may vary."""
        return list(dict.fromkeys(axis for one in self.tensors.values() for axis in one.axes if isinstance(axis, str)))

    def of(self, tensors: Mapping[str, Tensor]) -> Any:
        """The batch of these tensors."""
        return self.batch(**tensors, **self.constants)

    def drawn(self, sizes: Mapping[str, int], seed: int = 0) -> dict[str, Tensor]:
        """Random tensors, for sizes of the axes with a name."""
        generator = torch.Generator().manual_seed(seed)
        return {name: one.drawn(sizes, generator) for name, one in self.tensors.items()}


def ids(axes: Axes, below: int | str, lowest: int = 0) -> Given:
    """Integers from `lowest`, smaller than `below` or than the size of the axis with this name."""
    return Given(axes, torch.long, lowest, below)


def mask(axes: Axes) -> Given:
    """A mask, True = real."""
    return Given(axes, torch.bool)


def numbers(axes: Axes) -> Given:
    """Real numbers."""
    return Given(axes, torch.float32)


def pixels(axes: Axes) -> Given:
    """Pixels from 0 to 255."""
    return Given(axes, torch.uint8, below=256)


def _drawn_mask(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """(B, ...) True at a random prefix of each axis but the first: all of it in the first row, not all in the last."""
    real = torch.ones(shape[:1], dtype=torch.bool)
    for size in shape[1:]:
        lengths = torch.randint(1, size + 1, real.shape, generator=generator)
        lengths[0], lengths[-1] = size, max(1, size - 1)
        real = (torch.arange(size) < lengths[..., None]) & real[..., None]
    return real
