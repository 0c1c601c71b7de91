"""Endless streams of bit sequences, with random sizes in training and validation and given sizes in the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from zoo.arguments import Count
from zoo.data.bits.batch import BitBatch
from zoo.data.bits.encoding import BitEncoder, batch_of
from zoo.data.bits.goal import BitSequence, Goal, Sizes
from zoo.data.bits.spec import BitSpec
from zoo.data.order import Evaluation, Nouns, Order
from zoo.data.streams import Made, Make, Stream, StreamArguments, StreamData
from zoo.errors import ConfigError

Range = Count | tuple[Count, Count]
"""A size, or its least and greatest value."""
Case = tuple[tuple[int, int], ...]
"""The least and the greatest value of each size of a sequence."""


@dataclass(frozen=True)
class Sequences:
    """Sequences by seed and number: example i belongs to case `i % cases`; `alike` successive ones have one size."""

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

    def steps(self, seed: int, number: int) -> int:
        """Number of steps of a sequence, without generating it."""
        return self.goal.steps(self.sizes(seed, number))

    def __call__(self, seed: int, number: int) -> BitSequence:
        made = self.goal.draw(self.sizes(seed, number), np.random.default_rng((seed, number)))
        return made._replace(group=number % len(self.cases))


class BitArguments(StreamArguments, total=False):
    """The arguments of every goal of bits besides its own."""

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
        sizes: Mapping[str, tuple[int, int]],
        cases: Mapping[str, Sizes],
        *,
        alike: bool = True,
        **rest: Unpack[StreamArguments],
    ) -> None:
        """`sizes` maps keys to the least and greatest size in training and validation.

        `cases` maps the parts of the test to their sizes.

        With `alike` all sequences of a training batch have one size, without padding: sequence i has the size that is
        drawn for i // loader.batch_size, on every rank. If sample.train is not a multiple of the batch size, some
        batches contain two sizes.
        """
        super().__init__(**rest)
        self.goal, self.ranges, self.cases = goal, dict(sizes), dict(cases)
        self.alike = self.loader.batch_size if alike else 1

    def setup(self, stage: str | None = None) -> None:
        """Sets `spec` and `encoder`; generates nothing."""
        self.spec = BitSpec(in_width=self.goal.in_width, out_width=self.goal.out_width, groups=tuple(self.cases))
        self.encoder = BitEncoder(self.goal)

    def generator(self) -> Make:
        return self.sequences("train")

    def sequences(self, split: str) -> Sequences:
        """The generator of the sequences of a split."""
        if split == "test":
            return Sequences(self.goal, tuple(tuple((size, size) for size in sizes) for sizes in self.cases.values()))
        return Sequences(self.goal, (tuple(self.ranges.values()),), self.alike if split == "train" else 1)

    def part(self, split: str) -> Stream:
        part = super().part(split)
        return Stream(self.sequences(split), part.seed, part.size)

    def evaluation_order(self, part: Stream) -> Order:
        make = part.make
        assert isinstance(make, Sequences)
        steps = np.array([make.steps(part.seed, number) for number in range(len(part))])
        return Evaluation(steps, batch_size=self.loader.batch_size, **self.ranks, nouns=self.nouns)

    @property
    def sizes(self) -> dict[str, int]:
        return {**super().sizes, "test": self.sample.test * len(self.cases)}

    @property
    def _collate(self) -> Callable[[Made], BitBatch]:
        return collate

    def describe(self) -> dict[str, Any]:
        ranges = [
            f"{key} {least} to {most}" if least < most else f"{key} {most}"
            for key, (least, most) in self.ranges.items()
        ]
        part = self.part("val")
        shown = [part.make(part.seed, number) for number in range(min(3, len(part)))]
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


def range_of(key: str, value: Range) -> tuple[int, int]:
    """The least and the greatest size. Raises ConfigError if the first is above the second."""
    least, most = (value, value) if isinstance(value, int) else value
    if least > most:
        raise ConfigError(f"data.{key}=[{least},{most}]: expected the least first, found {least} above {most}")
    return least, most


def cases_of(key: str, name: str, numbers: Sequence[int], *others: int) -> dict[str, Sizes]:
    """The parts of a test that `key` lists, such as `length20`, with the sizes of each: its number, then the `others`.

    Raises ConfigError if there is no number, or if one occurs twice.
    """
    if not numbers or len(set(numbers)) < len(numbers):
        raise ConfigError(f"data.{key}={list(numbers)}: expected different numbers, such as [20,30]")
    return {f"{name}{number}": (number, *others) for number in numbers}
