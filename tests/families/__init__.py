"""Random batches for the contract tests: one file per task, with its `FAMILY`. Nothing lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
"""Replaces the log-probability of impossible tokens: a finite number can be compared and summed."""


class Family(Protocol):
    """The facts about a task's data that the contracts need."""

    spec: Any

    def batch(self, seed: int, *, empty: bool = True) -> Any:
        """Examples of unequal size with targets; one of them holds nothing at all where `empty`."""

    def long_batch(self) -> Any:
        """Examples with rows of hundreds of positions to attend to: sums in half precision go wrong there."""

    def part(self, batch: Any, rows: Sequence[int]) -> Any:
        """The examples `rows` of `batch` in that order, padded no more than they need."""

    def padded(self, batch: Any) -> Any:
        """The examples of `batch` with more padding on every axis."""

    def scribbled(self, batch: Any) -> Any:
        """The examples of `batch` with other content under the padding."""

    def without_targets(self, batch: Any) -> Any:
        """The examples of `batch` in the form of a prediction."""

    generates: bool
    """Its networks write a sequence, token after token: `start` and `step` beside `forward`."""

    def readable(self, batch: Any) -> Tensor:
        """(B, V) True at the tokens of each example that a network which generates can read after begin."""

    def with_target(self, batch: Any, ids: Sequence[int]) -> Any:
        """A batch of one example with `ids` as what is to be written, for a network that generates."""

    def changed(self, batch: Any, place: int) -> tuple[Any, Tensor]:
        """For values that are predicted in an order: the batch with another value at `place` of each sequence, and (B,)
        True at the examples where that could be done and where another value follows."""

    def rows(self, batch: Any, kind: str, mask: Tensor) -> Tensor:
        """Mask (..., S) of the positions that each row of attention called `kind` may attend to, given the memory's
        `mask`.

        For the network's own memory it is (..., 1), True at rows that attend to something.
        """

    def scores(self, output: Output, batch: Any) -> Tensor:
        """The logits with an example a row, (B, ...), zero at padding, and finite: where the network rules something
        out they are log-probabilities of at least `IMPOSSIBLE`. Of values that are predicted in an order (B, T, ...),
        row t for value t."""

    def loss(self, output: Output, batch: Any) -> Tensor:
        """The task's loss."""

    encoder: Any
    """As much of the data's encoder as a task's training asks for."""

    def task(self, model: dict[str, Any], *, attends: bool) -> Task:
        """A task around the network that `model` describes, with all possible terms of its loss: a penalty if the
        network `attends`."""


class Writing:
    """The part that families of a `WritingBatch` share."""

    generates = True

    def changed(self, batch: Any, place: int) -> tuple[Any, Tensor]:
        other = self.readable(batch).scatter(1, batch.target[:, place, None], False)
        rows = other.any(1) & (batch.target_mask.sum(1) > place + 1)
        read = batch.target_input.clone()
        read[rows, place + 1] = other[rows].int().argmax(1)
        return replace(batch, target_input=read), rows

    def readable(self, batch: Any) -> Tensor:
        raise NotImplementedError


def precise(scores: Tensor) -> Tensor:
    """In float32 at least."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


@cache
def family_of(task: str) -> Family:
    """The data of a task, for the contract."""
    return import_module(f"tests.families.{task}").FAMILY
