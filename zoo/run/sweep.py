"""After a multirun: which job was best, and with which overrides."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig
from rich.console import Console
from rich.table import Table


class BestTrial(Callback):
    """Reads the jobs' result.json, so that it works with every launcher, and prints the ranking with the best one
    last."""

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        folder = Path(config.hydra.sweep.dir)
        results = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*/result.json")]
        ranked = rank([result for result in results if result["score"] is not None])
        if not ranked:
            return
        shared = set.intersection(*(set(result["overrides"]) for result in ranked)) if len(ranked) > 1 else set()
        console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 160)
        console.print(f"{len(ranked)} jobs in {folder}, best last", highlight=False)
        metrics = [name for name in ranked[0]["headline"] if any(name in result["metrics"] for result in ranked)]
        columns = [name.removeprefix("test/").replace("_", " ") for name in metrics]  # blanks, to be broken there
        table = Table("job", ranked[0]["monitor"], *columns, "parameters", "minutes")
        table.add_column("overrides", overflow="fold")
        for result in ranked:
            own = " ".join(override for override in result["overrides"] if override not in shared)
            tested = (f"{value:.4g}" if (value := result["metrics"].get(name)) is not None else "–" for name in metrics)
            facts = f"{result['parameters']:,}", f"{result['wall_seconds'] / 60:.1f}"
            table.add_row(Path(result["folder"]).name, f"{result['score']:.4f}", *tested, *facts, own)
        console.print(table)
        best = ranked[-1]
        print(f"best: {best['monitor']} {best['score']:.4f} with {' '.join(best['overrides'])}")


def rank(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """From the worst score to the best; of equal ones the job that ran first counts as the better."""

    def goodness(result: dict[str, Any]) -> tuple[float, float]:
        job = Path(result["folder"]).name
        return result["score"] * (1 if result["mode"] == "max" else -1), -int(job) if job.isdigit() else 0

    return sorted(results, key=goodness)
