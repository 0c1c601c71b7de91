"""The process and its machine: CPU threads, freed memory, seconds by phase, and whether a GPU and a wandb key exist."""

import ctypes
import logging
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from omegaconf import DictConfig

from zoo.callbacks.throughput import OTHER, Throughput
from zoo.dotted import class_at
from zoo.errors import ConfigError

log = logging.getLogger(__name__)

_IMPORTED = time.perf_counter()
MEASURED_WITH = 2  # Threads that the results of models without `threads` of their own were computed with


@contextmanager
def threads_of(cfg: DictConfig) -> Iterator[None]:
    """Set torch's number of threads within the context: `threads` of `cfg`, else that of the model's class, else
    OMP_NUM_THREADS, else two.

    The number does not depend on the machine. Sums that are split over another number of threads differ in their last
    digits, and a training makes these differences larger: a fresh machine reproduces the page of results only with the
    threads that were used there. A recurrence over small matrices is slower with more than one.
    """
    before = torch.get_num_threads()
    fixed = before if "OMP_NUM_THREADS" in os.environ else MEASURED_WITH
    count = cfg.threads or getattr(class_at(cfg.model["_target_"], torch.nn.Module), "threads", fixed)
    if count == before:
        yield
        return
    log.info("threads: %d of torch, not %d%s", count, before, "" if cfg.threads else "; threads=N sets another number")
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def keep_freed_memory() -> bool:
    """Have glibc keep freed memory in this process, without mmap and trim. Returns False where there is no glibc.

    Each training step makes and frees tens of megabytes of scores. Mapping them again costs page faults: without them
    RNNSearch trained 14 % more examples per second on one thread, 8 % on two.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if platform.system() == "Linux" else None
    trim_threshold, mmap_max = -1, -4  # their numbers in malloc.h
    return mallopt is not None and bool(mallopt(mmap_max, 0)) and bool(mallopt(trim_threshold, 2**31 - 1))


class Stopwatch:
    """Counts the seconds of a job. The first job of a process begins with the program, so that imports count."""

    _first = True

    def __init__(self) -> None:
        self.imports = seconds_running() if Stopwatch._first else 0.0
        self._begun, Stopwatch._first = time.perf_counter(), False

    def phases(self, throughput: Throughput | None) -> dict[str, float]:
        """Seconds of each phase so far, which add up to the whole. Composing the configuration counts as imports."""
        spent: dict[str, float] = {}
        if throughput is not None:
            throughput.enter(OTHER)
            spent = throughput.seconds | {OTHER: 0.0}
        rest = time.perf_counter() - self._begun - sum(spent.values())
        return {"imports": self.imports, **spent, OTHER: rest}


def seconds_running() -> float:
    """Seconds since this process began, or since this module was imported where the system does not give its start."""
    try:
        after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        began = int(after_name[19]) / os.sysconf("SC_CLK_TCK")  # field 22 of proc(5): ticks since the system started
        return float(Path("/proc/uptime").read_text().split()[0]) - began
    except (OSError, ValueError, IndexError):
        return time.perf_counter() - _IMPORTED


def check_machine(cfg: DictConfig) -> None:
    """Raise ConfigError for a GPU that does not exist, and for wandb without a key."""
    has_gpu = torch.cuda.is_available() or torch.backends.mps.is_available()
    if cfg.trainer.accelerator in ("gpu", "cuda") and not has_gpu:
        raise ConfigError(f"trainer.accelerator={cfg.trainer.accelerator}: torch finds no GPU; use trainer=cpu")
    for name, node in (cfg.logger or {}).items():
        if node is not None and node._target_.endswith(".WandbLogger") and not (node.get("offline") or _wandb_ready()):
            raise ConfigError(
                f"logger={name}: wandb has no API key; run `wandb login` once, or set logger.{name}.offline=true"
            )


def _wandb_ready() -> bool:
    if os.environ.get("WANDB_MODE") in ("offline", "disabled", "dryrun") or os.environ.get("WANDB_API_KEY"):
        return True
    import wandb

    return wandb.login(prompt=False, verify=False)
