"""The page of a paper, made from the header of its module, its code, its experiments, its results and its pictures."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from results.table import MARKED, START, read, table
from zoo.run import catalogue
from zoo.run.catalogue import ModelEntry

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "docs" / "papers"
"""The folder in which the pages would be files; their links start there."""

PICTURE = re.compile(r"!\[([^]]*)\]\(([^)]+)\)")
NOT_PROSE = re.compile(r"(`[^`]*`|https?://[^\s)]+(?<![.,;]))")
FILE = re.compile(r"`?\b((?:zoo|results|benchmarks|tests)/[\w/]+\.(?:py|md))\b`?")
LONGEST_HEADING = 60  # Letters
INDENTED = " " * 4
FENCE = "``````"  # Longer than any in the code


def paper_page(entry: ModelEntry) -> str:
    """Return the page of a model in Markdown."""
    source = (ROOT / entry.file).read_text(encoding="utf-8")
    module = ast.parse(source)
    paragraphs = (ast.get_docstring(module) or "").split("\n\n")
    guides = [f"[{title(ROOT / f'docs/guides/{task}.md')}](../guides/{task}.md)" for task in entry.tasks]
    data = ", ".join(f"`{name}`" for name in catalogue.data_for(entry.tasks))
    parts = [
        f"# {paragraphs[0].rstrip('.')}",
        prose(paragraphs[1]),
        f"Train it with `model={entry.name}`. It is for {' and '.join(guides)}; the data that fit are {data}.",
        *own_pictures(entry.name),
        *(part for paragraph in paragraphs[2:] for part in section(paragraph)),
        "## Hyperparameters",
        fenced("yaml", (ROOT / "conf" / "model" / f"{entry.name}.yaml").read_text(encoding="utf-8")),
        "## Code { data-search-exclude }",
        f"`{entry.file}`, after its header:",
        fenced("python", code_below_header(source, module)),
        *results(entry.name),
        *experiments(entry.name),
    ]
    return "\n\n".join(parts) + "\n"


def title(page: Path) -> str:
    """The first heading of a page."""
    return re.findall(r"^# (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)[0]


def fenced(language: str, text: str) -> str:
    """A block of code."""
    return f"{FENCE}{language}\n{text.strip()}\n{FENCE}"


def code_below_header(source: str, module: ast.Module) -> str:
    """The source without its first docstring."""
    header = module.body[0]
    return "\n".join(source.splitlines()[header.end_lineno :])


# The header


def section(paragraph: str) -> Iterator[str]:
    """A part of the header as a heading and its text, lists and indented equations."""
    name, colon, text = paragraph.partition(":")
    words = " ".join(name.split())
    heading = re.match(r"Equations|What differs from the paper|Notation", words)
    if colon and heading:
        more = re.sub(r"^\((.*)\)$", r"\1", words.removeprefix(heading[0]).lstrip(";,").strip())
        short = len(words) <= LONGEST_HEADING
        yield f"## {words if short else heading[0]}"
        paragraph = capitalised(text.lstrip(" ").lstrip("\n")) if short else f"{capitalised(more)}:{text}"
    yield "\n".join(_blocks(paragraph))


def _blocks(paragraph: str) -> Iterator[str]:
    """The paragraphs, items of a list and equations of a part. Indented lines are equations, one per line."""
    blocks: list[list[str]] = []
    for line in paragraph.splitlines():
        if not blocks or line.startswith(("- ", INDENTED)) or blocks[-1][0].startswith(INDENTED):
            blocks.append([line])
        else:
            blocks[-1].append(line)
    inside = ""
    for block in blocks:
        if block[0].startswith("- "):
            inside = INDENTED
            yield f"\n- {prose(' '.join(block)[2:])}"
        elif block[0].startswith(INDENTED):
            yield f"\n{inside}`#!text {block[0].strip()}`"
        else:
            yield f"\n{inside}{prose(' '.join(block))}"


def capitalised(text: str) -> str:
    """A text that begins with a capital letter, unless it begins with a symbol."""
    first = re.match(r"[a-z]{2,}\b|a\b", text)
    return text[0].upper() + text[1:] if first else text


def prose(text: str) -> str:
    """Plain text of a docstring as Markdown: symbols are not markup, files and addresses are links."""
    found = []
    for part in NOT_PROSE.split(" ".join(text.split())):
        if part.startswith("http"):
            found.append(f"<{part}>")
        elif match := FILE.fullmatch(part):
            found.append(_linked(match[1]))
        elif part.startswith("`"):
            found.append(part)
        else:
            pieces = FILE.split(part)
            found += [_escaped(piece) if at % 2 == 0 else _linked(piece) for at, piece in enumerate(pieces)]
    return "".join(found)


def _linked(path: str) -> str:
    return f"[{path}](../../{path})" if (ROOT / path).is_file() else f"`{path}`"


def _escaped(text: str) -> str:
    return re.sub(r"([\\*_{}\[\]#])", r"\\\1", text).replace("<", "&lt;")


# Pictures, results and experiments


def pages() -> list[Path]:
    """The pages with pictures of networks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "results").glob("*.md"))]


def shown_pictures() -> dict[Path, tuple[str, set[str]]]:
    """Every picture with its caption, and the models that have rows in the results of its section."""
    found: dict[Path, tuple[str, set[str]]] = {}
    for page in pages():
        for part in re.split(r"^#+ ", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
            models = {row.model for match in MARKED.finditer(part) for row in read(ROOT / "results" / match[2])}
            for caption, link in PICTURE.findall(part):
                found.setdefault((page.parent / link).resolve(), (caption, models))
    return found


def own_pictures(model: str) -> Iterator[str]:
    """The pictures whose names begin with that of the model."""
    for path, (caption, _) in shown_pictures().items():
        if path.stem.startswith(f"{model}_"):
            yield picture(path, caption)


def picture(path: Path, caption: str) -> str:
    """A picture with its caption under it."""
    return f"![{caption}](../pictures/{path.name})\n\n*{caption}*"


def results(model: str) -> Iterator[str]:
    """The rows of a model, a table for each file, with the page that explains it, and the pictures of these pages."""
    yield "## Results"
    explained = {page: page.read_text(encoding="utf-8") for page in sorted((ROOT / "results").glob("*.md"))}
    for path in sorted((ROOT / "results").glob("*.csv")):
        if rows := [row for row in read(path) if row.model == model]:
            page = next(page for page, text in explained.items() if f"{START} {path.name}" in text)
            yield f"From [{title(page)}](../../results/{page.name}), `{path.name}`:"
            yield table(rows)
    for path, (caption, models) in shown_pictures().items():
        if model in models and not path.stem.startswith(f"{model}_"):
            yield picture(path, caption)


def experiments(model: str) -> Iterator[str]:
    """The experiments of a model, with their files."""
    yield "## Experiments"
    for name, about in catalogue.experiments().items():
        path = ROOT / "conf" / "experiment" / f"{name}.yaml"
        if chosen_model(path) == model:
            yield f"### {name}\n\n{prose(about)}"
            yield f'??? note "conf/experiment/{name}.yaml"\n\n' + "\n".join(
                f"    {line}" for line in fenced("yaml", path.read_text(encoding="utf-8")).splitlines()
            )


def chosen_model(path: Path) -> str | None:
    """The model that an experiment, or a recipe that it inherits, chooses."""
    found = None
    for entry in (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).get("defaults", []):
        if isinstance(entry, str) and (parent := path.with_name(f"{entry}.yaml")).is_file():
            found = chosen_model(parent) or found
        elif isinstance(entry, dict):
            found = next((name for key, name in entry.items() if key.split()[-1].strip("/") == "model"), found)
    return found
