"""Handwriting: the facts that a network is built from, and batches with boolean masks, True = real."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Batch, Spec, derived
from zoo.data.inputs import Given, Inputs, ids, mask, numbers
from zoo.layers.packing import Packing


@dataclass(frozen=True)
class StrokeSpec(Spec):
    """Lines of pen points (x, y, e): the offset from the point before, and 1 at the last point of a stroke."""

    limits = ("lines",)

    vocabulary_size: Natural
    """The letters, with padding and the unknown letter; 0 for lines without text."""
    lines: Count
    """The number of training lines, by which a network divides the cost of its weights."""
    padding: Natural = 0
    unknown: Natural = 1

    @property
    def symbols(self) -> int:
        """C, the width of a letter as a one-hot vector: all letters but padding."""
        return max(0, self.vocabulary_size - 1)

    def inputs(self) -> Inputs:
        tensors: dict[str, Given] = {
            "points": numbers(("batch", "points", 3)),
            "point_mask": mask(("batch", "points")),
        }
        if self.symbols:
            tensors["text"] = ids(("batch", "letters"), self.vocabulary_size, 1)
            tensors["text_mask"] = mask(("batch", "letters"))
        return Inputs(StrokeBatch, tensors)


@dataclass(frozen=True)
class LineDescription:
    """The facts about a line of a batch besides its points, for metrics, tables and pictures."""

    name: str
    text: str = ""


@dataclass(frozen=True)
class StrokeBatch(Batch):
    """B lines of at most T points, and their texts of at most U letters. To write, `points` are those that are given
    before the rest, which may be none."""

    kept: ClassVar[tuple[str, ...]] = ()
    unit: ClassVar[str] = "points"

    points: Tensor
    """(B, T, 3) float32: offsets with mean 0 and standard deviation 1 over the training points, and e; 0 at padding."""
    point_mask: Tensor
    """(B, T) True at points; a prefix of each row."""
    _: KW_ONLY
    text: Tensor | None = None
    """(B, U) ids of the letters; None for lines without text."""
    text_mask: Tensor | None = None
    """(B, U) True at letters; a prefix of each row."""
    letters: Tensor | None = None
    """(B, T) the position in the text of the letter that each point belongs to, -1 at padding; only for evaluation,
    where the letters are known. The jump to a new stroke belongs to the letter in which it lands."""
    index: Tensor = derived(lambda batch: torch.arange(batch.points.shape[0], device=batch.points.device), sliced=True)
    """(B,) number of each line in its split."""
    packing: Packing = derived(lambda batch: Packing.of(batch.point_mask))
    """Packs (B, T)."""
    about: tuple[LineDescription, ...] | None = None
    """The description of each line; only for evaluation and prediction."""

    @property
    def inputs(self) -> Tensor:
        """(B, T, 3) the point before each one; a vector of zeros before the first."""
        return torch.cat([torch.zeros_like(self.points[:, :1]), self.points[:, :-1]], 1)

    @property
    def units(self) -> Tensor:
        """() the points of all lines."""
        return self.point_mask.sum()

    def __len__(self) -> int:
        return len(self.points)

    def _changed(self, change: Callable[[Any], Any]) -> StrokeBatch:
        """Changes the tensors. The descriptions of `about` stay as they are."""
        return replace(Batch._changed(replace(self, about=None), change), about=self.about)
