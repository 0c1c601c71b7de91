"""python results/add.py FILE.csv RUN [RUN ...]: takes the test metrics of finished runs from their result.json into
a results file.

Metrics are chosen with --metric (default accuracy, attention_recall, sentence_recall, attention_chance); --paper
gives the
paper's number for the first of them. A row of the same command and metric is replaced.
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


def rows(result: dict, metrics: list[str], paper: str) -> list[dict[str, str]]:
    """The rows of one run."""
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
    return [
        first
        | {"metric": metric, "ours": f"{result['metrics'][f'test/{metric}']:.4f}", "paper": paper if not number else ""}
        for number, metric in enumerate(metrics)
        if f"test/{metric}" in result["metrics"]
    ]


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("run", type=Path, nargs="+")
    parser.add_argument("--metric", action="append")
    parser.add_argument("--paper", default="")
    options = parser.parse_args()
    kept = list(csv.DictReader(options.file.open(encoding="utf-8"))) if options.file.exists() else []
    for run in options.run:
        new = rows(json.loads((run / "result.json").read_text("utf-8")), options.metric or list(DEFAULT), options.paper)
        replaced = {(row["command"], row["seed"], row["metric"]) for row in new}
        kept = [row for row in kept if (row["command"], row["seed"], row["metric"]) not in replaced] + new
    with options.file.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)


if __name__ == "__main__":
    main()
