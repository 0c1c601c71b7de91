"""Endless streams of bit sequences, with random sizes in training and validation and given sizes in the test."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from zoo.data.bits.batch import BitBatch, BitSpec
from zoo.data.bits.encoding import BitEncoder, batch_of
from zoo.data.bits.goal import BitSequence, Goal, Sizes
from zoo.data.order import Nouns
from zoo.data.streams import Made, Make, Range, StreamArguments, StreamData, range_of
from zoo.errors import ConfigError

Case = tuple[tuple[int, int], ...]  # The smallest and the largest value of each size of a sequence


@dataclass(frozen=True)
class Sequences:
    """Sequences by seed and number. Example i belongs to case `i % cases`; `alike` successive ones have equal sizes."""

    goal: Goal
    cases: tuple[Case, ...]
    alike: int = 1

    def sizes(self, seed: int, number: int) -> Sizes:
        """Sizes of a sequence, each drawn independently and uniformly."""
        case = self.cases[number % len(self.cases)]
        if all(least == most for least, most in case):
            return tuple(most for _, most in case)
        draw = np.random.default_rng((seed, number // self.alike, 1))
        return tuple(int(draw.integers(least, most, endpoint=True)) for least, most in case)

    def length(self, seed: int, number: int) -> int:
        """Number of steps of a sequence, without generating it."""
        return self.goal.steps(*self.sizes(seed, number))

    def __call__(self, seed: int, number: int) -> BitSequence:
        made = self.goal.draw(np.random.default_rng((seed, number)), *self.sizes(seed, number))
        return made._replace(group=number % len(self.cases))


class BitArguments(StreamArguments, total=False):
    """The arguments that all goals of bits share."""

    alike: bool


class BitStream(StreamData):
    """A stream of bit sequences for one goal.

    The test has `sample.test` sequences of each of its cases, such as lengths; batches contain the number of the case.
    """

    tasks: ClassVar[tuple[str, ...]] = ("algorithmic",)
    nouns: ClassVar[Nouns] = Nouns("sequences", "steps")
    spec: BitSpec
    encoder: BitEncoder

    def __init__(
        self,
        goal: Goal,
        sizes: Mapping[str, Range],
        tested: Mapping[str, Sequence[int]],
        *,
        alike: bool = True,
        **rest: Unpack[StreamArguments],
    ) -> None:
        """`sizes` maps keys to the size in training and validation, or to its least and greatest value; sizes between
        these are drawn uniformly. `tested` has those of the test; the other sizes are then the greatest of training.

        With `alike` all sequences of a training batch have one size, without padding: sequence i has the size that is
        drawn for i // loader.batch_size, on every rank. If sample.train is not a multiple of the batch size, some
        batches contain two sizes.
        """
        super().__init__(**rest)
        self.goal = goal
        self.ranges = {key: range_of(key, value) for key, value in sizes.items()}
        greatest = {key: most for key, (_, most) in self.ranges.items()}
        self.cases: dict[str, Sizes] = {}
        """The sizes of each part of the test, by names such as `length20`."""
        for name, numbers in tested.items():
            if not numbers or len(set(numbers)) < len(numbers):
                raise ConfigError(f"data.{_key(name)}={list(numbers)}: expected different numbers, such as [20,30]")
            self.cases |= {f"{name}{number}": tuple((greatest | {name: number}).values()) for number in numbers}
        self.groups = tuple(self.cases)
        self.smallest = {key: least for key, (least, _) in self.ranges.items()}
        self.smallest |= {_key(name): min(numbers) for name, numbers in tested.items()}
        self.alike = self.loader.batch_size if alike else 1

    def require(self, least: int, expected: str) -> None:
        """Raise ConfigError if a size may be below `least`."""
        for key, found in self.smallest.items():
            if found < least:
                raise ConfigError(f"data.{key}: expected at least {expected}, found {found}")

    def setup(self, stage: str | None = None) -> None:
        self.spec = BitSpec(in_width=self.goal.in_width, out_width=self.goal.out_width, groups=tuple(self.groups))
        self.encoder = BitEncoder(self.goal)

    def generator(self) -> Make:
        return self.generator_of("train")

    def generator_of(self, split: str) -> Make:
        if split == "test":
            return Sequences(self.goal, tuple(tuple((size, size) for size in sizes) for sizes in self.cases.values()))
        return Sequences(self.goal, (tuple(self.ranges.values()),), self.alike if split == "train" else 1)

    @property
    def _collate(self) -> Callable[[Made], BitBatch]:
        return collate

    def describe(self) -> dict[str, Any]:
        ranges = [
            f"{key} {least} to {most}" if least < most else f"{key} {most}"
            for key, (least, most) in self.ranges.items()
        ]
        part = self.part("val")
        shown = part.__getitems__(list(range(min(3, len(part))))).examples
        return {
            **super().describe(),
            "contents": [
                f"training and validation: {', '.join(ranges)}",
                f"test: {self.sample.test:,} sequences of each of {', '.join(self.cases)}",
            ],
            "examples": [
                {"read": self.goal.typed(one), "to be written": self.goal.written(one.targets[one.scored])}
                for one in shown
            ],
        }


def collate(made: Made) -> BitBatch:
    """Sequences of a stream as a batch."""
    return batch_of(made.examples, made.numbers)


def _key(size: str) -> str:
    """The key of a size in the test: `test_lengths` for `length`."""
    return f"test_{size.removesuffix('s')}s"
