"""The classes of documents: given, or found in them."""

from __future__ import annotations

import math
import re
from typing import Any

from zoo.data.documents.readers import Row
from zoo.data.rows import BadRows
from zoo.errors import DataError, or_nearest


class Classes:
    """Class names: given, or collected from the first split that is read."""

    def __init__(self, given: tuple[str, ...] | None) -> None:
        self.given = given is not None
        self.names = list(given or ())
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._closed = self.given

    def number(self, row: Row, bad: BadRows) -> int | None:
        """The class of a row; None, once reported, for one that the first split did not have."""
        if isinstance(row.label, int):
            return row.label
        if row.label not in self._numbers:
            if self._closed:
                found = f"{row.label!r} does not occur in the training documents, where there are "
                bad(
                    row.place,
                    "unknown label",
                    found + ", ".join(map(repr, self.names)) + or_nearest(row.label, self.names),
                )
                return None
            self._numbers[row.label] = len(self.names)
            self.names.append(row.label)
        return self._numbers[row.label]

    def close(self, where: str, rows: int) -> None:
        """Take no more names. Raises DataError for names that are no classes."""
        if not self._closed and len(self.names) < 2:
            raise DataError(
                f"{where}: all {rows:,} documents have the label {self.names[0]!r}; at least two classes are expected"
            )
        if not self._closed and len(self.names) > max(50, rows // 2):
            raise DataError(
                f"{where}: {len(self.names):,} different labels in {rows:,} documents, such as {self.names[0]!r} and "
                f"{self.names[1]!r}; is data.label_column the column of the classes?"
            )
        self._closed = True

    def order(self) -> list[int]:
        """The numbers of the names in their natural order; given ones stay as they are."""
        numbers = range(len(self.names))
        return list(numbers) if self.given else sorted(numbers, key=_natural(self.names).__getitem__)


def _natural(names: list[str]) -> list[Any]:
    """Sort keys: numbers as numbers if all are, else text with the numbers inside it as numbers."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        numbers = [math.nan]
    if all(map(math.isfinite, numbers)):
        return numbers
    parts = [re.split(r"(\d+)", name.casefold()) for name in names]
    return [
        ([int(p) if n % 2 else p for n, p in enumerate(part)], name) for part, name in zip(parts, names, strict=True)
    ]
