"""Sets of random points without end, with what is to be pointed out in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np
import torch
from numpy.typing import NDArray

from zoo.arguments import Count
from zoo.data.cache import write_new
from zoo.data.order import Evaluation, Nouns, Order
from zoo.data.points.batch import PointBatch
from zoo.data.points.description import facts, shown, sizes_said, tour_length, written
from zoo.data.points.encoding import PointEncoder, padded
from zoo.data.points.goals import GOALS, Goal
from zoo.data.points.goals.tour import EXACT
from zoo.data.points.sets import FLAT, PointSet, problem
from zoo.data.points.spec import PointSpec
from zoo.data.streams import Made, Make, Stream, StreamArguments, StreamData
from zoo.errors import ConfigError
from zoo.memory import memory, size_of
from zoo.values import refusal

Size = Count | list[Count]
"""Points of a set, or the least and the most of them."""
Range = tuple[int, int]
LOOKED_AT = 200
"""Sets of a split that `describe` counts."""
WRITTEN_AT_ONCE = 1000
"""Sets that are solved together for files."""


class Drawn(NamedTuple):
    """Random points, without what is to be pointed out in them: that is found for a batch at once."""

    points: NDArray[np.float32]
    """(n, W) in the unit square."""
    group: int
    """The part of the test that it belongs to; in training and validation 0."""
    solved: bool
    """Whether the batch has its target."""


def begin(seed: int, number: int, sizes: Sequence[Range]) -> tuple[np.random.Generator, int, int]:
    """The random generator of an example, its number of points, and its part of the test."""
    turn, group = divmod(number, len(sizes))
    low, high = sizes[group]
    random = np.random.default_rng((seed, low, high, turn))
    return random, int(random.integers(low, high + 1)), group


def draw(seed: int, number: int, *, goal: str, sizes: Sequence[Range], solved: bool = True) -> Drawn:
    """Draw points in the unit square; successive examples cycle through `sizes`.

    The sets of one size do not depend on the other sizes.
    """
    random, size, group = begin(seed, number, sizes)
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


def solve(made: Made, goal: Goal) -> list[PointSet]:
    """The sets that were drawn, with their targets where they are wanted."""
    sets = [one.points for one in made.examples]
    if not all(one.solved for one in made.examples):
        return [PointSet(points) for points in sets]
    return [PointSet(*pair) for pair in zip(sets, goal.targets(sets), strict=True)]


@dataclass(frozen=True)
class Solved:
    """From drawn examples to a batch with its targets."""

    goal: str

    def __call__(self, made: Made) -> PointBatch:
        goal = GOALS[self.goal]
        sets = solve(made, goal)
        targets = [one.target for one in sets if one.target is not None]
        group = torch.tensor([one.group for one in made.examples])
        points = [one.points for one in sets]
        return padded(points, goal.width, targets or None, index=torch.tensor(made.numbers), group=group)


class PointArguments(StreamArguments, total=False):
    """The arguments of every stream of points."""

    size: Size
    test_sizes: list[Count] | None


class PointStream(StreamData):
    """Points drawn uniformly from the unit square; no training set occurs twice.

    The test has equally many sets of each of `test_sizes`, with separate metrics for each size.
    """

    tasks: ClassVar[tuple[str, ...]] = ("pointing",)
    nouns: ClassVar[Nouns] = Nouns("sets", "points")
    goal: ClassVar[str]
    """A name of `zoo.data.points.goals`."""
    spec: PointSpec
    encoder: PointEncoder

    def __init__(
        self,
        *,
        size: Size = 5,
        test_sizes: list[Count] | None = None,
        **rest: Unpack[StreamArguments],
    ) -> None:
        """
        Args:
            size: points of a set in training and validation; of [low, high] each has as many as a draw says.
            test_sizes: points of a set in each part of the test; None: `size`, or both ends of it.
            rest: the arguments of `StreamData`; `sample.test` counts the sets of each part of the test.
        """
        super().__init__(**rest)
        fewest = self._goal.fewest
        both = [size, size] if isinstance(size, int) else size
        if len(both) == 2 and fewest <= both[1] < both[0]:
            raise refusal("data.size", size, f"[least, most] points, so the other way round: [{both[1]}, {both[0]}]")
        if len(both) != 2 or not fewest <= both[0] <= both[1]:
            raise refusal("data.size", size, f"{fewest} points or more, or [least, most] of them")
        low, high = both
        if (needed := 4 * self._goal.width * high * (self.loader.batch_size or 1)) > memory():
            raise ConfigError(
                f"data.size={size}: a batch of {self.loader.batch_size} sets with {high:,} points takes "
                f"{size_of(needed)}, and this machine has {size_of(memory())}; choose fewer points"
            )
        self.range: Range = (low, high)
        tested = sorted({low, high}) if test_sizes is None else list(test_sizes)
        if not tested or min(tested) < fewest or len(set(tested)) < len(tested):
            raise refusal("data.test_sizes", tested, f"a list of different numbers of points, from {fewest} on")
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

    def evaluation_order(self, part: Stream) -> Order:
        make = part.make
        assert isinstance(make, partial)
        counts = [begin(part.seed, number, make.keywords["sizes"])[1] for number in range(len(part))]
        return Evaluation(counts, batch_size=self.loader.batch_size, **self.ranks, nouns=self.nouns)

    def _draw(self, *sizes: Range, solved: bool = True) -> Make:
        return partial(draw, goal=self.goal, sizes=sizes, solved=solved)

    @property
    def _collate(self) -> Callable[[Made], PointBatch]:
        return Solved(self.goal)

    @property
    def sizes(self) -> dict[str, int]:
        return {**super().sizes, "test": self.sample.test * len(self.test_sizes)}

    # Saying and writing what there is

    @property
    def source_description(self) -> str:
        *others, last = map(str, self.test_sizes)
        test = " and ".join(filter(None, [", ".join(others), last]))
        size = sizes_said(*self.range)
        return f"{super().describe()['source']}, of {size} {self.nouns.parts} in training and {test} in the test"

    def describe(self) -> dict[str, Any]:
        splits, examples = {}, []
        for split, size in self.sizes.items():
            sets = self._first(split, min(size, LOOKED_AT))
            lengths = [len(one.target) for one in sets if one.target is not None]
            tours = [tour_length(one.points, one.target) for one in sets if self.goal == "tour" and one.target]
            counts = np.array([len(one.points) for one in sets])
            splits[split] = {self.nouns.examples: size, **facts(counts, lengths, tours)}
            examples = sets
        return {
            **super().describe(),
            "source": self.source_description,
            "contents": [f"means are those of the first {LOOKED_AT} sets of a split"],
            "splits": splits,
            "examples": shown(examples[: len(self.test_sizes)], self._goal),
        }

    def _first(self, split: str, count: int) -> list[PointSet]:
        return solve(self.part(split).__getitems__(list(range(count))), self._goal)

    def write(self, folder: Path) -> list[Path]:
        """The sets of an epoch, of validation, and of each part of the test, as the authors of pointer networks wrote
        theirs: `data=points data.path=FOLDER` reads them."""
        low, high = self.range
        size = str(low) if low == high else f"{low}-{high}"
        texts = {
            f"{self.name}_{size}_{split}.txt": self._lines(split, range(self.sizes[split]))
            for split in ("train", "val")
        }
        for group, size in enumerate(map(str, self.test_sizes)):
            numbers = range(group, self.sizes["test"], len(self.test_sizes))
            texts[f"{self.name}_{size}_test.txt"] = self._lines("test", numbers)
        return write_new(folder, texts)

    def _lines(self, split: str, numbers: range) -> Iterator[str]:
        part = self.part(split)
        for first in range(0, len(numbers), WRITTEN_AT_ONCE):
            made = part.__getitems__(list(numbers[first : first + WRITTEN_AT_ONCE]))
            yield from (written(one, self._goal) for one in solve(made, self._goal))


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

    def __init__(self, *, solve: bool = True, **rest: Unpack[PointArguments]) -> None:
        """Without `solve` training has only points, to learn from the length of tours; validation and test have their
        targets nevertheless."""
        super().__init__(**rest)
        self.solve = solve

    @property
    def _improvable(self) -> list[str]:
        """Notes on the targets."""
        if max(self.range[1], *self.test_sizes) <= EXACT:
            return []
        return [
            f"tours of more than {EXACT} points are those of insertion, 2-opt and or-opt, and there may be shorter ones"
        ]

    @property
    def source_description(self) -> str:
        return "; ".join([super().source_description, *self._improvable])

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "notes": self._improvable}

    def setup(self, stage: str | None = None) -> None:
        super().setup(stage)
        self.spec = replace(self.spec, solved=self.solve)

    def part(self, split: str) -> Stream:
        part = super().part(split)
        if split == "train":
            part.make = self._draw(self.range, solved=self.solve)
        return part
