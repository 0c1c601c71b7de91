"""Prints any data set for `zoo data`, from the parts that its `describe()` gives."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from zoo.data.rows import counted
from zoo.printable import shortened, shown

BAR = 30  # Cells of the longest bar
MOST_CLASSES = 20  # Classes that are shown, if there are more
LONGEST_VALUE = 320  # Letters of one value of an example

Splits = Mapping[str, Mapping[str, Any]]


def description(name: str, parts: Mapping[str, Any]) -> Group:
    """Return a data set called `name` for the terminal; `parts` as `ServedData.describe` gives them."""
    splits: Splits = parts["splits"]
    found: list[RenderableType] = [Text.assemble((shown(name), "bold"), f": {shown(parts['source'])}")]
    found += [Text(shown(str(line))) for line in parts.get("contents", ())]
    if skipped := parts.get("skipped"):
        found.append(Text(shown(f"left out: {counted(skipped)}")))
    cells = {split: dict(cell for fact in facts.items() for cell in _cells(*fact)) for split, facts in splits.items()}
    if columns := dict.fromkeys(title for row in cells.values() for title in row):
        rows = [[split, *(row.get(title, "") for title in columns)] for split, row in cells.items()]
        found.append(_table(["split", *columns], rows))
    found += [*_classes(splits), *_lengths(splits)]
    for number, example in enumerate(parts.get("examples", ())):
        table = Table.grid(padding=(0, 2))  # the parts are one below the other, since texts can be long
        for part, value in example.items():
            table.add_row(Text(part.replace("_", " "), "dim"), Text(shortened(str(value), LONGEST_VALUE)))
        found += [*[Text("\nexamples")] * (number == 0), Padding(table, (0, 0, 1, 2))]
    for number, note in enumerate(parts.get("notes", ())):
        found += [*[Text("notes", "bold")] * (number == 0), Padding(Text(shown(note)), (0, 0, 0, 2))]
    return Group(*found)


def _cells(fact: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the cells of a fact in the table of splits, with their titles."""
    title = fact.replace("_", " ")
    if title == "dropped":
        yield title, counted(value) or "none"
    elif _is_lengths(value):
        yield f"most {title}", f"{value['max']:,}"
    elif isinstance(value, bool | str):
        yield title, str(value)
    elif isinstance(value, int):
        yield title, f"{value:,}"
    elif isinstance(value, float):
        yield title, f"{value:.1%}" if title.endswith(("rate", "share")) else f"{value:.4g}"


def _classes(splits: Splits) -> Iterator[Table]:
    """A table of shares for each count by class; if there are many classes, the largest of the first split."""
    for fact in dict.fromkeys(name for facts in splits.values() for name in facts if name != "dropped"):
        counts = {split: facts[fact] for split, facts in splits.items() if _is_counts(facts.get(fact))}
        classes = list(dict.fromkeys(name for part in counts.values() for name in part))
        if not classes:
            continue
        if left_out := len(classes[MOST_CLASSES:]):
            first = next(iter(counts.values()))
            classes.sort(key=lambda name: -first.get(name, 0))
        rows = [
            [name, *(f"{part.get(name, 0) / max(sum(part.values()), 1):.1%}" for part in counts.values())]
            for name in classes[:MOST_CLASSES]
        ]
        yield _table([fact.replace("_", " "), *counts], rows + [[f"and {left_out:,} more"]] * bool(left_out))


def _lengths(splits: Splits) -> Iterator[RenderableType]:
    """The lengths in the first split, with a bar for each group of them."""
    split, facts = next(iter(splits.items()))
    for fact, value in facts.items():
        if _is_lengths(value):
            middle = f"mean {value['mean']}, median {value['median']:g}, most {value['max']:,}"
            yield Text(f"\n{fact.replace('_', ' ')} in {split}: {middle}")
            most = max(value["bins"].values(), default=1) or 1
            table = Table.grid(Column(justify="right"), Column(justify="right"), "", padding=(0, 2))
            for title, count in value["bins"].items():
                table.add_row(title, f"{count:,}", "█" * round(BAR * count / most))
            yield table


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table; markup in its texts is not obeyed."""
    table = Table(*(Column(Text(shown(title))) for title in titles))
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    return table


def _is_lengths(value: Any) -> bool:
    return isinstance(value, Mapping) and "bins" in value


def _is_counts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(count, int) for count in value.values())
