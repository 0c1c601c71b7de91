"""How a task makes its optimisers and schedules, steps several optimisers itself, and frees frozen parts."""

import gc
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from hydra.utils import instantiate
from lightning import LightningModule
from lightning.pytorch.loops.optimization.manual import _ManualOptimization
from lightning.pytorch.strategies import DDPStrategy
from lightning.pytorch.trainer.states import TrainerFn
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau

from zoo.data.rows import some
from zoo.errors import CheckpointError, ConfigError
from zoo.layers.pretrained import Pretrained
from zoo.tasks.clipping import clip_norm
from zoo.tasks.parts import parameters_of
from zoo.tasks.schedules import OWN_RATE, Noam

TOTAL_STEPS = "total_steps"
"""In a scheduler's arguments, a placeholder for the number of optimiser steps of the whole run."""

log = logging.getLogger(__name__)


class Optimizing(LightningModule):
    """Builds the optimiser and the schedule of the configuration.

    A task with `several_optimizers` overrides `configure_optimizers` with `optimizer_for` and `schedule_for`, and its
    `training_step` calls `update` for each optimiser. It may return None. A step of the run is then a batch (or
    trainer.accumulate_grad_batches batches), however many optimisers it moves: max_steps, schedules and result.json
    count so. Clipping and accumulation follow the configuration of the trainer as with one optimiser.
    """

    several_optimizers: ClassVar[bool] = False  # Whether `training_step` steps the optimisers itself, by `update`
    find_unused_parameters: ClassVar[bool] = False
    """Whether some backward passes reach only a part of the parameters, which DDP has to know."""
    pretrained: dict[str, Pretrained]
    gradient_norms: dict[int, Tensor]
    """The norm of the gradients of the newest step before clipping, by the number of the optimiser from 1 on.

    Clipping gives it in each step. Without clipping by norm it is computed only in steps that are logged.
    """
    monitor: str
    mode: str
    _filled: dict[Any, str]
    _validates = False  # Whether a validation has begun whose value the optimisers do not know yet
    _rate_share = 1.0

    def setup(self, stage: str) -> None:
        super().setup(stage)
        if stage == "fit" and self.several_optimizers:
            # Not earlier: Lightning refuses to clip and accumulate for such a task, and `update` does it in its place.
            self.automatic_optimization = False
            loop = self.trainer.fit_loop.epoch_loop
            loop.manual_optimization = BatchSteps(self.trainer, self)
        if self.find_unused_parameters and isinstance(self.trainer.strategy, DDPStrategy):
            self.trainer.strategy._ddp_kwargs["find_unused_parameters"] = True

    # building

    def configure_optimizers(self) -> Any:
        optimizer = self.optimizer_for(self.named_parameters(), self.hparams["optimizer"])
        return self.scheduled(optimizer, self.hparams["scheduler"])

    def optimizer_for(self, parameters: Iterable[tuple[str, nn.Parameter]], options: Mapping[str, Any]) -> Optimizer:
        """An optimiser of named parameters.

        Args:
            parameters: names and parameters, such as `self.network.generator.named_parameters()`. Parts of a network
                with a rate of their own get a group of their own.
            options: the group of the configuration that describes the optimiser, with its `_target_`.
        """
        options, named = dict(options), list(parameters)
        if self.trainer.precision == "16-mixed" and self.trainer.gradient_clip_val:
            options.pop("fused", None)  # a fused step unscales the gradients itself, too late for clipping them
        make = instantiate(options, _partial_=True, _convert_="all")
        rates: dict[str, float] = self.hparams["learning_rates"] or {}
        if getattr(make.func, "by_name", False):  # such an optimiser makes its own groups
            if rates:
                raise ConfigError(f"task.learning_rates: {make.func.__name__} has its own rates; use optimizer=adam")
            return make(named)
        network: Any = self.network
        own = [(parameters_of(network, name), rate) for name, rate in rates.items()]
        every = [parameter for _, parameter in named]
        return make(parameter_groups(every, [*rates_of(self.pretrained.values()), *own]))

    def schedule_for(self, optimizer: Optimizer, plan: Mapping[str, Any]) -> dict[str, Any]:
        """A schedule for `optimizer`, in Lightning's form; `plan` is the group `scheduler` of the configuration."""
        timing = {key: value for key, value in plan.items() if key != "scheduler"}
        steps = self.trainer.estimated_stepping_batches
        shape = {key: steps if value == TOTAL_STEPS else value for key, value in plan["scheduler"].items()}
        scheduler = instantiate(shape, optimizer=optimizer, _convert_="all")
        self._filled.update((scheduler, key) for key, value in plan["scheduler"].items() if value == TOTAL_STEPS)
        if isinstance(scheduler, Noam) and scheduler.warmup > steps:
            log.warning(scheduler.advice(int(steps)))
        if isinstance(scheduler, ReduceLROnPlateau) and self.trainer.limit_val_batches == 0:
            log.warning("scheduler: it follows %s; without a validation the learning rate stays", plan.get("monitor"))
        return {"scheduler": scheduler, **timing}

    def scheduled(self, optimizer: Optimizer, plan: Mapping[str, Any] | None) -> Any:
        """An optimiser with its schedule, if there is one, in the form that `configure_optimizers` returns."""
        if not plan:
            return {"optimizer": optimizer} if self.several_optimizers else optimizer
        return {"optimizer": optimizer, "lr_scheduler": self.schedule_for(optimizer, plan)}

    # training

    def on_train_batch_start(self, batch: Any, batch_idx: int) -> None:
        """Freeze and free parts of the network by epoch. This happens before each batch, since a run that is resumed
        within an epoch, or at its end, does not begin it."""
        changed = {name: part for name, part in self.pretrained.items() if part.reach(self.current_epoch)}
        for name, part in changed.items():
            state = f"trained, at a rate of up to {part.learning_rate:g}" if part.trained else "frozen"
            log.info("epoch %d: from now on %s is %s", self.current_epoch, name, state)
        if changed:
            self._wrap_again()
        self._rate_share = batch.rate_share

    def optimizer_step(
        self, epoch: int, batch_idx: int, optimizer: Any, optimizer_closure: Callable[[], Any] | None = None
    ) -> None:
        """Take a step at the learning rate times the `rate_share` of the batch."""
        rates = [group["lr"] for group in optimizer.param_groups]
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * self._rate_share
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_closure)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate

    def _wrap_again(self) -> None:
        """Wrap the task in DDP again: DDP averages only gradients of parameters that were not frozen when it was made.

        Looking for unused parameters in each step would cost time in all steps. So would sending zeros for frozen
        parameters, and Adam would count those steps."""
        strategy = self.trainer.strategy
        if isinstance(strategy, DDPStrategy) and isinstance(strategy.model, DistributedDataParallel):
            strategy.model = self
            gc.collect()  # the hooks of the old one on the parameters go with it
            strategy.configure_ddp()

    def on_train_epoch_start(self) -> None:
        """Tell an optimiser that counts epochs that one begins. A run resumed within an epoch does not begin it."""
        super().on_train_epoch_start()
        for optimizer in self.trainer.optimizers:
            getattr(optimizer, "start_epoch", lambda: None)()

    def check_groups(self, optimizers: Iterable[Mapping[str, Any]]) -> None:
        """Raise CheckpointError if a checkpoint's optimisers trained more or fewer parts at rates of their own."""
        own = [name for name, part in self.pretrained.items() if part.finetune_from is not None]
        own += self.hparams["learning_rates"] or ()
        for state in optimizers:
            there = sum(OWN_RATE in group for group in state["param_groups"])
            if there != len(own):
                named = f" ({', '.join(own)})" if own else ""
                raise CheckpointError(
                    f"ckpt_path: the run that wrote it trained {there} parts of its network at rates of their own, "
                    f"this run has {len(own)}{named}: use the same finetune_from and task.learning_rates, or start a "
                    "new run from its weights with start_from=PATH"
                )

    def update(self, optimizer: Any, loss: Tensor) -> None:
        """Take one step of one of several optimisers: backward, clipping as the trainer says, and the step itself.

        Args:
            optimizer: one of `self.optimizers()`. Compute `loss` within `optimizer.toggle_model()`, so that its
                gradient does not reach the parameters of the others.
            loss: the mean over a batch. With trainer.accumulate_grad_batches the step follows the last of the batches.
        """
        loop = self.trainer.fit_loop.epoch_loop
        self.manual_backward(loss / self.trainer.accumulate_grad_batches)
        if loop._should_accumulate():
            return
        if (scaler := getattr(self.trainer.precision_plugin, "scaler", None)) is not None:
            scaler.unscale_(optimizer.optimizer)  # the bound holds for the gradients themselves
        bound, algorithm = self.trainer.gradient_clip_val, self.trainer.gradient_clip_algorithm
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        number = 1 + self.trainer.optimizers.index(optimizer.optimizer)
        if bound and algorithm != "value":
            self.gradient_norms[number] = clip_norm(parameters, bound)
        else:
            self._measure(parameters, number)
            if bound:
                nn.utils.clip_grad_value_(parameters, bound)
        optimizer.step()
        optimizer.zero_grad()

    def step_schedules(self, interval: str, *, plateau: bool = False) -> None:
        """Step the schedules of that interval, as Lightning does for a single optimiser."""
        number = self.trainer.fit_loop.epoch_loop.batch_idx if interval == "step" else self.current_epoch
        for config in self.trainer.lr_scheduler_configs:
            due = config.interval == interval and (number + 1) % config.frequency == 0
            if due and config.reduce_on_plateau == plateau:
                value = self.trainer.callback_metrics.get(str(config.monitor)) if plateau else None
                if value is not None or not plateau:
                    super().lr_scheduler_step(config.scheduler, value)

    def on_train_epoch_end(self) -> None:
        super().on_train_epoch_end()
        if self.trainer.fit_loop.epoch_loop._num_ready_batches_reached():
            self.step_schedules("epoch", plateau=True)

    def lr_scheduler_step(self, scheduler: Any, metric: Any) -> None:
        """Leave out a schedule that follows a validation of each epoch: Lightning steps it only after the checkpoint of
        the epoch's end is written, and `on_train_epoch_end` has stepped it before that."""
        configs = self.trainer.lr_scheduler_configs
        if not any(one.scheduler is scheduler and one.reduce_on_plateau and one.interval == "epoch" for one in configs):
            super().lr_scheduler_step(scheduler, metric)

    def configure_gradient_clipping(
        self, optimizer: Any, gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None
    ) -> None:
        """Clip as Lightning does, and also for fused optimisers in bf16, where Lightning refuses without need."""
        scaled = getattr(self.trainer.precision_plugin, "scaler", None) is not None
        late = scaled and getattr(optimizer, "_step_supports_amp_scaling", False)  # it unscales the gradients itself
        if gradient_clip_val and gradient_clip_algorithm != "value" and not late:
            self.gradient_norms[1] = clip_norm(self.parameters(), gradient_clip_val)
            return
        if not late:
            self._measure(self.parameters(), 1)
        super().configure_gradient_clipping(optimizer, gradient_clip_val, gradient_clip_algorithm)

    def _measure(self, parameters: Iterable[nn.Parameter], number: int) -> None:
        """Compute the norm of the gradients of an optimiser if this step is logged."""
        loop = self.trainer.fit_loop.epoch_loop
        last = self.trainer.is_last_batch or loop.global_step + 1 == self.trainer.max_steps
        if last or self.trainer._logger_connector.should_update_logs:
            gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
            self.gradient_norms[number] = nn.utils.get_total_norm(gradients)

    # optimisers that evaluate other weights than they train, such as NTASGD

    def show_evaluated(self, evaluated: bool) -> bool:
        """Put the weights that optimisers evaluate into the network, or those that they train; returns whether the
        others were there."""
        changed = [getattr(one, "show", lambda _: False)(evaluated) for one in self.trainer.optimizers]
        return any(changed)

    def on_validation_start(self) -> None:
        super().on_validation_start()
        if self.trainer.state.fn == TrainerFn.FITTING:
            self._validates = not self.trainer.sanity_checking
            self.show_evaluated(True)

    def on_validation_end(self) -> None:
        super().on_validation_end()
        if self.trainer.state.fn == TrainerFn.FITTING:
            self._note_validation()
            self.show_evaluated(False)

    def _note_validation(self) -> None:
        """Give the optimisers the monitored value of the newest validation, once."""
        value = self.trainer.callback_metrics.get(self.monitor)
        if self._validates and value is not None:
            for optimizer in self.trainer.optimizers:
                getattr(optimizer, "validated", lambda _: None)(float(value) * (-1 if self.mode == "max" else 1))
        self._validates = False

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Store the weights that optimisers evaluate in the network's place, and those that they train in theirs."""
        super().on_save_checkpoint(checkpoint)
        if self._trainer is None or not any(hasattr(optimizer, "show") for optimizer in self.trainer.optimizers):
            return
        self._note_validation()  # callbacks save before `on_validation_end`
        changed = self.show_evaluated(True)
        checkpoint["state_dict"] = self.state_dict()
        if "optimizer_states" in checkpoint:
            states = map(self.trainer.strategy.optimizer_state, self.trainer.optimizers)
            checkpoint["optimizer_states"] = list(states)
        if changed:
            self.show_evaluated(False)

    def on_train_end(self) -> None:
        super().on_train_end()
        self.show_evaluated(True)

    def on_train_start(self) -> None:
        """Refuse a checkpoint whose schedule ends before this run does."""
        super().on_train_start()
        self.show_evaluated(False)  # a resumed run begins with those of the checkpoint
        for config in self.trainer.lr_scheduler_configs:
            filled = self._filled.get(config.scheduler, TOTAL_STEPS)
            planned, steps = getattr(config.scheduler, filled, None), self.trainer.estimated_stepping_batches
            if planned is not None and planned < steps:
                path = os.path.relpath(self.trainer.ckpt_path or "PATH")
                raise ConfigError(
                    f"ckpt_path: the learning rate of that run was planned for {some(planned, 'step')} and ends "
                    f"there; this run takes {steps:,}. To finish that run, leave trainer.max_epochs and "
                    f"data.loader.batch_size as they were. To train it further, use start_from={path} in place of "
                    "ckpt_path: trainer.max_epochs then counts from there, with a learning rate of its own, e.g. "
                    "optimizer.lr=1e-4"
                )


class BatchSteps(_ManualOptimization):
    """Lightning's loop of manual optimisation, in which a batch is one step, however many optimisers it moves."""

    def __init__(self, trainer: Any, task: Optimizing) -> None:
        super().__init__(trainer)
        self._task = task

    def on_run_start(self) -> None:
        """Do not count the steps of the optimisers: `on_run_end` counts batches."""

    def on_run_end(self) -> dict[str, Any]:
        loop = self.trainer.fit_loop.epoch_loop
        if not loop._should_accumulate():
            self.optim_step_progress.increment_ready()
            self.optim_step_progress.increment_completed()
            self._task.step_schedules("step")
        if loop._num_ready_batches_reached():
            self._task.step_schedules("epoch")
        return super().on_run_end()


def rates_of(parts: Iterable[Pretrained]) -> list[tuple[list[nn.Parameter], float]]:
    """The parameters and the rate of each pretrained part that will be trained."""
    return [([*part.parameters()], part.learning_rate) for part in parts if part.finetune_from is not None]


def parameter_groups(
    parameters: Iterable[nn.Parameter], parts: Iterable[tuple[list[nn.Parameter], float]]
) -> list[Any]:
    """Groups of `parameters` for an optimiser: one for all with the common rate, then one for each of the `parts`,
    parameters with a rate of their own, that is among them.

    Groups of frozen parts exist from the first epoch on, so that a run can be resumed in any epoch. An optimiser
    ignores parameters without a gradient.
    """
    parameters = list(parameters)
    given = set(map(id, parameters))
    apart = [(part, rate) for part, rate in parts if given.issuperset(map(id, part))]
    if not apart:
        return parameters
    own = {id(parameter) for part, _ in apart for parameter in part}
    return [
        {"params": [parameter for parameter in parameters if id(parameter) not in own]},
        *({"params": part, "lr": rate, OWN_RATE: True} for part, rate in apart),
    ]
