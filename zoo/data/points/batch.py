"""Sets of points: the facts that a network is built from, and batches with boolean masks, True = real."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Spec, WritingBatch, derived
from zoo.data.inputs import Inputs, mask, numbers
from zoo.layers.packing import Packing


@dataclass(frozen=True)
class PointSpec(Spec):
    """Sets of points and sequences of pointers into them.

    A token is padding, begin, end, or a pointer: `first` + j points at the j-th point of its set, j from 0 in the order
    in which the points are read.
    """

    limits = ("longest", "longest_target", "groups", "solved")

    width: Count
    """Coordinates of a point."""
    longest: Natural
    """Points of the largest set that the data has; a fixed vocabulary of positions has an entry for each."""
    longest_target: Natural
    """Tokens of the longest target, its end included."""
    goal: str
    """The goal: hull, triangulation, tour or order; see `zoo.data.points.goals`."""
    groups: tuple[str, ...] = ("all",)
    """Names of the parts of the test, such as the numbers of points."""
    solved: bool = True
    """Whether the sets of training have their targets."""
    padding: Natural = 0
    begin: Natural = 1
    """First input of a decoder; it is never predicted."""
    end: Natural = 2
    """The last token of every target."""
    first: Natural = 3
    """The pointer at the first point."""

    def inputs(self) -> Inputs:
        points = ("batch", "points")
        given = {"points": numbers((*points, self.width)), "point_mask": mask(points)}
        return Inputs(PointBatch, given, {"begin": self.begin})


@dataclass(frozen=True)
class PointBatch(WritingBatch):
    """B sets of at most n points of W coordinates, each with a target of at most T tokens.

    A network can attend to S = 1 + n places: that of the end token, then the points in input order. Without targets, as
    when predicting, all fields about targets are None.
    """

    kept: ClassVar[tuple[str, ...]] = ("points", "scale")
    points: Tensor
    """(B, n, W) coordinates, each set inside the unit square; 0 at padding."""
    point_mask: Tensor
    """(B, n) True at points; a prefix of each row."""
    _: KW_ONLY
    begin: int = 1
    point_packing: Packing = derived(lambda batch: Packing.of(batch.point_mask))
    """Packs (B, n)."""
    scale: Tensor = derived(lambda batch: batch.points.new_ones(batch.points.shape[0]), sliced=True)
    """(B,) how long a unit of these coordinates is in those of the set's source: lengths are reported in the latter."""
    index: Tensor = derived(lambda batch: torch.arange(batch.points.shape[0]), sliced=True)
    """(B,) number of each set in its split."""
    group: Tensor = derived(lambda batch: torch.zeros(batch.points.shape[0], dtype=torch.long), sliced=True)
    """(B,) the part of the test that a set belongs to, by its number in the spec's `groups`; 0 outside the test."""

    @property
    def memory_mask(self) -> Tensor:
        """(B, 1 + n) True at the places that exist: that of the end, and the points."""
        return F.pad(self.point_mask, (1, 0), value=True)

    @property
    def content_mask(self) -> Tensor:
        """(B, 1 + n) True at the points alone."""
        return F.pad(self.point_mask, (1, 0), value=False)

    @property
    def memory_length(self) -> Tensor:
        """(B,) the number of points, which limits the length of a target."""
        return self.point_mask.sum(1)

    @property
    def alignment(self) -> Tensor | None:
        """(B, T, 1 + n) True where a target token points; None without targets."""
        if self.target is None or self.target_mask is None:
            return None
        places = torch.arange(self.memory_mask.shape[1], device=self.target.device)
        return (self.target[:, :, None] - 2 == places) & self.target_mask[:, :, None]

    def __len__(self) -> int:
        return len(self.points)
