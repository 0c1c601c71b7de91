"""Progress of `zoo predict`: inputs done, and the steps of decoding, since one long text may take minutes."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress

from zoo.decoding import reporting

DELAY, AGAIN = 3.0, 60.0
"""Seconds until progress is first shown, and between two lines where the output is not a terminal."""


@contextmanager
def prediction_progress(
    inputs: int, console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[int], None]]:
    """Show bars on a terminal after a few seconds; in a file or a pipe print a line per minute instead. Gives the
    function that reports how many of the `inputs` are done."""
    bars, due = Progress(console=console), clock() + DELAY
    done = bars.add_task("predicting", total=inputs, visible=inputs > 1)
    written = bars.add_task("writing", visible=False)

    def show(line: str) -> None:
        nonlocal due
        if clock() >= due and console.is_terminal:
            bars.start()
        elif clock() >= due:
            console.print(line, highlight=False)
            due = clock() + AGAIN

    def step(number: int, most: int) -> None:
        line = f"writing step {number:,} of at most {most:,}"
        bars.update(written, completed=number, total=most, visible=True, description=line)
        show(line)

    def predicted(count: int) -> None:
        bars.update(done, completed=count)
        bars.update(written, visible=False)
        show(f"{count:,} of {inputs:,} inputs predicted")

    try:
        with reporting(step):
            yield predicted
    finally:
        if bars.live.is_started:
            bars.stop()
