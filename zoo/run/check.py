"""A configuration held against what it configures, before anything is built or prepared."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

from annotated_types import Ge
from omegaconf import DictConfig, OmegaConf

from zoo.arguments import Count, Natural, NonNegative, Positive
from zoo.data.options import Options
from zoo.dotted import class_at, name_of
from zoo.errors import CheckpointError, ConfigError, did_you_mean
from zoo.run.catalogue import choices, data_for, has_group, models_for
from zoo.run.compose import TrainConfig, plain
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
"""What Lightning takes beside a scheduler: when it steps, and by which metric."""
LATE: dict[str, Any] = {
    "trainer.accumulate_grad_batches": Count,
    "trainer.check_val_every_n_epoch": Count | None,
    "trainer.gradient_clip_val": NonNegative | None,
    "trainer.log_every_n_steps": Natural | None,
    "trainer.min_epochs": Natural | None,
    "trainer.min_steps": Natural | None,
    "trainer.num_sanity_val_steps": Annotated[int, Ge(-1)] | None,
    "trainer.val_check_interval": Positive | dict[str, int] | str | None,
    "callbacks.early_stopping.patience": Natural,
    "scheduler.scheduler.step_size": Count,
    "scheduler.scheduler.T_max": Count,
}
"""Bounds that Lightning finds crossed late in a run, or never."""
MANY = 10**6
"""Stands for the steps of a run while nobody knows how many they will be."""


def check(cfg: DictConfig) -> None:
    """Raises ConfigError for keys that do not exist, values of the wrong type or size, and parts that do not fit."""
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
            check_arguments(node, key)
    check_arguments(cfg.trainer, "trainer", given=("callbacks", "logger", "plugins"))
    _check_monitors(cfg, task)
    _check_model_and_data(cfg, task)
    task.check(cfg, _class(cfg.model, "model"))
    _try_out(cfg, groups, schedule)


def _task(cfg: DictConfig) -> type[Task]:
    if not cfg.task or "_target_" not in cfg.task:
        raise ConfigError("task has no _target_: it names nothing to build; the data pick one, or task=NAME")
    task = _class(cfg.task, "task")
    for name in ("name", "headline", "monitors"):
        _said(task, name)
    view_of(task)  # else it is missed when the first picture is drawn
    return task


def _class(node: Any, key: str) -> type[Any]:
    """The class that a group names. Raises ConfigError where it cannot be imported."""
    try:
        return class_at(str(node["_target_"]), object)
    except CheckpointError as error:
        raise ConfigError(
            f"{key}._target_: {error}; a module beside your own configuration needs its --config-dir"
        ) from error


def _said(cls: Any, name: str) -> Any:
    """What a class says of itself. Raises ConfigError where it does not."""
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
            hold(name, _plain(cfg[name]), hint)
    for name in ("trainer", "optimizer", "model", "data"):
        _with_target(cfg.get(name), name)


def _check_parts_of_the_model(cfg: DictConfig) -> None:
    from zoo.layers.pretrained import not_pretrained

    with not_pretrained() if cfg.ckpt_path or cfg.start_from else nullcontext():
        for key, node in _built_inside(cfg.model, "model"):
            _check_part(node, key)


def _built_inside(node: Any, key: str) -> Iterator[tuple[str, Any]]:
    """What is built inside of something that is built, at any depth, with the keys."""
    for name in map(str, node):
        below = None if OmegaConf.is_missing(node, name) else node[name]
        if OmegaConf.is_dict(below):
            if _is_built(below):
                yield f"{key}.{name}", below
            yield from _built_inside(below, f"{key}.{name}")


def _check_part(node: Any, key: str) -> None:
    """Holds a part of a network against its class. What that takes by position the network gives it, such as the spec;
    what it can refuse beyond its signature it says in a class method `check`, of its arguments."""
    cls = _class(node, key)
    parameters = inspect.signature(cls).parameters.values()
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
    """Whether nobody can know how many steps a run will have."""
    epochs = trainer.max_epochs
    return trainer.max_steps == -1 and (epochs == -1 or (epochs is None and trainer.max_time is not None))


def _parts(node: DictConfig | None, key: str) -> Iterator[tuple[str, Any]]:
    """What a group builds, with the keys: one thing, or several by name."""
    if isinstance(node, DictConfig) and "_target_" not in node:
        yield from ((f"{key}.{name!s}", part) for name, part in node.items() if part is not None)
    elif node:
        yield key, node


def _check_monitors(cfg: DictConfig, task: type[Task]) -> None:
    """The task and the callbacks choose by metrics that the validation has, and by the right end of them."""
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
    model: Any = _class(cfg.model, "model")
    data: Any = _class(cfg.data, "data")
    _said(model, "attends")
    if _said(data, "task") not in _said(model, "tasks"):
        raise ConfigError(
            f"{model.__name__} and {data.__name__} do not fit: the data is for {data.task}, "
            f"the model serves {', '.join(model.tasks)}. "
            f"For this data: model={','.join(models_for(data.task)) or '(none yet)'}. "
            f"For this model: data={','.join(data_for(model.tasks)) or '(none yet)'}."
        )
    check_data_and_task(data, task)


def check_data_and_task(data: Any, task: type[Task]) -> None:
    """Raises ConfigError where data, or their class, are for another task."""
    if _said(data, "task") != task.name:
        name = data.__name__ if isinstance(data, type) else type(data).__name__
        raise ConfigError(
            f"task={task.name} and {name} do not fit: the data is for {data.task}; leave task=... out, the data pick "
            "theirs"
        )


def _try_out(cfg: DictConfig, groups: tuple[str, ...], schedule: DictConfig | None) -> None:
    """Builds, for nothing but their refusals, the parts that a run builds when its data are prepared: a constructor
    knows what no annotation can say, such as that a beam holds no more hypotheses than its size."""
    import torch

    from zoo.run.make import make
    from zoo.run.precision import whole_precision

    whole_precision(cfg.trainer.precision)
    for group in groups:
        for key, node in _parts(cfg[group], group):
            make(node, key)
    optimizer = make(cfg.optimizer, "optimizer", params=[torch.nn.Parameter(torch.zeros(1, 1))])
    if schedule is not None:
        make(schedule, "scheduler.scheduler", optimizer=optimizer)


def check_machine(cfg: DictConfig) -> None:
    """Raises ConfigError where a GPU is asked for that is not there, or wandb without a key."""
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


# arguments


def _with_target(node: Any, key: str) -> None:
    if not OmegaConf.is_dict(node) or "_target_" not in node:
        raise ConfigError(f"{key} has no _target_: it names nothing to build; choose one with {key.split('.')[0]}=NAME")


def check_arguments(node: Any, key: str, given: tuple[str, ...] = ()) -> None:
    """Holds the keys and values of `node` against the signature of its `_target_`; `given` are passed by the code."""
    _with_target(node, key)
    cls = _class(node, key)
    parameters = inspect.signature(cls).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    hints = _hints(cls)
    for name in map(str, node):
        if name in ("_target_", "_convert_", "_recursive_"):
            continue
        if name not in parameters and not takes_any:
            takes = [parameter for parameter in parameters if parameter not in given]
            hint = did_you_mean(name, takes, f"{key}.")
            raise ConfigError(f"{key}.{name}: {cls.__name__} has no such argument; {hint}")
        if OmegaConf.is_missing(node, name):
            raise ConfigError(f"{key}.{name} has no value yet: give {key}.{name}=...")
        if OmegaConf.is_interpolation(node, name):
            continue  # to a key that is checked itself, or to the run's folder
        if name in hints and not _is_built(node[name]):
            _check_choice(f"{key}.{name}", node[name])
            _check_options(_plain(node[name]), hints[name])
            hold(f"{key}.{name}", _plain(node[name]), LATE.get(f"{key}.{name}", hints[name]))
    missing = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and name not in node
        and name not in given
    ]
    if missing:
        raise ConfigError(f"{key}.{missing[0]}: {cls.__name__} needs it, but the configuration does not give it")


def _hints(cls: type[Any]) -> dict[str, Any]:
    """The annotations of a constructor's arguments, without those that a library imports for type checkers alone
    (MultiStepLR, WandbLogger)."""
    function, hints = inspect.unwrap(cls.__init__), dict[str, Any]()
    for name, annotation in getattr(function, "__annotations__", {}).items():
        with suppress(NameError):
            one = SimpleNamespace(__annotations__={name: annotation})
            hints |= get_type_hints(one, function.__globals__, include_extras=True)
    return hints


def _plain(value: Any) -> Any:
    """A value without OmegaConf's containers, interpolations resolved."""
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def _is_built(value: Any) -> bool:
    """Whether a value is a group that is built, which may become anything."""
    return OmegaConf.is_dict(value) and "_target_" in value


def _check_choice(key: str, value: Any) -> None:
    """Raises ConfigError where a name stands in place of the group of keys that it chooses."""
    group = key.replace(".", "/")
    if isinstance(value, str) and (names := choices(group)):
        hint = did_you_mean(value, names, f"{group}=")
        raise ConfigError(f"{key}={value}: expected a group of keys, found {value!r}; a name chooses one: {hint}")


def _check_options(value: Any, hint: Any) -> None:
    """Raises ConfigError unless the keys of a group of options are such of its class, and their values fit."""
    for option in get_args(hint):
        if isinstance(option, type) and issubclass(option, Options):
            option.of(value)
