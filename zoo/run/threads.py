"""How many threads of the CPU compute: those of the key, else those that the model says serve it best."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from omegaconf import DictConfig

from zoo.dotted import class_at

log = logging.getLogger(__name__)


@contextmanager
def threads_of(cfg: DictConfig) -> Iterator[None]:
    """Within it torch computes with `threads` of `cfg`, as it is. Where that is null, with the `threads` of the model's
    class, if it has any and torch has more: a recurrence over small matrices loses time by handing them out."""
    before = torch.get_num_threads()
    own = getattr(class_at(cfg.model["_target_"], torch.nn.Module), "threads", before)
    count = cfg.threads or min(own, before)
    if count == before:
        yield
        return
    log.info("threads: %d of torch, not %d%s", count, before, "" if cfg.threads else "; threads=N sets another number")
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
