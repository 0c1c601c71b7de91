"""Windows of a stream: its columns, their order, and the ids on the disk.

Training cuts N tokens into B columns of floor(N / B) and leaves out the rest. A column is read in windows of T tokens:
each is read, and the token after it predicted. What remains after the last whole window is left out, too. Validation
and test leave out nothing: all N - 1 tokens after the first are predicted once. The last column may be shorter.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from zoo.arguments import Count, NonNegative, Share
from zoo.data.language.batch import StreamBatch
from zoo.data.options import Options
from zoo.data.order import Order
from zoo.data.rows import some
from zoo.errors import ConfigError

SHORTEST = 5
"""The fewest tokens of a window of random length, before the lengths are scaled (Merity et al. 2017, their code)."""


@dataclass(frozen=True)
class WindowOptions(Options):
    """How a stream is cut into windows."""

    group: ClassVar[str] = "window"

    length: Count = 35
    """T, the tokens of a window, through which gradients flow back."""
    deviation: NonNegative = 0.0
    """The standard deviation of the lengths of training windows, in tokens (Merity et al. 2017: 5)."""
    half: Share = 0.0
    """The share of training windows that are half as long (Merity et al. 2017: 0.05). With random lengths the learning
    rate of a step is multiplied by the length of its window and divided by `length`."""
    columns: Count = 8
    """The columns in which validation and test are read. In the first tokens of a column, the network knows none of
    those before: with one column it always knows all."""

    @property
    def random(self) -> bool:
        """Whether training windows have random lengths."""
        return self.deviation > 0 or self.half > 0


class Window(NamedTuple):
    """A window of one column: a row of a batch."""

    number: int  # Its number in the epoch, over all columns
    start: int  # The place in the stream of the first token that is read
    length: int


class Windows(NamedTuple):
    """Windows of a stream with their tokens, as `collate` takes them."""

    windows: list[Window]
    parts: Mapping[str, list[NDArray[Any]]]
    """The `ids` (T + 1,) of each window, and, where the data know them, the facts about each of these tokens."""
    token_bytes: float  # Bytes of a token of the split, on average
    usual: int | None = None
    """The length for which the learning rate is meant, where windows have random lengths."""


class StoredStream(Dataset[Windows]):
    """A stream on the disk: ids (N,), mapped into memory, and facts about each token by name."""

    def __init__(
        self, split: str, parts: Mapping[str, NDArray[Any]], token_bytes: float, usual: int | None = None
    ) -> None:
        self.split, self.parts, self.token_bytes, self.usual = split, parts, token_bytes, usual

    def __len__(self) -> int:
        return len(self.parts["ids"])

    def __getitem__(self, window: Window) -> Windows:
        return self.__getitems__([window])

    def __getitems__(self, windows: list[Window]) -> Windows:
        cut = {
            name: [stream[one.start : one.start + one.length + 1] for one in windows]
            for name, stream in self.parts.items()
        }
        return Windows(windows, cut, self.token_bytes, self.usual)


class Columns(Order):
    """The windows of a stream of `size` tokens in columns: row b of each batch continues row b of the batch before.

    Batches are global: each of `world_size` processes takes every world_size-th column.
    """

    def __init__(self, size: int, columns: int, **place: int) -> None:
        super().__init__(**place)
        self.size, self.columns = size, columns
        if columns < self.world_size:
            raise ConfigError(
                f"{some(columns, 'column')} of a text cannot be shared by {self.world_size} processes: set "
                "data.loader.batch_size (for validation and test data.window.columns) to at least their number"
            )

    def batches(self) -> Iterator[list[Window]]:  # type: ignore[override]
        """The batches of this process."""
        for number, batch in enumerate(self.rows()):
            own = range(self.rank, len(batch), self.world_size)
            yield [Window(number * self.columns + column, *batch[column]) for column in own]

    @abstractmethod
    def rows(self) -> Iterator[list[tuple[int, int]]]:
        """The start and the length of the window of each column, batch by batch."""


class TrainingColumns(Columns):
    """Columns of equal length, whose windows have one length or, in each epoch anew, random ones.

    Random lengths are max(SHORTEST, int(draw)), with a normal draw around T or T / 2. An epoch has as many windows as T
    fits into a column, and their lengths are scaled so that they fill the column. They follow from (seed, epoch).
    """

    def __init__(self, size: int, columns: int, window: WindowOptions, *, seed: int = 0, **place: int) -> None:
        """Raises ConfigError where a column has no whole window."""
        super().__init__(size, columns, **place)
        self.window, self.seed = window, seed
        self.column = size // columns  # tokens of a column
        self._count = max(0, self.column - 1) // window.length
        if not self._count:
            needed = window.length + 1
            fewer = f", or at most {some(size // needed, 'column')}" if size >= needed else ""
            raise ConfigError(
                f"{size:,} training tokens in {some(columns, 'column')} (data.loader.batch_size): {self.column} in "
                f"each, but a window needs {needed} (data.window.length, and the token after it); use a longer text, a "
                f"smaller window{fewer}"
            )

    def __len__(self) -> int:
        return self._count

    @property
    def left_out(self) -> tuple[int, int]:
        """The tokens after the last column, and the tokens of all columns after the last window."""
        inside = self.column - 1 if self.random else self._count * self.window.length
        return self.size - self.columns * self.column, self.columns * (self.column - 1 - inside)

    def summary(self, unit: str) -> str:
        """The columns and the tokens that they leave out, in one line. `unit` is the name of the tokens."""
        windows = f"{self._count:,} windows of {'about ' * self.random}{self.window.length}"
        after, rest = self.left_out
        return (
            f"train: {some(self.columns, 'column')} of {self.column:,} {unit}, {windows}; left out {after:,} after the "
            f"last column, {rest:,} after the last windows"
        )

    @property
    def random(self) -> bool:
        return self.window.random

    def places(self) -> NDArray[np.int64]:
        """(windows + 1,) where each window begins in its column, and where the last one ends."""
        if not self.random:
            return np.arange(self._count + 1) * self.window.length
        draw = np.random.default_rng((self.seed, self.epoch))
        base = np.where(draw.random(self._count) < self.window.half, self.window.length / 2, self.window.length)
        lengths = np.maximum(draw.normal(base, self.window.deviation).astype(np.int64), SHORTEST)
        ends = np.rint(lengths.cumsum() * ((self.column - 1) / lengths.sum())).astype(np.int64)
        return np.concatenate([[0], ends])

    def rows(self) -> Iterator[list[tuple[int, int]]]:
        places = self.places().tolist()
        for begin, end in pairwise(places):
            yield [(column * self.column + begin, end - begin) for column in range(self.columns)]

    def state(self) -> dict[str, Any]:
        window = {"window": self.window.length, "random": self.random, "seed": self.seed}
        return {"tokens": self.size, "columns": self.columns, **super().state(), **window}


class EvaluatedColumns(Columns):
    """Columns that predict every token after the first of the stream. The last column may be shorter, and its last
    window too."""

    def __init__(self, size: int, columns: int, length: int, **place: int) -> None:
        self.length, self.column = length, -(-(size - 1) // columns)  # tokens that a column predicts
        super().__init__(size, -(-(size - 1) // self.column), **place)

    def __len__(self) -> int:
        return -(-self.column // self.length)

    def rows(self) -> Iterator[list[tuple[int, int]]]:
        for begin in range(0, self.column, self.length):
            starts = (column * self.column + begin for column in range(self.columns))
            ends = (min((column + 1) * self.column, self.size - 1) for column in range(self.columns))
            rows = ((start, min(self.length, end - start)) for start, end in zip(starts, ends, strict=True))
            yield [(start, length) for start, length in rows if length > 0]


def collate(found: Windows) -> StreamBatch:
    """A batch of windows: ids that are read and predicted, and the facts about the predicted ones."""
    lengths = torch.tensor([window.length for window in found.windows])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]

    def padded(rows: list[NDArray[Any]]) -> Tensor:
        rows = [np.pad(row, (0, mask.shape[1] - len(row))) for row in rows]
        return torch.from_numpy(np.stack(rows))

    ids = found.parts["ids"]
    known = ((name, padded([row[1:] for row in rows])) for name, rows in found.parts.items() if name != "ids")
    facts: dict[str, Any] = {name: part if part.is_floating_point() else part.long() for name, part in known}
    return StreamBatch(
        index=torch.tensor([window.number for window in found.windows]),
        target_input=padded([row[:-1] for row in ids]).long(),
        target=padded([row[1:] for row in ids]).long(),
        target_mask=mask,
        token_bytes=found.token_bytes,
        share=mask.shape[1] / found.usual if found.usual else 1.0,
        **facts,
    )
