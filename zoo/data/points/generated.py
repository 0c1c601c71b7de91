"""Sets of random points without end, with the targets of a goal."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from zoo.arguments import Count
from zoo.data.cache import write_new
from zoo.data.order import Nouns
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.data.points.encoding import PointEncoder
from zoo.data.points.goals import GOALS, HULL, ORDER, TOUR, TRIANGULATION, Goal
from zoo.data.points.goals.tour import EXACT
from zoo.data.points.sets import FLAT, IMPROVABLE, PointSet, facts, problem, shown, tour_length, written
from zoo.data.streams import Made, Make, Range, StreamArguments, StreamData, range_of
from zoo.errors import ConfigError
from zoo.memory import memory, size_of
from zoo.values import refusal

DESCRIBED = 200  # Sets of a split from which `describe` takes means
WRITTEN_AT_ONCE = 1000  # Sets that are solved together for files


@dataclass(frozen=True)
class Drawing:
    """Draws sets in the unit square by seed and number; successive examples cycle through `sizes`.

    The sets of one size do not depend on the other sizes.
    """

    goal: str
    sizes: Sequence[tuple[int, int]]
    solved: bool = True
    """Whether the sets get targets, which the encoder computes for a whole batch."""

    def _begin(self, seed: int, number: int) -> tuple[np.random.Generator, int]:
        """The random generator of an example, and its number of points."""
        turn, group = divmod(number, len(self.sizes))
        low, high = self.sizes[group]
        random = np.random.default_rng((seed, low, high, turn))
        return random, int(random.integers(low, high + 1))

    def length(self, seed: int, number: int) -> int:
        """Points of an example."""
        return self._begin(seed, number)[1]

    def __call__(self, seed: int, number: int) -> dict[str, Any]:
        goal, (random, size) = GOALS[self.goal], self._begin(seed, number)
        points = random.random((size, goal.width), np.float32)
        while not _usable(points, goal):
            points = random.random((size, goal.width), np.float32)
        return {"points": points, "group": number % len(self.sizes), "solved": self.solved}


def _usable(points: NDArray[np.float32], goal: Goal) -> bool:
    """Whether (n, W) points in the unit square have no `problem`. For nearly all sets a quick test is enough."""
    rows = points.tolist()
    if len(set(map(tuple, rows))) == len(rows):  # else about one in 100,000 sets of 15 numbers
        if not goal.spread:
            return True
        (x, y), (right, above), (east, north) = rows[:3]
        if abs((right - x) * (north - y) - (above - y) * (east - x)) > 4 * FLAT:
            return True
    return problem(points, goal) is None


class PointArguments(StreamArguments, total=False):
    """The arguments of every stream of points."""

    size: Range
    test_sizes: list[Count] | None


class PointStream(StreamData):
    """Points drawn uniformly from the unit square; no training set occurs twice.

    The test has equally many sets of each of `test_sizes`, with separate metrics for each size.
    """

    tasks: ClassVar[tuple[str, ...]] = ("pointing",)
    nouns: ClassVar[Nouns] = Nouns("sets", "points")
    goal: ClassVar[Goal]
    solve: bool = True  # Whether the training sets have targets
    spec: PointSpec
    encoder: PointEncoder

    def __init__(
        self, *, size: Range = 5, test_sizes: list[Count] | None = None, **rest: Unpack[StreamArguments]
    ) -> None:
        """
        Args:
            size: points of a set in training and validation; with [low, high] a number is drawn for each set.
            test_sizes: points of a set in each part of the test; None: `size`, or both ends of it.
            rest: the arguments of `StreamData`; `sample.test` counts the sets of each part of the test.
        """
        super().__init__(**rest)
        fewest = self.goal.fewest
        self.range = low, high = range_of("size", size)
        if low < fewest:
            raise refusal("data.size", size, f"{fewest} points or more, or [least, most] of them")
        if (needed := 4 * self.goal.width * high * (self.loader.batch_size or 1)) > memory():
            raise ConfigError(
                f"data.size={size}: a batch of {self.loader.batch_size} sets with {high:,} points takes "
                f"{size_of(needed)}, and this machine has {size_of(memory())}; choose fewer points"
            )
        tested = sorted({low, high}) if test_sizes is None else list(test_sizes)
        if not tested or min(tested) < fewest or len(set(tested)) < len(tested):
            raise refusal("data.test_sizes", tested, f"a list of different numbers of points, from {fewest} on")
        self.test_sizes = tested
        self.groups = tuple(f"n{size}" for size in tested)
        self.longest = max(high, *tested)
        self.encoder = PointEncoder(self.goal.name)

    def setup(self, stage: str | None = None) -> None:
        self.spec = PointSpec(
            width=self.goal.width,
            longest=self.longest,
            longest_target=self.goal.longest(self.longest) + 1,
            goal=self.goal.name,
            groups=tuple(self.groups),
            solved=self.solve,
        )

    def generator(self) -> Make:
        return self.generator_of("train")

    def generator_of(self, split: str) -> Drawing:
        sizes = [(size, size) for size in self.test_sizes] if split == "test" else [self.range]
        return Drawing(self.goal.name, sizes, solved=self.solve or split != "train")

    @property
    def _collate(self) -> Callable[[Made], PointBatch]:
        return self.encoder.made

    # Describing and writing

    @property
    def _notes(self) -> list[str]:
        if self.goal is not TOUR or self.longest <= EXACT:
            return []
        return [f"tours of more than {EXACT} points are those of {IMPROVABLE}"]

    @property
    def source_description(self) -> str:
        *others, last = map(str, self.test_sizes)
        test = " and ".join(filter(None, [", ".join(others), last]))
        size = " to ".join(map(str, dict.fromkeys(self.range)))
        sizes = f"of {size} {self.nouns.parts} in training and {test} in the test"
        return "; ".join([f"{super().describe()['source']}, {sizes}", *self._notes])

    def describe(self) -> dict[str, Any]:
        splits, examples = {}, list[PointSet]()
        for split, size in self.sizes.items():
            examples = self._sets(split, range(min(size, DESCRIBED)))
            lengths = [len(one.target) for one in examples if one.target is not None]
            tours = [tour_length(one) for one in examples if self.goal is TOUR and one.target]
            splits[split] = {self.nouns.examples: size, **facts([len(one.points) for one in examples], lengths, tours)}
        return {
            **super().describe(),
            "source": self.source_description,
            "contents": [f"means are those of the first {DESCRIBED} sets of a split"],
            "splits": splits,
            "examples": [shown(one, self.goal) for one in examples[: len(self.test_sizes)]],
            "notes": self._notes,
        }

    def _sets(self, split: str, numbers: Sequence[int]) -> list[PointSet]:
        return self.encoder.solved(self.part(split).__getitems__(list(numbers)))

    def write(self, folder: Path) -> list[Path]:
        """Write the sets of an epoch, of validation, and of each part of the test, as the authors of pointer networks
        wrote theirs: `data=points data.path=FOLDER` reads them."""
        size = "-".join(map(str, dict.fromkeys(self.range)))
        parts = {f"{size}_{split}": (split, range(self.sizes[split])) for split in ("train", "val")}
        for group, points in enumerate(self.test_sizes):
            parts[f"{points}_test"] = "test", range(group, self.sizes["test"], len(self.test_sizes))
        return write_new(folder, {f"{self.name}_{end}.txt": self._lines(*part) for end, part in parts.items()})

    def _lines(self, split: str, numbers: range) -> Iterator[str]:
        for first in range(0, len(numbers), WRITTEN_AT_ONCE):
            sets = self._sets(split, numbers[first : first + WRITTEN_AT_ONCE])
            yield from (written(one, self.goal) for one in sets)


class ConvexHull(PointStream):
    """The corners of the convex hull, counter-clockwise."""

    name = "convex_hull"
    goal = HULL


class Delaunay(PointStream):
    """The triangles of the Delaunay triangulation."""

    name = "delaunay"
    goal = TRIANGULATION


class SortNumbers(PointStream):
    """Numbers in their order: points with one coordinate."""

    name = "sort_numbers"
    nouns = Nouns("sets", "numbers")
    goal = ORDER


class Tsp(PointStream):
    """Short tours, optimal ones up to `zoo.data.points.goals.tour.EXACT` points."""

    name = "tsp"
    goal = TOUR

    def __init__(self, *, solve: bool = True, **rest: Unpack[PointArguments]) -> None:
        """Without `solve` training has only points, to learn from the length of tours; validation and test have their
        targets nevertheless."""
        super().__init__(**rest)
        self.solve = solve
