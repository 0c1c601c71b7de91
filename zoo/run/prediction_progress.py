"""Progress of `zoo predict`: inputs done, and the steps of decoding, since one long text may take minutes."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress

from zoo.decoding import reporting

DELAY, AGAIN = 3.0, 60.0
"""Seconds until progress is first shown, and between two lines where the output is not a terminal."""


class PredictionProgress:
    """Bars on a terminal after a few seconds. In a file or a pipe it prints a line per minute instead."""

    def __init__(self, inputs: int, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self.console, self.clock, self.inputs = console, clock, inputs
        self.bars = Progress(console=console)
        self.done = self.bars.add_task("predicting", total=inputs, visible=inputs > 1)
        self.written = self.bars.add_task("writing", visible=False)
        self.due = clock() + DELAY
        self.reporting = reporting(self.step)

    def __enter__(self) -> Self:
        self.reporting.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.reporting.__exit__(kind, error, trace)
        if self.bars.live.is_started:
            self.bars.stop()

    def predicted(self, inputs: int) -> None:
        """Report the number of inputs that are done."""
        self.bars.update(self.done, completed=inputs)
        self.bars.update(self.written, visible=False)
        self._show(f"{inputs:,} of {self.inputs:,} inputs predicted")

    def step(self, number: int, most: int) -> None:
        """Report that decoding begins a step, and the largest number of steps."""
        line = f"writing token {number:,} of at most {most:,}"
        self.bars.update(self.written, completed=number, total=most, visible=True, description=line)
        self._show(line)

    def _show(self, line: str) -> None:
        if self.clock() < self.due:
            return
        if self.console.is_terminal:
            self.bars.start()
        else:
            self.console.print(line, highlight=False)
            self.due = self.clock() + AGAIN
