"""A data set on the terminal: counts, classes, lengths, examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

BAR = 30
"""Cells of the longest bar."""


def describe_documents(name: str, source: str, facts: Mapping[str, Any]) -> Group:
    """`facts` as `DocumentData.describe()` gives them."""
    splits: Mapping[str, Mapping[str, Any]] = facts["splits"]
    parts: list[RenderableType] = [
        Text.assemble((name, "bold"), f": {source}"),
        Text(f"vocabulary {facts['vocabulary_size']:,} words, {len(facts['classes'])} classes"),
    ]
    if facts["skipped"]:
        parts.append(
            Text("left out: " + ", ".join(f"{count:,} {reason}" for reason, count in facts["skipped"].items()))
        )
    sizes = Table("split", "documents", "unknown words", "cut short", *facts["classes"])
    for split, part in splits.items():
        shares = (f"{count / max(part['documents'], 1):.1%}" for count in part["classes"].values())
        sizes.add_row(split, f"{part['documents']:,}", f"{part['unknown_rate']:.1%}", f"{part['truncated']:,}", *shares)
    parts.append(sizes)
    for what in ("sentences", "words"):
        lengths = splits["train"][what]
        middle = f"mean {lengths['mean']}, median {lengths['median']:g}, most {lengths['max']}"
        parts.append(Text(f"\n{what} a training document: {middle}"))
        parts.append(_histogram(lengths["bins"]))
    parts.append(Text("\nexamples"))
    for example in facts["examples"]:
        parts.append(Padding(Text.assemble((example["label"], "bold"), f"  {example['text']}"), (0, 0, 1, 2)))
    return Group(*parts)


def _histogram(bins: Mapping[str, int]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right")
    table.add_column(justify="right")
    most = max(bins.values(), default=1) or 1
    for name, count in bins.items():
        table.add_row(name, f"{count:,}", "█" * round(BAR * count / most))
    return table
