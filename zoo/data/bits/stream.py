"""Endless sequences of bits: in training and validation of sizes that are drawn, in the test of sizes beyond those."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zoo.arguments import Count
from zoo.data.bits.batch import BitBatch
from zoo.data.bits.encoding import BitEncoder, batch_of
from zoo.data.bits.goal import BitSequence, Goal, Sizes
from zoo.data.bits.spec import BitSpec
from zoo.data.bucketing import Evaluation
from zoo.data.options import LoaderOptions, SampleOptions
from zoo.data.order import Nouns, Order
from zoo.data.streams import Made, Make, Stream, StreamData
from zoo.errors import ConfigError

Range = Count | tuple[Count, Count]
"""A size, or the least and the most of it."""
Case = tuple[tuple[int, int], ...]
"""The least and the most of each size of a sequence."""


@dataclass(frozen=True)
class Sequences:
    """The sequence of a seed and a number. Those of one number modulo the number of `cases` are of one case; `alike` in
    a row are of one size."""

    goal: Goal
    cases: tuple[Case, ...]
    alike: int = 1

    def sizes(self, seed: int, number: int) -> Sizes:
        """Each drawn by itself, from its least to its most with the same chance."""
        case = self.cases[number % len(self.cases)]
        if all(least == most for least, most in case):
            return tuple(most for _, most in case)
        draw = np.random.default_rng((seed, number // self.alike, 1))
        return tuple(int(draw.integers(least, most, endpoint=True)) for least, most in case)

    def steps(self, seed: int, number: int) -> int:
        """How long the sequence is, without making it."""
        return self.goal.steps(self.sizes(seed, number))

    def __call__(self, seed: int, number: int) -> BitSequence:
        made = self.goal.draw(self.sizes(seed, number), np.random.default_rng((seed, number)))
        return made._replace(group=number % len(self.cases))


class BitStream(StreamData):
    """Sequences of bits of one goal.

    The test has `sample.test` sequences of each of its cases, such as lengths, and the batches know whose they are.
    """

    task: ClassVar[str] = "algorithmic"
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
        sample: Mapping[str, Any] | SampleOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """`sizes` are the least and the most of each size in training and validation, by their keys; `cases` the sizes
        of each part of the test, by its name.

        With `alike` the sequences of one training batch are of one size, so that none is padded: sequence i has the
        size that is drawn for i // loader.batch_size, on every rank; where sample.train is no multiple of that,
        batches hold two sizes.
        """
        super().__init__(sample=sample, loader=loader)
        self.goal, self.ranges, self.cases = goal, dict(sizes), dict(cases)
        self.alike = self.loader.batch_size if alike else 1

    def setup(self, stage: str | None = None) -> None:
        """Sets `spec` and `encoder`; nothing is made."""
        self.spec = BitSpec(in_width=self.goal.in_width, out_width=self.goal.out_width, groups=tuple(self.cases))
        self.encoder = BitEncoder(self.goal)

    def generator(self) -> Make:
        return self.sequences("train")

    def sequences(self, split: str) -> Sequences:
        """What makes the sequences of a split."""
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
    """The least and the most of a size. Raises ConfigError where the first is above the second."""
    least, most = (value, value) if isinstance(value, int) else value
    if least > most:
        raise ConfigError(f"data.{key}=[{least},{most}]: expected the least first, found {least} above {most}")
    return least, most


def cases_of(key: str, name: str, numbers: Sequence[int], *others: int) -> dict[str, Sizes]:
    """The parts of a test that `key` lists: `length20` by the `name` and a number, and of each the sizes, that number
    before the `others`. Raises ConfigError where there is none, or one twice."""
    if not numbers or len(set(numbers)) < len(numbers):
        raise ConfigError(f"data.{key}={list(numbers)}: expected some numbers, none of them twice, such as [20,30]")
    return {f"{name}{number}": (number, *others) for number in numbers}
