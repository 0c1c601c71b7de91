"""python results/add.py FILE.csv RUN [RUN ...]: takes the test metrics of finished runs from their result.json into
a results file.

Metrics are chosen with --metric NAME or --metric NAME=NUMBER, the number being the published one to compare with
(default accuracy, attention_recall, sentence_recall, attention_chance); parameters, epochs and minutes of the run are
metrics too. A row of the same command, seed and metric is replaced in its place.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
from pathlib import Path

from table import COLUMNS

DEFAULT = ("accuracy", "attention_recall", "sentence_recall", "attention_chance")
PRESENTATION = ("hydra.run.dir", "tags", "trainer.enable_progress_bar")
"""Overrides that say where a run's files go, not what it does."""


def measured(result: dict) -> dict[str, str]:
    """All that a run has measured, as written in the file."""
    facts = {"parameters": str(result["parameters"]), "epochs": str(result["epochs"])}
    facts["minutes"] = f"{result['wall_seconds'] / 60:.1f}"
    return facts | {name.removeprefix("test/"): f"{value:.4f}" for name, value in result["metrics"].items()}


def rows(result: dict, metrics: dict[str, str]) -> list[dict[str, str]]:
    """The rows of one run; `metrics` are names and published numbers, empty where there is none."""
    overrides = [o for o in result["overrides"] if o.split("=")[0] not in PRESENTATION]
    if result["git_commit"] is None or result["git_commit"].endswith("+changes"):
        raise SystemExit(
            f"{result['folder']}: ran on {result['git_commit']}; a result needs a commit that others can check out"
        )
    # a path of this machine is of no use to others
    words = [o.split("=")[0] + "=PATH" if "=/" in o or "=../" in o else o for o in overrides]
    first = {
        "model": result["model"],
        "data": result["data"],
        "source": "sample" if result["source"].startswith("sample") else Path(result["source"].split(",")[0]).name,
        "seed": str(result["seed"]),
        "command": " ".join(["python train.py", *map(shlex.quote, words)]),
        "commit": result["git_commit"][:12],
    }
    found = measured(result)
    return [
        first | {"metric": name, "ours": found[name], "paper": paper}
        for name, paper in metrics.items()
        if name in found
    ]


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("run", type=Path, nargs="+")
    parser.add_argument("--metric", action="append")
    options = parser.parse_args()
    pairs = [word.partition("=") for word in options.metric or DEFAULT]
    metrics = {name: paper for name, _, paper in pairs}
    kept = list(csv.DictReader(options.file.open(encoding="utf-8"))) if options.file.exists() else []
    by_key = {(row["command"], row["seed"], row["metric"]): row for row in kept}
    for run in options.run:
        for row in rows(json.loads((run / "result.json").read_text("utf-8")), metrics):
            by_key[row["command"], row["seed"], row["metric"]] = row
    with options.file.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(by_key.values())


if __name__ == "__main__":
    main()
