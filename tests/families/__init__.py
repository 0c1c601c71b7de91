"""Random batches for the contract tests: one file a task, with its `FAMILY`. Nothing lists them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, Protocol

import torch
from torch import Tensor

from zoo.models.output import Output
from zoo.tasks import Task

LONG = 400
"""Positions of a long row: bfloat16 cannot count beyond 256."""
IMPOSSIBLE = -1000.0
"""What stands for the log-probability of what cannot be written: a finite number can be compared and summed."""


class Family(Protocol):
    """What the contracts need to know of a task's data."""

    spec: Any

    def batch(self, seed: int, *, empty: bool = True) -> Any:
        """Examples of unequal size with targets; one of them holds nothing at all where `empty`."""

    def long_batch(self) -> Any:
        """Examples with rows of hundreds of positions to attend to: sums in half precision go wrong there."""

    def part(self, batch: Any, rows: Sequence[int]) -> Any:
        """The examples `rows` of `batch` in that order, padded no more than they need."""

    def padded(self, batch: Any) -> Any:
        """The same examples with more padding on every axis."""

    def scribbled(self, batch: Any) -> Any:
        """The same examples with other content under the padding."""

    def without_targets(self, batch: Any) -> Any:
        """The same examples as they come when predicting."""

    generates: bool
    """Its networks write a sequence, token after token: `start` and `step` beside `forward`."""

    def readable(self, batch: Any) -> Tensor:
        """(B, V) True at the tokens of each example that a network which generates can read after begin."""

    def with_target(self, batch: Any, ids: Sequence[int]) -> Any:
        """A batch of one example with `ids` as what is to be written, for a network that generates."""

    def rows(self, batch: Any, kind: str, mask: Tensor) -> Tensor:
        """What each row of attention called `kind` may look at, where a memory with `mask` is what it sees: (..., S).
        Or (..., 1), True at the rows that look at something, where that is a memory of the network's own."""

    def scores(self, output: Output, batch: Any) -> Tensor:
        """The logits with an example a row, (B, ...), zero at padding, and finite: where the network rules something
        out they are log-probabilities of at least `IMPOSSIBLE`."""

    def loss(self, output: Output, batch: Any) -> Tensor:
        """The task's loss."""

    encoder: Any
    """As much of the data's encoder as a task's training asks for."""

    def task(self, model: dict[str, Any], *, attends: bool) -> Task:
        """A task around the network that `model` describes, with all that may stand in its loss: where the network
        `attends`, a penalty on that."""


def precise(scores: Tensor) -> Tensor:
    """In float32 at least."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


@cache
def family_of(task: str) -> Family:
    """The data of a task, for the contract."""
    return import_module(f"tests.families.{task}").FAMILY
