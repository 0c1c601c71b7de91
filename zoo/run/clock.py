"""The time of a run by phase, counted from the start of the program."""

from __future__ import annotations

import os
import time
from pathlib import Path

from zoo.callbacks.throughput import OTHER, Throughput

_IMPORTED = time.perf_counter()


class Stopwatch:
    """Counts the seconds of a job: of the first one of a process from the start of the program, imports included."""

    _first = True

    def __init__(self) -> None:
        self.imports = seconds_running() if Stopwatch._first else 0.0
        self._begun, Stopwatch._first = time.perf_counter(), False

    def phases(self, throughput: Throughput | None) -> dict[str, float]:
        """Seconds of each phase so far; they add up to the whole. Imports hold the making of the configuration."""
        spent: dict[str, float] = {}
        if throughput is not None:
            throughput.enter(OTHER)
            spent = throughput.seconds | {OTHER: 0.0}
        rest = time.perf_counter() - self._begun - sum(spent.values())
        return {"imports": self.imports, **spent, OTHER: rest}


def seconds_running() -> float:
    """Since this process began; where the system does not say when that was, since this module was imported."""
    try:
        after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        began = int(after_name[19]) / os.sysconf("SC_CLK_TCK")  # field 22 of proc(5): ticks since the system started
        return float(Path("/proc/uptime").read_text().split()[0]) - began
    except (OSError, ValueError, IndexError):
        return time.perf_counter() - _IMPORTED
