"""Makes the rows of results/*.csv and merges them into a file."""

import csv
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from table import COLUMNS

from zoo.run.report import git_commit


def command(program: str, words: Iterable[str]) -> str:
    """The command that reproduces a row, with PATH instead of the paths of this machine."""
    shown = [word.split("=")[0] + "=PATH" if "=/" in word or "=../" in word else word for word in words]
    return " ".join([program, *map(shlex.quote, shown)])


def source(description: str) -> str:
    """The origin of the data: `sample`, `stream`, `hub`, or the name of the real files."""
    made = next((kind for kind in ("sample", "stream") if description.startswith(kind)), None)
    return made or Path(description.split(",")[0]).name


def committed(commit: str | None, what: str) -> str:
    """The first digits of a commit. Ends the program if there is no commit or if files differ from it."""
    if commit is None or commit.endswith("+changes"):
        raise SystemExit(f"{what}: ran on {commit}; a result needs a commit that others can check out")
    return commit[:12]


def of_program(program: str, file: Path, overrides: Sequence[str], cfg: Any, description: str) -> dict[str, str]:
    """The cells that all rows of a program share which measures data without a network: all but model, metric, number.

    `description` describes the source of the data. Ends the program as `committed` does.
    """
    return {
        "data": cfg.hydra.runtime.choices.data,
        "source": source(description),
        "paper": "",
        "seed": str(cfg.seed),
        "command": command(f"python results/{program}.py {file.as_posix()}", overrides),
        "commit": committed(git_commit(), "not written"),
    }


def merge(file: Path, rows: Sequence[dict[str, str]]) -> None:
    """Put rows into a file. A row of the same model, source, command, seed and metric is replaced where it is.

    The source tells commands apart whose paths are shown as PATH.
    """

    def key(row: dict[str, str]) -> tuple[str, ...]:
        return row["model"], row["source"], re.sub(r" threads=\d+", "", row["command"]), row["seed"], row["metric"]

    kept = list(csv.DictReader(file.open(encoding="utf-8"))) if file.exists() else []
    merged = {key(row): row for row in [*kept, *rows]}
    with file.open("w", encoding="utf-8", newline="") as output:
        writer = csv.DictWriter(output, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(merged.values())
