"""The number of CPU threads: the key `threads`, else a number that depends on the model alone, not on the machine.

Sums that are split over another number of threads differ in their last digits, and a training makes these differences
larger. A fresh machine reproduces the page of results only with the threads that were used there.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from omegaconf import DictConfig

from zoo.dotted import class_at

MEASURED_WITH = 2
"""Threads that the results of models without `threads` of their own were computed with."""

log = logging.getLogger(__name__)


@contextmanager
def threads_of(cfg: DictConfig) -> Iterator[None]:
    """Within it, torch computes with `threads` of `cfg`.

    Where that is null, with the `threads` of the model's class; else with OMP_NUM_THREADS, where the environment sets
    it; else with two. A recurrence over small matrices is slower with more than one.
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
