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
    """Reads the jobs' result.json, so that it works with every launcher, and prints the ranking with the best one last."""

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        folder = Path(config.hydra.sweep.dir)
        results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*/result.json"))]
        results = [result for result in results if result["score"] is not None]
        if not results:
            return
        ranked = sorted(results, key=lambda result: result["score"], reverse=results[0]["mode"] == "min")
        console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 160)
        table = Table("job", ranked[0]["monitor"], "overrides", title=f"{len(ranked)} jobs in {folder}, best last")
        for result in ranked:
            table.add_row(Path(result["folder"]).name, f"{result['score']:.4f}", " ".join(result["overrides"]))
        console.print(table)
        best = ranked[-1]
        console.print(f"best: {best['monitor']} {best['score']:.4f} with {' '.join(best['overrides'])}", highlight=False)
