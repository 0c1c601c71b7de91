"""Parts of a network that are trained at a rate of their own, and only from some epoch on."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from lightning import LightningModule
from lightning.pytorch.strategies import DDPStrategy
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from zoo.errors import CheckpointError
from zoo.layers.pretrained import Pretrained
from zoo.tasks.schedules import OWN_RATE

log = logging.getLogger(__name__)


def parameter_groups(parameters: Iterable[nn.Parameter], parts: Mapping[str, Pretrained]) -> list[Any]:
    """`parameters` as an optimizer takes them: all that it has one rate for, then a group for each part with its own.

    Groups are there from the first epoch on, whatever is frozen then: an optimizer passes over parameters without a
    gradient, and a run can be resumed in any epoch.
    """
    apart = [part for part in parts.values() if part.finetune_from is not None]
    if not apart:
        return list(parameters)
    own = {id(parameter) for part in apart for parameter in part.parameters()}
    return [
        {"params": [parameter for parameter in parameters if id(parameter) not in own]},
        *({"params": list(part.parameters()), "lr": part.learning_rate, OWN_RATE: True} for part in apart),
    ]


def check_groups(optimizers: Iterable[Mapping[str, Any]], parts: Mapping[str, Pretrained]) -> None:
    """Raises CheckpointError where the optimizers of a checkpoint, whose run is to go on, had groups for other parts
    than these: what they remember has no place then."""
    own = [name for name, part in parts.items() if part.finetune_from is not None]
    for state in optimizers:
        there = sum(OWN_RATE in group for group in state["param_groups"])
        if there != len(own):
            named = f" ({', '.join(own)})" if own else ""
            raise CheckpointError(
                f"ckpt_path: that run had {there} parts of its network to train at a rate of their own, this one has "
                f"{len(own)}{named}: leave finetune_from as it was, or begin another "
                "run from its weights, start_from=PATH"
            )


def reach_epoch(task: LightningModule, parts: Mapping[str, Pretrained]) -> None:
    """Freezes and frees parts of the task's network as it is right for its current epoch."""
    changed = {name: part for name, part in parts.items() if part.reach(task.current_epoch)}
    for name, part in changed.items():
        told = f"trained, at a rate of up to {part.learning_rate:g}" if part.trained else "frozen"
        log.info("epoch %d: from now on %s is %s", task.current_epoch, name, told)
    if changed:
        _wrap_again(task)


def _wrap_again(task: LightningModule) -> None:
    """Puts DDP around the task anew: it averages the gradients of those parameters alone that were not frozen when it
    was made. (To look for unused parameters in each step instead would cost all steps; to send zeros for frozen ones
    would, and Adam would count the steps in which they stood.)"""
    strategy = task.trainer.strategy
    if isinstance(strategy, DDPStrategy) and isinstance(strategy.model, DistributedDataParallel):
        strategy.model = task
        gc.collect()  # its hooks on the parameters go with the old one
        strategy.configure_ddp()
