"""Sets of random points without end, with what is to be pointed out in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import torch
from annotated_types import Len
from numpy.typing import NDArray

from zoo.arguments import Count
from zoo.data.options import LoaderOptions, SampleOptions
from zoo.data.order import Nouns
from zoo.data.points.batch import PointBatch
from zoo.data.points.encoding import PointEncoder, padded
from zoo.data.points.goals import GOALS, Goal
from zoo.data.points.sets import FLAT, problem
from zoo.data.points.spec import PointSpec
from zoo.data.streams import Made, Make, Stream, StreamData
from zoo.values import refusal

Size = Count | Annotated[list[Count], Len(2, 2)]
"""Points of a set, or the least and the most of them."""
Range = tuple[int, int]


class Drawn(NamedTuple):
    """Random points, without what is to be pointed out in them: that is found for a batch at once."""

    points: NDArray[np.float32]
    """(n, W) in the unit square."""
    group: int
    """The part of the test that it belongs to; in training and validation 0."""
    solved: bool
    """Whether the batch has its target."""


def draw(seed: int, number: int, *, goal: str, sizes: Sequence[Range], solved: bool = True) -> Drawn:
    """Points in the unit square, as many as one of `sizes`, which the examples take by turns; those of one of them are
    the same whatever others there are."""
    turn, group = divmod(number, len(sizes))
    low, high = sizes[group]
    random = np.random.default_rng((seed, low, high, turn))
    size = int(random.integers(low, high + 1))
    while True:
        points = random.random((size, GOALS[goal].width), np.float32)
        if _usable(points, GOALS[goal]):
            return Drawn(points, group, solved)


def _usable(points: NDArray[np.float32], goal: Goal) -> bool:
    """Whether (n, W) points in the unit square have no `problem`; nearly all have none, which is seen sooner here."""
    rows = points.tolist()
    if len(set(map(tuple, rows))) == len(rows):  # else about one in 100,000 sets of 15 numbers
        if not goal.spread:
            return True
        (x, y), (right, above), (east, north) = rows[:3]
        if abs((right - x) * (north - y) - (above - y) * (east - x)) > 4 * FLAT:
            return True
    return problem(points, goal) is None


@dataclass(frozen=True)
class Solved:
    """From drawn examples to a batch with its targets."""

    goal: str

    def __call__(self, made: Made) -> PointBatch:
        goal, sets = GOALS[self.goal], [one.points for one in made.examples]
        targets = goal.targets(sets) if all(one.solved for one in made.examples) else None
        groups = torch.tensor([one.group for one in made.examples])
        return padded(sets, goal.width, targets, index=torch.tensor(made.numbers), group=groups)


class PointStream(StreamData):
    """Points drawn uniformly from the unit square, in training never the same set twice. In the test there are sets of
    each of `test_sizes`, equally many, and its figures are told apart by them."""

    task: ClassVar[str] = "pointing"
    nouns: ClassVar[Nouns] = Nouns("sets", "points")
    goal: ClassVar[str]
    """A name of `zoo.data.points.goals`."""
    spec: PointSpec
    encoder: PointEncoder

    def __init__(
        self,
        *,
        size: Size = 5,
        test_sizes: Annotated[list[Count], Len(1)] | None = None,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """
        Args:
            size: points of a set in training and validation; of [low, high] each has as many as a draw says.
            test_sizes: points of a set in each part of the test; None: `size`, or both ends of it.
            sample: sets of the splits, see `SampleOptions`; `test` is that of each part.
            loader: how batches are made, see `LoaderOptions`.
        """
        super().__init__(sample=sample, loader=loader)
        fewest = self._goal.fewest
        low, high = (size, size) if isinstance(size, int) else size
        if low < fewest:
            raise refusal("data.size", size, f"sets of at least {fewest} points")
        if low > high:
            raise refusal("data.size", size, "[least, most] points of a set, the least first")
        self.range: Range = (low, high)
        tested = sorted({low, high}) if test_sizes is None else list(test_sizes)
        if not tested or min(tested) < fewest or len(set(tested)) < len(tested):
            raise refusal("data.test_sizes", tested, f"different numbers of points, each at least {fewest}")
        self.test_sizes = tested

    def setup(self, stage: str | None = None) -> None:
        longest = max(self.range[1], *self.test_sizes)
        self.encoder = PointEncoder(self.goal)
        self.spec = PointSpec(
            width=self._goal.width,
            longest=longest,
            longest_target=self._goal.longest(longest) + 1,
            goal=self.goal,
            groups=tuple(f"n{size}" for size in self.test_sizes),
        )

    @property
    def _goal(self) -> Goal:
        return GOALS[self.goal]

    def generator(self) -> Make:
        return self._draw(self.range)

    def part(self, split: str) -> Stream:
        part = super().part(split)
        if split == "test":
            part.make = self._draw(*((size, size) for size in self.test_sizes))
        return part

    def _draw(self, *sizes: Range, solved: bool = True) -> Make:
        return partial(draw, goal=self.goal, sizes=sizes, solved=solved)

    @property
    def _collate(self) -> Callable[[Made], PointBatch]:
        return Solved(self.goal)

    @property
    def sizes(self) -> dict[str, int]:
        return {**super().sizes, "test": self.sample.test * len(self.test_sizes)}


class ConvexHull(PointStream):
    """The corners of the convex hull, counter-clockwise."""

    name = "convex_hull"
    goal = "hull"


class Delaunay(PointStream):
    """The triangles of the Delaunay triangulation."""

    name = "delaunay"
    goal = "triangulation"


class SortNumbers(PointStream):
    """Numbers in their order: points with one coordinate."""

    name = "sort_numbers"
    nouns = Nouns("sets", "numbers")
    goal = "order"


class Tsp(PointStream):
    """Short tours, optimal ones up to `zoo.data.points.goals.tour.EXACT` points."""

    name = "tsp"
    goal = "tour"

    def __init__(
        self,
        *,
        size: Size = 5,
        test_sizes: Annotated[list[Count], Len(1)] | None = None,
        solve: bool = True,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """Without `solve` training has points alone, to learn from the length of tours; validation and test have their
        targets all the same. The rest as in `PointStream`."""
        super().__init__(size=size, test_sizes=test_sizes, sample=sample, loader=loader)
        self.solve = solve

    def part(self, split: str) -> Stream:
        part = super().part(split)
        if split == "train":
            part.make = self._draw(self.range, solved=self.solve)
        return part
