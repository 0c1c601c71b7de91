"""Reports of how far decoding is, for a progress bar: a long source may take minutes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from torch import Tensor

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


def counted(longest: Tensor) -> Iterator[int]:
    """The numbers of the steps, from 1 to the largest of `longest` (B,), each of them reported."""
    most, report = int(longest.max()), _report.get()
    for position in range(1, most + 1):
        if report is not None:
            report(position, most)
        yield position
