"""python results/add.py FILE.csv RUN [RUN ...]: copies the test metrics of finished runs from their result.json into
a results file.

Choose metrics with --metric NAME or --metric NAME=NUMBER, where NUMBER is the published one to compare with. The
default is accuracy, attention_recall, sentence_recall and attention_chance. Parameters, epochs and minutes of the run
are metrics too. A row of the same source, command, seed and metric is replaced where it is.

With --baselines the rows are those of the baselines of the runs (task.baselines=true), under their own names.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from rows import command, committed, merge, source

DEFAULT = ("accuracy", "attention_recall", "sentence_recall", "attention_chance")
PRESENTATION = ("hydra.run.dir", "tags", "trainer.enable_progress_bar")
"""Overrides that choose where the files of a run go, not what it computes."""


def measured(result: dict) -> dict[str, str]:
    """Every metric of a run, with its number as written in the file."""
    facts = {"parameters": str(result["parameters"]), "epochs": str(result["epochs"])}
    facts["minutes"] = f"{result['wall_seconds'] / 60:.1f}"
    found = {name: value for name, value in result["metrics"].items() if value is not None}
    return facts | {name.removeprefix("test/"): f"{value:.4f}" for name, value in found.items()}


def rows(result: dict, metrics: dict[str, str]) -> list[dict[str, str]]:
    """The rows of one run; `metrics` maps names to published numbers, empty where there is none."""
    overrides = [o for o in result["overrides"] if o.split("=")[0] not in (*PRESENTATION, "threads")]
    overrides.append(f"threads={result.get('threads') or result['versions']['torch_threads']}")
    first = {
        "model": result["model"],
        "data": result["data"],
        "source": source(result["source"]),
        "seed": str(result["seed"]),
        "command": command("python train.py", overrides),
        "commit": committed(result["git_commit"], result["folder"]),
    }
    found = measured(result)
    return [
        first | {"metric": name, "ours": found[name], "paper": paper}
        for name, paper in metrics.items()
        if name in found
    ]


def baselines(result: dict) -> Iterator[dict]:
    """The results of the baselines of a run, as if each were a network without parameters."""
    for name, found in result["baselines"].items():
        yield result | {"model": name, "metrics": {f"test/{metric}": value for metric, value in found.items()}}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("run", type=Path, nargs="+")
    parser.add_argument("--metric", action="append")
    parser.add_argument("--baselines", action="store_true")
    options = parser.parse_args()
    pairs = [word.partition("=") for word in options.metric or DEFAULT]
    metrics = {name: paper for name, _, paper in pairs}
    runs = [json.loads((run / "result.json").read_text("utf-8")) for run in options.run]
    if options.baselines:
        runs = [baseline for run in runs for baseline in baselines(run)]
    merge(options.file, [row for run in runs for row in rows(run, metrics)])


if __name__ == "__main__":
    main()
