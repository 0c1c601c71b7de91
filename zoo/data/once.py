"""Rows of several splits that are read together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeVar

from zoo.data.rows import BadRows
from zoo.data.sources import SPLITS

Row = TypeVar("Row")


class ReadOnce(Generic[Row]):
    """Reads the rows of all splits when the first split is asked for, and keeps them for the other splits."""

    def __init__(self, read: Callable[[BadRows], Iterator[tuple[str, Row]]]) -> None:
        """`read` yields (split, row)."""
        self._read = read
        self._rows: dict[str, list[Row]] = {}

    def splits(self, names: Sequence[str] = SPLITS) -> dict[str, Callable[[BadRows], Iterator[Row]]]:
        """The readers of a `Source`."""
        return {name: partial(self._split, name) for name in SPLITS if name in names}

    def _split(self, name: str, bad: BadRows) -> Iterator[Row]:
        if not self._rows:
            for split, row in self._read(bad):
                self._rows.setdefault(split, []).append(row)
        return iter(self._rows.get(name, ()))
