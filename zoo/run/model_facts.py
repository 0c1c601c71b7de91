"""The facts of a model for `zoo show`: its paper, its keys, the data that fit, measured results."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from zoo.printable import shown
from zoo.run import catalogue, search_path
from zoo.run.results import Row, by_line, ours, read_all, seeds
from zoo.run.settings import Setting, read_settings, typed

LINK = re.compile(r"https?://\S+")
DIFFERS = "What differs"
INDENT = 2


@dataclass(frozen=True)
class ModelFacts:
    """A model of the catalogue."""

    name: str
    title: str
    authors: str
    venue: str
    link: str
    equations: str  # Which equations of the paper the file has, and where
    differs: Sequence[str]  # The differences from the paper
    notes: Sequence[str]  # The other paragraphs of the header
    settings: Sequence[Setting]
    chosen: dict[str, str]  # Choices of other groups that come with the model
    tasks: Sequence[str]
    data: Sequence[str]
    experiments: Sequence[str]
    file: str
    command: str
    results: Sequence[dict[str, str]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `zoo show --json` prints it."""
        settings = [
            {name: getattr(one, name) for name in ("key", "default", "allowed", "comment")} for one in self.settings
        ]
        return asdict(self) | {"settings": settings}


def model_facts(name: str) -> ModelFacts:
    """Return the facts of a model. Its class is imported for the types of its keys.

    Raises:
        ConfigError: the model is unknown; the message has the nearest name.
    """
    path = catalogue.model_file(name)
    entry, file = catalogue.models()[name], read_settings(path, "model")
    link = LINK.search(entry.source)
    authors, _, venue = LINK.sub("", entry.source).strip().rstrip(".").rpartition(". ")
    equations, differs, notes = _sections(catalogue.header(name)[2:])
    data, beside = catalogue.data_for(entry.tasks), "".join(f"--config-dir {one} " for one in search_path.folders())
    rows = _rows(name)
    return ModelFacts(
        name,
        entry.title,
        authors or venue,
        venue if authors else "",
        link[0] if link else "",
        equations,
        differs,
        notes,
        typed(file.settings.values()),
        file.chosen,
        entry.tasks,
        data,
        [one for one in catalogue.experiments() if re.fullmatch(rf"{re.escape(name)}(_.*)?", one)],
        entry.file,
        f"zoo train {beside}model={name} data={_first(data, rows)}",
        [_result(same) for same in by_line(rows).values()],
    )


def _first(data: Sequence[str], rows: Sequence[Row]) -> str:
    """The data to begin with: those that were measured, or else those that have a sample."""
    measured = [row.data for row in rows if row.source in ("sample", "stream")]
    sampled = [name for name in data if catalogue.has_sample(name)]
    return next((name for name in (*measured, *sampled, *data) if name in data), "...")


def _sections(paragraphs: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """The equations, the differences and the other paragraphs of a header."""
    equations, differs, notes = "", list[str](), list[str]()
    for paragraph in paragraphs:
        head, _, rest = paragraph.partition("\n- ")
        if head.startswith(DIFFERS):
            differs += [" ".join(item.split()) for item in rest.split("\n- ") if item.strip()]
        elif head.startswith("Equations"):
            equations = paragraph
        else:
            notes.append(paragraph)
    return equations, differs, notes


def _rows(name: str) -> list[Row]:
    """The measured runs of a model in the clone; a wheel has none."""
    folder = catalogue.conf_dir().parent / "results"
    return [row for row in read_all(folder) if row.model == name]


def _result(rows: Sequence[Row]) -> dict[str, str]:
    first = rows[0]
    where = f"{first.data} ({first.source})"
    command = first.line[-1]
    return {
        "data": where,
        "metric": first.metric,
        "ours": ours([*rows]),
        "paper": first.paper,
        "seeds": seeds([[*rows]]),
        "command": command,
    }


# for the terminal


def as_text(facts: ModelFacts, width: int) -> Group:
    """Return the facts for a terminal that is `width` letters wide."""
    parts: list[RenderableType] = [Text.assemble((facts.name, "bold"), f"  {shown(facts.title)}")]
    parts += [Text(shown(line)) for line in (facts.authors, " ".join(filter(None, [facts.venue, facts.link]))) if line]
    parts.append(Text(f"file: {facts.file}", "dim"))
    for title, paragraphs in (
        ("", [facts.equations]),
        ("What differs from the paper", facts.differs),
        ("", facts.notes),
    ):
        parts += _paragraphs(title, [one for one in paragraphs if one], width)
    parts += [Text("\nKeys", "bold"), _keys(facts.settings)]
    if facts.chosen:
        parts.append(Text("with " + ", ".join(f"{group}={name}" for group, name in facts.chosen.items())))
    parts += [Text("\nTask and data", "bold"), *_lists(facts, width)]
    if facts.results:
        parts += [Text("\nResults", "bold"), _results(facts.results)]
    return Group(*parts, Text("\nTrain it", "bold"), Padding(Text(facts.command), (0, 0, 0, INDENT)))


def _paragraphs(title: str, paragraphs: Sequence[str], width: int) -> Iterator[RenderableType]:
    if not paragraphs:
        return
    yield Text(f"\n{title}" if title else "", "bold")
    for one in paragraphs:
        for line in _joined(f"- {one}" if title else one):
            item = line.startswith("- ")
            wrapped = textwrap.wrap(
                line, width, initial_indent=" " * INDENT * item, subsequent_indent=" " * 2 * INDENT * item
            )
            yield from (Text(shown(text)) for text in wrapped)


def _joined(paragraph: str) -> list[str]:
    """The sentences and the items of a paragraph, one line each."""
    return [" ".join(part.split()) for part in re.split(r"\n(?=- )", paragraph)]


def _keys(settings: Sequence[Setting]) -> Table:
    table = Table("key", "default", Column("allowed", ratio=2), Column("", ratio=3), box=SIMPLE_HEAD, pad_edge=False)
    for one in settings:
        known = _words(one.allowed) - {"or"} <= _words(one.comment)  # the comment names the choices, and explains them
        cells = (one.key, one.default, "" if known else one.allowed, one.comment)
        table.add_row(*(Text(shown(cell)) for cell in cells))
    return table


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _lists(facts: ModelFacts, width: int) -> Iterator[Text]:
    for title, names in (("task", facts.tasks), ("data=", facts.data), ("experiment=", facts.experiments)):
        if names:
            text = textwrap.fill(f"{title}: {', '.join(names)}", width - INDENT, subsequent_indent=" " * INDENT)
            yield Text(textwrap.indent(text, " " * INDENT))


def _results(results: Sequence[dict[str, str]]) -> Table:
    columns = ("data", "metric", "ours", "paper", "seeds")
    table = Table(*columns, Column("command", ratio=1, overflow="fold"), box=SIMPLE_HEAD, pad_edge=False)
    for row in results:
        table.add_row(*(Text(shown(row[name])) for name in (*columns, "command")))
    return table
