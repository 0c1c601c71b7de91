"""Makes the tables of results in Markdown pages from results/*.csv.

python results/table.py                      prints all results
python results/table.py --write README.md    writes the tables of this page again

A table lies between `<!-- results:start FILE.csv -->` and `<!-- results:end -->` and has one line per metric. With
metrics after the name of the file, `<!-- results:start FILE.csv bleu chrf -->`, it has one line per command and one
column per metric. The table of models lies between `<!-- models:start -->` and `<!-- models:end -->`.

A row of a csv file is one run: model, data, source, metric, ours, paper, seed, command, commit. Runs that differ only
in the seed become one line: their median, their range, and the number of seeds in a column of its own.
"""

import argparse
import re
import sys
from pathlib import Path

from zoo.run import catalogue
from zoo.run.results import COLUMNS, ResultsError, Row, by_line, ours, read, read_all, seeds

__all__ = ["COLUMNS", "ResultsError", "Row", "insert", "main", "ours", "read", "table", "wide"]

MARKED = re.compile(r"(<!-- results:start (\S+\.csv)((?: \w+)*) -->\n).*?(\n<!-- results:end -->)", re.DOTALL)
START, END = "<!-- results:start", "<!-- results:end -->"
MODELS = re.compile(r"(<!-- models:start -->\n).*?(\n<!-- models:end -->)", re.DOTALL)


def table(rows: list[Row]) -> str:
    """A Markdown table with one line for the runs that differ only in the seed."""
    lines = ["| model | data | metric | ours | paper | seeds | command |", "| --- " * 7 + "|"]
    for (model, data, source, metric, paper, command), same in by_line(rows).items():
        cells = (model, f"{data} ({source})", metric, ours(same), paper or "–", seeds([same]), f"`{command}`")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def wide(rows: list[Row], metrics: list[str]) -> str:
    """A Markdown table, one line for each command, one column for each of `metrics`; published numbers in brackets."""
    runs: dict[tuple[str, ...], dict[str, list[Row]]] = {}
    for row in rows:
        model, data, source, metric, _, command = row.line
        runs.setdefault((model, data, source, command), {}).setdefault(metric, []).append(row)
    names = [metric.replace("_", " ") for metric in metrics]
    lines = ["| " + " | ".join(["model", *names, "seeds", "command"]) + " |", "| --- " * (len(metrics) + 3) + "|"]
    for (model, _, _, command), found in runs.items():
        shown = [found.get(metric, []) for metric in metrics]
        cells = [model, *map(_cell, shown), seeds(shown), f"`{command}`"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(runs: list[Row]) -> str:
    if not runs:
        return "–"
    return ours(runs) + (f" [{runs[0].paper}]" if runs[0].paper else "")


def insert(text: str, folder: Path, page: Path) -> str:
    """Return the `text` of `page` with its tables made from the files of `folder`.

    Raises ResultsError where marks are missing or a file does not exist.
    """
    if not text.count(START) == text.count(END) == len(MARKED.findall(text)) > 0:
        raise ResultsError(f"{page}: expected {START} FILE.csv [METRIC ...] --> and {END} after it, each on its line")

    def made(match: re.Match[str]) -> str:
        before, name, metrics, after = match.groups()
        if not (folder / name).is_file():
            raise ResultsError(f"{page}: no such file of results: {folder / name}")
        rows = read(folder / name)
        return before + (wide(rows, metrics.split()) if metrics else table(rows)) + after

    return MODELS.sub(lambda match: match[1] + models_table() + match[2], MARKED.sub(made, text))


def models_table() -> str:
    """A Markdown table of the models of the catalogue, in the order of their years."""
    lines = {}
    for model in catalogue.models().values():
        authors, year = model.source.split(". ")[0].split(", "), re.findall(r"\b(?:19|20)\d\d\b", model.source)[0]
        first = authors[0].split()[-1]
        who = f"{first} et al." if len(authors) > 2 else " and ".join(author.split()[-1] for author in authors)
        cells = (
            f"`{model.name}`",
            f"{who} {year}, {model.title}",
            ", ".join(model.tasks),
            f"[{model.file}]({model.file})",
        )
        lines[year, model.name] = f"| {' | '.join(cells)} |"
    head = ["| model= | paper | task | file |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *(lines[key] for key in sorted(lines))])


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(description="Make the table of results from results/*.csv.")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the tables between the marks of this page")
    target: Path | None = parser.parse_args(arguments).write
    try:
        folder = Path(__file__).resolve().parent
        if target is None:
            print(table(read_all(folder)))
        else:
            target.write_text(insert(target.read_text(encoding="utf-8"), folder, target), encoding="utf-8")
    except (ResultsError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
