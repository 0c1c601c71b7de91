"""Checks whether the parts of a configuration fit together, before anything is built or prepared."""

from __future__ import annotations

import inspect
import os
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from omegaconf import DictConfig, OmegaConf

from zoo.arguments import Count
from zoo.dotted import name_of
from zoo.errors import ConfigError, did_you_mean
from zoo.memory import size_of
from zoo.run.arguments import check_arguments, check_target, class_of, is_built, plain_value
from zoo.run.catalogue import data_for, has_group, models_for
from zoo.run.compose import TrainConfig, plain
from zoo.signature import signature
from zoo.values import hold, said_below
from zoo.visualize.view import view_of

if TYPE_CHECKING:
    from zoo.tasks import Task

TIMING = {
    "interval": Literal["step", "epoch"],
    "frequency": Count,
    "monitor": str,
    "strict": bool,
    "reduce_on_plateau": bool,
    "name": str,
}
"""Lightning's keys beside a scheduler: when it steps, and by which metric."""
SMALLEST_EXAMPLE = 250
"""Bytes of a generated example, at least."""
MANY = 10**6
"""Steps of a run, while their number is not known."""


def check(cfg: DictConfig) -> None:
    """Raise ConfigError for keys that do not exist, values of the wrong type or size, and parts that do not fit."""
    task = _task(cfg)
    _check_root(cfg, task)
    groups = tuple(group for group in task.groups if cfg.get(group))
    schedule = _schedule(cfg)
    check_arguments(cfg.model, "model", given=("spec",))
    _check_parts_of_the_model(cfg)
    check_arguments(cfg.data, "data")
    check_arguments(cfg.task, "task", given=("model", "optimizer", "scheduler", "compile", *groups))
    check_arguments(cfg.optimizer, "optimizer", given=("params",))
    if schedule is not None:
        check_arguments(schedule, "scheduler.scheduler", given=("optimizer",))
    for group in (*groups, "callbacks", "logger"):
        for key, node in _parts(cfg[group], group):
            check_arguments(node, key, given=("params",) if group in groups and _is_optimizer(node, key) else ())
    check_arguments(cfg.trainer, "trainer", given=("callbacks", "logger", "plugins"))
    _check_monitors(cfg, task)
    _check_model_and_data(cfg, task)
    task.check(cfg, class_of(cfg.model, "model"))
    _check_size_of_the_model(cfg)
    _check_size_of_the_sample(cfg)
    _try_out(cfg, groups, schedule)


def _task(cfg: DictConfig) -> type[Task]:
    if not cfg.task or "_target_" not in cfg.task:
        raise ConfigError("task has no _target_: it names nothing to build; the data pick one, or task=NAME")
    task = class_of(cfg.task, "task")
    for name in ("name", "headline", "monitors"):
        _said(task, name)
    view_of(task)  # else it is missed when the first picture is drawn
    return task


def _said(cls: Any, name: str) -> Any:
    """Return a class attribute that must be given. Raises ConfigError where it is missing."""
    if not hasattr(cls, name):
        raise ConfigError(f"{name_of(cls)} does not say its `{name}`; give it as a class attribute")
    return getattr(cls, name)


def _check_root(cfg: DictConfig, task: type[Task]) -> None:
    hints = get_type_hints(TrainConfig, include_extras=True)
    known = [*hints, *task.groups, "hydra"]
    for key in [str(key) for key in cfg if key not in known]:
        if has_group(key):
            raise ConfigError(f"{key}: the data is for {task.name}, which takes none; leave {key}=... out")
        raise ConfigError(f"{key}: there is no such key; {did_you_mean(key, known)}")
    for name, hint in hints.items():
        if hint is not Any:
            hold(name, plain_value(cfg[name]), hint)
    for name in ("trainer", "optimizer", "model", "data"):
        check_target(cfg.get(name), name)


def _check_parts_of_the_model(cfg: DictConfig) -> None:
    from zoo.layers.pretrained import not_pretrained

    with not_pretrained() if cfg.ckpt_path or cfg.start_from else nullcontext():
        for key, node in _built_inside(cfg.model, "model"):
            _check_part(node, key)


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

    The network gives it the arguments by position, such as the spec. A class method `check` of the arguments refuses
    what the signature allows.
    """
    cls = class_of(node, key)
    parameters = signature(cls).parameters.values()
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    check_arguments(node, key, given=tuple(one.name for one in parameters if one.kind in by_position))
    if refuses := getattr(cls, "check", None):
        try:
            refuses({name: value for name, value in plain(node).items() if name != "_target_"})
        except ConfigError as error:
            raise ConfigError(said_below(key, str(error))) from error


def _schedule(cfg: DictConfig) -> DictConfig | None:
    """The scheduler's node with a number of steps filled in; None for a constant rate."""
    from zoo.tasks.task import TOTAL_STEPS

    if not cfg.scheduler:
        return None
    known = ["scheduler", *TIMING]
    for key in [str(key) for key in cfg.scheduler if key not in known]:
        raise ConfigError(f"scheduler.{key}: there is no such key; {did_you_mean(key, known, 'scheduler.')}")
    for key, hint in TIMING.items():
        if key in cfg.scheduler:
            hold(f"scheduler.{key}", cfg.scheduler[key], hint)
    told = plain(cfg.scheduler.scheduler)
    if TOTAL_STEPS in told.values() and _endless(cfg.trainer):
        raise ConfigError(
            "scheduler: its rate comes down by the last step, and this run has none: give trainer.max_epochs=N or "
            "trainer.max_steps=N beside what else ends it, or scheduler=none"
        )
    return OmegaConf.create({key: MANY if value == TOTAL_STEPS else value for key, value in told.items()})


def _endless(trainer: DictConfig) -> bool:
    """Whether the number of steps of a run cannot be known."""
    epochs = trainer.max_epochs
    return trainer.max_steps == -1 and (epochs == -1 or (epochs is None and trainer.max_time is not None))


def _parts(node: DictConfig | None, key: str) -> Iterator[tuple[str, Any]]:
    """The nodes that a group builds, one or several by name, with their keys."""
    if isinstance(node, DictConfig) and "_target_" not in node:
        yield from ((f"{key}.{name!s}", part) for name, part in node.items() if part is not None)
    elif node:
        yield key, node


def _check_monitors(cfg: DictConfig, task: type[Task]) -> None:
    """Raise ConfigError unless task and callbacks choose by metrics of the validation, in the right direction."""
    modes = {f"val/{name}": mode for name, mode in task.monitors.items()}
    for key, node in [("task", cfg.task), *_parts(cfg.callbacks, "callbacks")]:
        monitor, mode = str(node.get("monitor", "")), node.get("mode")
        chooses = key in ("task", "callbacks.best")  # the weights to keep, when they are validated
        if "monitor" not in node or (monitor.startswith("train/") and not chooses):
            continue
        if monitor not in modes:
            hint = did_you_mean(monitor, modes)
            raise ConfigError(f"{key}.monitor={monitor}: {task.name} has no such metric; {hint}")
        if mode is not None and mode != modes[monitor]:
            raise ConfigError(
                f"{key}.mode={mode}: of {monitor} the {modes[monitor]} is best; leave {key}.mode out, it follows from "
                "task.monitor"
            )


def _check_model_and_data(cfg: DictConfig, task: type[Task]) -> None:
    model: Any = class_of(cfg.model, "model")
    data: Any = class_of(cfg.data, "data")
    _said(model, "attends")
    both = [task for task in _said(data, "tasks") if task in _said(model, "tasks")]
    if not both:
        raise ConfigError(
            f"{model.__name__} and {data.__name__} do not fit: the data is for {', '.join(data.tasks)}, "
            f"the model serves {', '.join(model.tasks)}. "
            f"For this data: model={','.join(models_for(data.tasks)) or '(none yet)'}. "
            f"For this model: data={','.join(data_for(model.tasks)) or '(none yet)'}."
        )
    check_data_and_task(data, task)
    if task.name not in both:
        raise ConfigError(
            f"{model.__name__} does not serve task={task.name}, which these data are for as well: "
            f"use {' or '.join(f'task={one}' for one in both)}"
        )
    if getattr(model, "carries", False) and not data.continues:
        raise ConfigError(
            f"{model.__name__} carries a state from batch to batch, and the batches of {data.__name__} do not continue "
            "each other: use data that are a stream, or another model"
        )
    if refuses := getattr(data, "check_model", None):
        refuses(plain(cfg.data), model)


def _check_size_of_the_model(cfg: DictConfig) -> None:
    """Raise ConfigError for a network that is too large on the smallest data, before any are prepared."""
    from zoo.data.spec import Spec
    from zoo.tasks.size import check_size, smallest_spec

    cls = class_of(cfg.model, "model")
    kind = next((one.annotation for one in signature(cls).parameters.values()), None)
    if isinstance(kind, type) and issubclass(kind, Spec):
        check_size(plain(cfg.model), smallest_spec(kind))


def _check_size_of_the_sample(cfg: DictConfig) -> None:
    """Raise ConfigError for more generated examples than the disk has room for; those of a stream are never stored."""
    from zoo.data.cache import cache_root
    from zoo.data.streams import StreamData

    asked = plain(cfg.data.get("sample"))
    counts = {name: count for name, count in asked.items() if name in ("train", "val", "test") and count}
    if not counts or issubclass(class_of(cfg.data, "data"), StreamData):
        return
    root = cache_root(cfg.data.get("loader", {}).get("cache_dir")).absolute()
    needed, split = SMALLEST_EXAMPLE * sum(counts.values()), max(counts, key=counts.__getitem__)
    free = shutil.disk_usage(next(path for path in (root, *root.parents) if path.exists())).free
    if needed > free:
        raise ConfigError(
            f"data.sample.{split}={counts[split]}: {sum(counts.values()):,} generated examples take at least "
            f"{size_of(needed)}, and {root} has {size_of(free)} free; choose fewer"
        )


def check_data_and_task(data: Any, task: type[Task]) -> None:
    """Raise ConfigError where data, or their class, are for other tasks."""
    if task.name not in _said(data, "tasks"):
        name = data.__name__ if isinstance(data, type) else type(data).__name__
        raise ConfigError(
            f"task={task.name} and {name} do not fit: the data is for {', '.join(data.tasks)}; leave task=... out, the "
            "data pick theirs"
        )


def _try_out(cfg: DictConfig, groups: tuple[str, ...], schedule: DictConfig | None) -> None:
    """Build the parts that a run builds after its data are prepared, only to see whether they refuse.

    A constructor can refuse more than an annotation, e.g. more hypotheses than the beam holds.
    """
    import torch

    from zoo.run.make import make
    from zoo.run.precision import whole_precision

    whole_precision(cfg.trainer.precision)

    def parameters() -> list[torch.nn.Parameter]:
        return [torch.nn.Parameter(torch.zeros(1, 1))]

    for group in groups:
        for key, node in _parts(cfg[group], group):
            make(node, key, **({"params": parameters()} if _is_optimizer(node, key) else {}))
    optimizer = make(cfg.optimizer, "optimizer", params=parameters())
    if schedule is not None:
        make(schedule, "scheduler.scheduler", optimizer=optimizer)


def _is_optimizer(node: Any, key: str) -> bool:
    """Whether a group of a task is another optimiser, which gets its parameters from the task."""
    from torch.optim import Optimizer

    return OmegaConf.is_dict(node) and "_target_" in node and issubclass(class_of(node, key), Optimizer)


def check_machine(cfg: DictConfig) -> None:
    """Raise ConfigError where a GPU is asked for that is not there, or wandb without a key."""
    import torch

    if cfg.trainer.accelerator in ("gpu", "cuda") and not (
        torch.cuda.is_available() or torch.backends.mps.is_available()
    ):
        raise ConfigError(
            f"trainer.accelerator={cfg.trainer.accelerator}: torch finds no GPU here; trainer=cpu runs without one"
        )
    for name, node in (cfg.logger or {}).items():
        if node is not None and node._target_.endswith(".WandbLogger") and not (node.get("offline") or _wandb_ready()):
            raise ConfigError(
                f"logger={name}: wandb has no key here; run `wandb login` once, or give logger.{name}.offline=true"
            )


def _wandb_ready() -> bool:
    """Whether wandb has a key, or needs none."""
    if os.environ.get("WANDB_MODE") in ("offline", "disabled", "dryrun") or os.environ.get("WANDB_API_KEY"):
        return True
    import wandb

    return wandb.login(prompt=False, verify=False)
