"""The catalogue as `zoo list` prints it: all of it, or what a few words choose."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.text import Text

from zoo.errors import ConfigError, nearest
from zoo.run import catalogue

Entries = dict[str, list[dict[str, Any]]]
HEADINGS = {
    "models": "Models: model=NAME",
    "data": "Data: data=NAME",
    "experiments": "Experiments, whole runs of papers, or for comparison with public numbers: experiment=NAME",
}


def catalogue_entries(words: Sequence[str] = ()) -> Entries:
    """Return the models, data and experiments, as plain data.

    Args:
        words: `models`, `data` or `experiments` choose that part. Other words choose the entries that have all of them
            in their name, task or description.

    Raises:
        ConfigError: no entry has all the words.
    """
    found: Entries = {
        "models": [asdict(model) | {"data": catalogue.data_for(model.tasks)} for model in catalogue.models().values()],
        "data": [asdict(data) for data in catalogue.datasets().values()],
        "experiments": [{"name": name, "about": about} for name, about in catalogue.experiments().items()],
    }
    parts = [word for word in words if word in HEADINGS] or list(HEADINGS)
    rest = [word.casefold() for word in words if word not in HEADINGS]
    chosen = {part: [entry for entry in found[part] if all(_has(entry, word) for word in rest)] for part in parts}
    if rest and not any(chosen.values()):
        names = [entry["name"] for part in parts for entry in found[part]]
        tasks = [task for entry in found["models"] for task in entry["tasks"]]
        near = nearest(rest[0], [*names, *tasks, *HEADINGS])
        hint = f"did you mean zoo list {near}?" if near else "zoo list without a word shows all of it"
        raise ConfigError(f"zoo list {' '.join(words)}: nothing in the catalogue has {' and '.join(rest)}; {hint}")
    return chosen


def _has(entry: Mapping[str, Any], word: str) -> bool:
    """Whether a word is in the name, the task or the description of an entry, not only in the data that fit."""
    tasks = [entry.get("task"), *entry.get("tasks", ())]
    texts = (entry.get(name) for name in ("name", "title", "source", "about"))
    return word in tasks or any(word in text.casefold() for text in texts if text)


def as_text(entries: Entries, width: int) -> Text:
    """Return the entries as lines of at most `width` columns, names in bold and what follows them indented."""
    lines = Text()
    for part, found in entries.items():
        if not found:
            continue
        lines.append(("\n" if lines else "") + HEADINGS[part] + "\n" + ("\n" if part != "models" else ""), "bold")
        for entry in found:
            lines.append("\n" if part == "models" else "")
            first, *more = _wrapped(entry, width)
            lines.append(entry["name"], "bold").append(first[len(entry["name"]) :] + "\n")
            lines.append("".join(f"{line}\n" for line in more))
    lines.rstrip()
    return lines


def _wrapped(entry: Mapping[str, Any], width: int) -> Iterator[str]:
    indent = " " * 4

    def wrap(text: str, start: str = indent) -> list[str]:
        return textwrap.wrap(
            start + text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )

    yield from wrap(f"{entry['name']}  {entry.get('title') or entry.get('about') or ''}".rstrip(), "")
    if "data" in entry:  # a model
        yield from wrap(entry["source"]) if entry["source"] else ()
        yield from wrap(f"task: {', '.join(entry['tasks'])}")
        yield from wrap(f"data=: {', '.join(entry['data'])}")
