"""The classes of documents where their files do not fix them: the labels of the training documents."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from zoo.errors import DataError


def check_found(names: Sequence[str], where: str, rows: int) -> None:
    """Raises DataError for labels of `rows` training documents that are not classes."""
    if len(names) < 2:
        raise DataError(
            f"{where}: all {rows:,} documents have the label {names[0]!r}; at least two classes are expected"
        )
    if len(names) > max(50, rows // 2):
        raise DataError(
            f"{where}: {len(names):,} different labels in {rows:,} documents, such as {names[0]!r} and {names[1]!r}; "
            "is data.label_column the column of the classes?"
        )


def natural_order(names: Iterable[str]) -> list[str]:
    """Names in their natural order: numbers as numbers if all are, else text with the numbers inside it as numbers."""
    found = list(names)
    try:
        numbers = {name: float(name) for name in found}
    except ValueError:
        numbers = {}
    if numbers and all(map(math.isfinite, numbers.values())):
        return sorted(found, key=numbers.__getitem__)
    return sorted(found, key=_text_and_numbers)


def _text_and_numbers(name: str) -> Any:
    parts = re.split(r"(\d+)", name.casefold())
    return [int(part) if n % 2 else part for n, part in enumerate(parts)], name
