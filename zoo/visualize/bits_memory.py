"""Which of what was done to a memory is shown: a panel for each head and each kind, and of the rows those in use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

if TYPE_CHECKING:
    from zoo.tasks.algorithmic import BitPrediction

USED = 0.05
"""A row of the memory that no head ever weighs more is not in use."""
MOST_ROWS = 64
"""Of a memory with fewer rows all are shown."""
VECTORS, WEIGHTINGS = ("erase", "add"), ("write", "read")
"""In the order in which they are shown: what is written and then where."""


class Panel(NamedTuple):
    """Numbers as cells."""

    of: str
    """What they are."""
    values: NDArray[Any]
    """(C, T) over time, a row for each channel or for each row of the memory."""
    head: int | None = None
    """Whose they are, from 1, where there are several."""
    rows: Sequence[int] = ()
    """The numbers of the rows, where they are of the memory."""

    @property
    def name(self) -> str:
        return self.of if self.head is None else f"{self.of} {self.head}"


def panels(prediction: BitPrediction) -> list[Panel]:
    """What was done to the memory, as far as the network tells."""
    rows, found = rows_in_use(prediction), []
    for name in (*VECTORS, *WEIGHTINGS):
        heads = prediction.memory.get(name, ())
        for number, head in enumerate(heads, 1):
            values, numbers = (head[:, rows], rows) if name in WEIGHTINGS else (head, [])
            found.append(Panel(name, values.T, number if len(heads) > 1 else None, numbers))
    return found


def memory_at_the_end(prediction: BitPrediction) -> Panel | None:
    """Of the memory (N, W) behind the last step the rows in use; None where the network does not tell."""
    if "memory" not in prediction.memory:
        return None
    rows = rows_in_use(prediction)
    return Panel("memory at the end", prediction.memory["memory"][rows], rows=rows)


def rows_in_use(prediction: BitPrediction) -> list[int]:
    """The rows of the memory from the first to the last that is in use, all of a small one. The heads of a Turing
    machine go from the last row on to the first: what is left out is the longest run of rows that nobody uses."""
    weightings = [prediction.memory[name] for name in WEIGHTINGS if name in prediction.memory]
    count = max((part.shape[-1] for part in weightings), default=len(prediction.memory.get("memory", ())))
    used = sorted({row for part in weightings for row in (part.max((0, 1)) > USED).nonzero()[0].tolist()})
    if not used or count <= MOST_ROWS:
        return list(range(count))
    ends = zip([used[-1] - count, *used], used, strict=False)  # of the unused rows before each that is in use
    gap, first = max(((row - before, row) for before, row in ends), key=lambda end: end[0])
    return [(first + step) % count for step in range(count - gap + 1)]
