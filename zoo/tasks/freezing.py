"""Parts of a network with a learning rate of their own, which are frozen until some epoch."""

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
    """Groups of `parameters` for an optimiser: one for all with the common rate, then one for each part with its own.

    Groups of frozen parts exist from the first epoch on, so that a run can be resumed in any epoch. An optimiser
    ignores parameters without a gradient.
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
    """Raise CheckpointError where the optimisers of a resumed run had groups for other parts than these, so that their
    state does not fit."""
    own = [name for name, part in parts.items() if part.finetune_from is not None]
    for state in optimizers:
        there = sum(OWN_RATE in group for group in state["param_groups"])
        if there != len(own):
            named = f" ({', '.join(own)})" if own else ""
            raise CheckpointError(
                f"ckpt_path: that run had {there} parts of its network to train at a rate of their own, this one has "
                f"{len(own)}{named}: use the same finetune_from, or begin another "
                "run from its weights with start_from=PATH"
            )


def reach_epoch(task: LightningModule, parts: Mapping[str, Pretrained]) -> None:
    """Freeze and free parts of the task's network according to the current epoch."""
    changed = {name: part for name, part in parts.items() if part.reach(task.current_epoch)}
    for name, part in changed.items():
        state = f"trained, at a rate of up to {part.learning_rate:g}" if part.trained else "frozen"
        log.info("epoch %d: from now on %s is %s", task.current_epoch, name, state)
    if changed:
        _wrap_again(task)


def _wrap_again(task: LightningModule) -> None:
    """Wrap the task in DDP again: DDP averages only the gradients of parameters that were not frozen when it was made.

    Looking for unused parameters in each step would cost time in all steps. So would sending zeros for frozen
    parameters, and Adam would count those steps."""
    strategy = task.trainer.strategy
    if isinstance(strategy, DDPStrategy) and isinstance(strategy.model, DistributedDataParallel):
        strategy.model = task
        gc.collect()  # the hooks of the old one on the parameters go with it
        strategy.configure_ddp()
