"""A data set on the terminal: counts, lengths, what is unknown or was left out, examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from zoo.data.rows import counted

BAR = 30
"""Cells of the longest bar."""


def description(task: str, name: str, source: str, facts: Mapping[str, Any]) -> Group:
    """`facts` as the data's `describe()` gives them."""
    return {"classification": describe_documents, "translation": describe_pairs}[task](name, source, facts)


def describe_documents(name: str, source: str, facts: Mapping[str, Any]) -> Group:
    """`facts` as `DocumentData.describe()` gives them."""
    splits: Mapping[str, Mapping[str, Any]] = facts["splits"]
    parts: list[RenderableType] = [
        Text.assemble((name, "bold"), f": {source}"),
        Text(f"vocabulary {facts['vocabulary_size']:,} words, {len(facts['classes'])} classes"),
    ]
    if facts["skipped"]:
        parts.append(Text(f"left out: {counted(facts['skipped'])}"))
    sizes = Table("split", "documents", "unknown words", "cut short", *facts["classes"])
    for split, part in splits.items():
        shares = (f"{count / max(part['documents'], 1):.1%}" for count in part["classes"].values())
        sizes.add_row(split, f"{part['documents']:,}", f"{part['unknown_rate']:.1%}", f"{part['truncated']:,}", *shares)
    parts.append(sizes)
    for what in ("sentences", "words"):
        parts += _lengths(f"{what} a training document", splits["train"][what])
    parts.append(Text("\nexamples"))
    for example in facts["examples"]:
        parts.append(Padding(Text.assemble((example["label"], "bold"), f"  {example['text']}"), (0, 0, 1, 2)))
    return Group(*parts)


def describe_pairs(name: str, source: str, facts: Mapping[str, Any]) -> Group:
    """`facts` as `PairData.describe()` gives them."""
    splits: Mapping[str, Mapping[str, Any]] = facts["splits"]
    sides = ("source", "target")
    both = f"vocabularies of {facts['source_size']:,} (source) and {facts['target_size']:,} (target) tokens"
    parts: list[RenderableType] = [
        Text.assemble((name, "bold"), f": {source}"),
        Text(f"one vocabulary of {facts['source_size']:,} tokens for both sides" if facts["shared"] else both),
    ]
    if facts["skipped"]:
        parts.append(Text(f"left out: {counted(facts['skipped'])}"))
    sizes = Table("split", "pairs", "unknown in source", "unknown in target", "longest", "dropped")
    for split, part in splits.items():
        unknown = (f"{part[f'{side}_unknown_rate']:.1%}" for side in sides)
        longest = " and ".join(str(part[f"{side}_tokens"]["max"]) for side in sides)
        sizes.add_row(split, f"{part['pairs']:,}", *unknown, longest, counted(part["dropped"]) or "none")
    parts.append(sizes)
    for side in sides:
        parts += _lengths(f"tokens a training {side}", splits["train"][f"{side}_tokens"])
    examples = Table("source", "target", title="examples", title_justify="left", show_lines=True)
    for example in facts["examples"]:
        for kind in ("text", "tokens"):  # as written, and as the network reads it
            examples.add_row(*(Text(example[f"{side}_{kind}"]) for side in sides))
    return Group(*parts, Text(), examples)


def _lengths(what: str, lengths: Mapping[str, Any]) -> list[RenderableType]:
    middle = f"mean {lengths['mean']}, median {lengths['median']:g}, most {lengths['max']}"
    return [Text(f"\n{what}: {middle}"), _histogram(lengths["bins"])]


def _histogram(bins: Mapping[str, int]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right")
    table.add_column(justify="right")
    most = max(bins.values(), default=1) or 1
    for name, count in bins.items():
        table.add_row(name, f"{count:,}", "█" * round(BAR * count / most))
    return table
