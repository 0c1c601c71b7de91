"""The interfaces that decoding requires of a network, a batch and a vocabulary, and reports of its progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import torch
from torch import Tensor

from zoo.layers.state import State, Step


class Examples(Protocol):
    """B examples to write something for, each from a memory of at most S positions: tokens, image regions, points,
    sentences. Only the network knows their other fields. It may replace these three by `State.memories`."""

    @property
    def memory_mask(self) -> Tensor:
        """(B, S) True at the positions of the memory that exist."""

    @property
    def content_mask(self) -> Tensor:
        """(B, S) True at the positions that coverage expects attention on: positions with content, not an end mark."""

    @property
    def memory_length(self) -> Tensor:
        """(B,) L in the limits a L + b on the length of the written sequence."""

    def __len__(self) -> int:
        """B."""


class Specials(Protocol):
    """The ids of tokens that are not shown."""

    @property
    def padding(self) -> int:
        """Never written."""

    @property
    def begin(self) -> int:
        """Read before the first token, unless the network gives other first tokens; never written."""

    @property
    def end(self) -> int | None:
        """The last token of a finished hypothesis; None for texts without an end, which the maximum length cuts."""


class Generating(Protocol):
    """A network that writes token by token. `zoo.layers.state` says what a state and a step hold."""

    def start(self, batch: Any) -> State:
        """Return the state of one hypothesis for each example, before its first token."""

    def step(self, tokens: Tensor, state: State) -> Step:
        """Read `tokens` (B, K) and return the log-probabilities (B, K, V) of the next ones."""


def first_tokens(state: State, specials: Specials, count: int) -> Tensor:
    """(B, 1) the tokens that the first step reads for `count` examples: those of `state`, or else begin."""
    if state.first is None:
        return torch.full((count, 1), specials.begin, device=state.device)
    return state.first[:, None]


Report = Callable[[int, int], None]
"""Called before each step with its number, from 1, and the largest number of steps."""

_report: ContextVar[Report | None] = ContextVar("_report", default=None)


@contextmanager
def reporting(report: Report) -> Iterator[None]:
    """Within this context every step of decoding is reported."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


Hear = Callable[[Tensor], None]
"""Called after each step of decoding without search with the tokens (B, K) that were written, padding at ended ones."""

_hear: ContextVar[Hear | None] = ContextVar("_hear", default=None)


@contextmanager
def listening(hear: Hear) -> Iterator[None]:
    """Within this context the tokens of decoding without search are heard as they are written."""
    token = _hear.set(hear)
    try:
        yield
    finally:
        _hear.reset(token)


def say(tokens: Tensor) -> None:
    """Give the tokens (B, K) of a step to the listener, if there is one."""
    if (hear := _hear.get()) is not None:
        hear(tokens)


def counted(longest: Tensor) -> Iterator[int]:
    """The numbers of the steps, from 1 to the largest of `longest` (B,), each of them reported."""
    most, report = int(longest.max()), _report.get()
    for position in range(1, most + 1):
        if report is not None:
            report(position, most)
        yield position
