"""A data set on the terminal: its name and source, numbers of its splits, lengths as bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from zoo.data.rows import counted

BAR = 30
"""Cells of the longest bar."""


def headline(name: str, source: str) -> Text:
    """The data set and where its examples come from."""
    return Text.assemble((name, "bold"), f": {source}")


def left_out(skipped: Mapping[str, int]) -> list[RenderableType]:
    """What was left out, where anything was."""
    return [Text(f"left out: {counted(skipped)}")] if skipped else []


def numbers_of_splits(splits: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each split with the numbers that are known of it."""
    names = [name for name, value in next(iter(splits.values()), {}).items() if isinstance(value, int | float)]
    table = Table("split", *(name.replace("_", " ") for name in names))
    for split, part in splits.items():
        table.add_row(
            split, *(f"{part[name]:,}" if isinstance(part[name], int) else f"{part[name]:.4g}" for name in names)
        )
    return table


def lengths(what: str, numbers: Mapping[str, Any]) -> list[RenderableType]:
    """How long the examples are, in words and as bars; `numbers` as `zoo.data.stored.histogram` gives them."""
    middle = f"mean {numbers['mean']}, median {numbers['median']:g}, most {numbers['max']}"
    return [Text(f"\n{what}: {middle}"), _histogram(numbers["bins"])]


def _histogram(bins: Mapping[str, int]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right")
    table.add_column(justify="right")
    most = max(bins.values(), default=1) or 1
    for name, count in bins.items():
        table.add_row(name, f"{count:,}", "█" * round(BAR * count / most))
    return table
