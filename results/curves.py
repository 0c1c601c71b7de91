"""python results/curves.py PICTURE.png RUN [RUN ...] [--by model KEY]: draws the validation scores of runs.

Each run is a line over the training examples before each validation, or over the steps. Runs have one colour if they
agree in the model, in the overrides that --by names, or in the name that --names gives them.
"""

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

COLOURS = ("#1f4e79", "#c8551b", "#4f7a28", "#7a4f9a", "#8a8a8a")


def curve(run: Path, metric: str, over: str) -> tuple[list[float], list[float]]:
    """The values of `over` and of `metric` at each validation of a run."""
    with (run / "metrics.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row.get(metric) and row.get(over)]
    if not rows:
        raise SystemExit(f"{run / 'metrics.csv'}: no validation has both {metric} and {over}")
    return [float(row[over]) for row in rows], [float(row[metric]) for row in rows]


def kind(run: Path, by: Sequence[str]) -> str:
    """The name of a run's line: its model and the values of its overrides."""
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    given = {"model": str(result["model"])}
    for word in result["overrides"]:
        key, _, value = word.partition("=")
        given.setdefault(key, value)
    return ", ".join(given[key] for key in by if key in given) or "default"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--metric", default="val/bits_per_sequence")
    parser.add_argument("--over", default="val/sequences")
    parser.add_argument("--by", nargs="+", default=["model"], help="model, or keys of overrides")
    parser.add_argument("--names", nargs="+", help="the name of each run's line")
    asked = parser.parse_args()
    names = asked.names or [kind(run, asked.by) for run in asked.runs]
    figure = Figure(figsize=(6.5, 3), dpi=110, layout="constrained")
    axes = figure.add_subplot()
    colours: dict[str, str] = {}
    for run, name in zip(asked.runs, names, strict=True):
        label = None if name in colours else name
        colour = colours.setdefault(name, COLOURS[len(colours) % len(COLOURS)])
        axes.plot(*curve(run, asked.metric, asked.over), color=colour, label=label, linewidth=1, alpha=0.8)
    axes.set_xlabel(asked.over.rpartition("/")[2].replace("_", " ") + " of training")
    axes.set_ylabel(asked.metric.rpartition("/")[2].replace("_", " "))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(asked.picture)


if __name__ == "__main__":
    main()
