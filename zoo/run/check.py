"""Checks a configuration before anything is built or prepared: keys and values here, what fits together in `fit`."""

import inspect
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, Literal, get_type_hints

import torch
from omegaconf import DictConfig, OmegaConf

from zoo.arguments import Count
from zoo.errors import ConfigError, did_you_mean
from zoo.layers.pretrained import not_pretrained
from zoo.run import fit
from zoo.run.arguments import check_arguments, check_target, class_of, is_built, make, plain_value
from zoo.run.build import whole_precision
from zoo.run.catalogue import has_group
from zoo.run.compose import TrainConfig, plain
from zoo.signature import signature
from zoo.tasks import Task
from zoo.tasks.task import TOTAL_STEPS
from zoo.values import below_key, hold
from zoo.visualize.view import view_of

TIMING = {
    "interval": Literal["step", "epoch"],
    "frequency": Count,
    "monitor": str,
    "strict": bool,
    "reduce_on_plateau": bool,
    "name": str,
}
"""Lightning's keys next to a scheduler: when it steps, and which metric it reads."""
MANY = 10**6  # The steps of a run before their number is known


def check(cfg: DictConfig) -> None:
    """Raise ConfigError for keys that do not exist, values of the wrong type or size, and parts that do not fit."""
    if not cfg.task or "_target_" not in cfg.task:
        raise ConfigError("task has no _target_, the class to build; remove task=..., or set task=NAME")
    task = class_of(cfg.task, "task")
    for name in ("name", "headline", "monitors"):
        fit.declared_by(task, name)
    view_of(task)  # an error here costs less than one at the first picture
    _check_root(cfg, task)
    groups = tuple(group for group in task.groups if cfg.get(group))
    schedule = _schedule(cfg)
    check_arguments(cfg.model, "model", given=("spec",))
    with not_pretrained() if cfg.ckpt_path or cfg.start_from else nullcontext():
        for key, node in _built_inside(cfg.model, "model"):
            _check_part(node, key)
    check_arguments(cfg.data, "data")
    check_arguments(cfg.task, "task", given=("model", "optimizer", "scheduler", "compile", *groups))
    check_arguments(cfg.optimizer, "optimizer", given=("params",))
    if schedule is not None:
        check_arguments(schedule, "scheduler.scheduler", given=("optimizer",))
    for group in (*groups, "callbacks", "logger"):
        for key, node in fit.parts_of(cfg[group], group):
            if group in groups and _is_optimizer(node, key):
                check_arguments(node, key, given=("params",), like="optimizer")
            else:
                check_arguments(node, key)
    check_arguments(cfg.trainer, "trainer", given=("callbacks", "logger", "plugins"))
    fit.check_monitors(cfg, task)
    fit.check_model_and_data(cfg, task)
    task.check(cfg, class_of(cfg.model, "model"))
    fit.check_averages(cfg)
    fit.check_size_of_model(cfg)
    fit.check_parts_of_model(cfg)
    fit.check_size_of_sample(cfg)
    _try_out(cfg, groups, schedule)


def _check_root(cfg: DictConfig, task: type[Task]) -> None:
    hints = get_type_hints(TrainConfig, include_extras=True)
    known = [*hints, *task.groups, "hydra"]
    for key in [str(key) for key in cfg if key not in known]:
        if has_group(key):
            raise ConfigError(f"{key}: {task.name}, the task of these data, does not use this group; remove {key}=...")
        raise ConfigError(f"{key}: unknown key; {did_you_mean(key, known)}")
    for name, hint in hints.items():
        if hint is not Any:
            hold(name, plain_value(cfg[name]), hint)
    for name in ("trainer", "optimizer", "model", "data"):
        check_target(cfg.get(name), name)


def _built_inside(node: Any, key: str) -> Iterator[tuple[str, Any]]:
    """The nodes inside a node that are built themselves, at any depth, with their keys."""
    for name in map(str, node):
        below = None if OmegaConf.is_missing(node, name) else node[name]
        if OmegaConf.is_dict(below):
            if is_built(below):
                yield f"{key}.{name}", below
            yield from _built_inside(below, f"{key}.{name}")


def _check_part(node: Any, key: str) -> None:
    """Raise ConfigError unless a part of a network fits its class.

    The network passes the positional arguments, such as the spec. The part's class method `check` may refuse arguments
    that its signature allows.
    """
    cls = class_of(node, key)
    parameters = signature(cls).parameters.values()
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    check_arguments(node, key, given=tuple(one.name for one in parameters if one.kind in by_position))
    if refuses := getattr(cls, "check", None):
        try:
            refuses({name: value for name, value in plain(node).items() if name != "_target_"})
        except ConfigError as error:
            raise ConfigError(below_key(key, str(error))) from error


def _schedule(cfg: DictConfig) -> DictConfig | None:
    """The scheduler's node with a number of steps filled in; None for a constant rate."""
    if not cfg.scheduler:
        return None
    known = ["scheduler", *TIMING]
    for key in [str(key) for key in cfg.scheduler if key not in known]:
        raise ConfigError(f"scheduler.{key}: unknown key; {did_you_mean(key, known, 'scheduler.')}")
    for key, hint in TIMING.items():
        if key in cfg.scheduler:
            hold(f"scheduler.{key}", cfg.scheduler[key], hint)
    shape = plain(cfg.scheduler.scheduler)
    epochs, steps, time = (cfg.trainer[f"max_{name}"] for name in ("epochs", "steps", "time"))
    endless = steps == -1 and (epochs == -1 or (epochs is None and time is not None))
    if TOTAL_STEPS in shape.values() and endless:
        raise ConfigError(
            "scheduler: the learning rate falls until the last step, but this run has no last step; "
            "add trainer.max_epochs=N or trainer.max_steps=N, or use scheduler=none"
        )
    return OmegaConf.create({key: MANY if value == TOTAL_STEPS else value for key, value in shape.items()})


def _try_out(cfg: DictConfig, groups: tuple[str, ...], schedule: DictConfig | None) -> None:
    """Build the parts that a run builds after its data are prepared, only to see whether they raise an error.

    A constructor can refuse more than an annotation, e.g. more hypotheses than the beam holds.
    """
    whole_precision(cfg.trainer.precision)

    def parameters() -> list[torch.nn.Parameter]:
        return [torch.nn.Parameter(torch.zeros(1, 1))]

    for group in groups:
        for key, node in fit.parts_of(cfg[group], group):
            make(node, key, **({"params": parameters()} if _is_optimizer(node, key) else {}))
    optimizer = make(cfg.optimizer, "optimizer", params=parameters())
    if schedule is not None:
        make(schedule, "scheduler.scheduler", optimizer=optimizer)


def _is_optimizer(node: Any, key: str) -> bool:
    return is_built(node) and issubclass(class_of(node, key), torch.optim.Optimizer)
