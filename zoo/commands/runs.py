"""`zoo runs`: the runs of a folder with their results."""

import argparse
import sys
from pathlib import Path

from zoo.commands import new_parser
from zoo.run.streams import as_json

ABOUT = "the runs below logs: model, data, test metrics, whether they finished"


def parser() -> argparse.ArgumentParser:
    """Return the parser of `zoo runs`."""
    runs = new_parser("runs", ABOUT)
    runs.add_argument("folder", nargs="?", type=Path, default=Path("logs"), metavar="FOLDER", help="logs by default")
    runs.add_argument(
        "--sort",
        metavar="METRIC",
        default="time",
        help="the best last: a test metric such as accuracy, or val/accuracy, score, time, parameters, seconds, ...",
    )
    runs.add_argument("--json", action="store_true", help="as JSON, with all metrics and overrides")
    return runs


def run(words: list[str]) -> None:
    """Print the runs; what is damaged is one line on standard error."""
    from rich.console import Console

    from zoo.run.runs import as_table, read_runs, sorted_runs

    options = parser().parse_args(words)
    found = read_runs(options.folder, lambda line: print(f"note: {line}", file=sys.stderr))
    runs = sorted_runs(found, options.sort)
    if options.json:
        print(as_json([one.to_dict() for one in runs], indent=2))
        return
    # a pipe has no width: paths must not be broken there
    console = Console(width=None if sys.stdout.isatty() else 300, highlight=False)
    console.print(as_table(runs, options.sort))
