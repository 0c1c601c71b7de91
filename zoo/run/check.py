"""A configuration held against what it configures, before anything is built or prepared."""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
from contextlib import suppress
from typing import Any, get_args, get_type_hints

import torch
from hydra.utils import get_class
from omegaconf import DictConfig, OmegaConf
from pydantic import ConfigDict, TypeAdapter, ValidationError

from zoo.data.options import Options
from zoo.errors import ConfigError, did_you_mean
from zoo.run.catalogue import data_for, models_for
from zoo.run.compose import TrainConfig, plain
from zoo.tasks import Task
from zoo.tasks.task import TOTAL_STEPS

LARGEST_SEED = 2**32 - 1
STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)
EXPECTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "none_required": "null",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a group of keys",
    "literal_error": "{expected}",
    "greater_than_equal": "{ge:g} or more",
    "greater_than": "more than {gt:g}",
    "less_than_equal": "{le:g} or less",
    "less_than": "less than {lt:g}",
}
"""What to say of pydantic's kinds of error."""


def check(cfg: DictConfig) -> None:
    """Raises ConfigError for keys that do not exist, values of the wrong type or size, and parts that do not fit."""
    task = _task(cfg)
    _check_root(cfg, task)
    check_arguments(cfg.model, "model", given=("spec",))
    check_arguments(cfg.data, "data")
    groups = tuple(group for group in task.groups if cfg.get(group))
    for group in groups:
        _check_group(cfg[group], group)
    check_arguments(cfg.task, "task", given=("model", "optimizer", "scheduler", "compile", *groups))
    check_arguments(cfg.optimizer, "optimizer", given=("params",))
    if cfg.scheduler:
        filled = [name for name, value in cfg.scheduler.scheduler.items() if value == TOTAL_STEPS]
        shape = OmegaConf.masked_copy(cfg.scheduler.scheduler, [n for n in cfg.scheduler.scheduler if n not in filled])
        check_arguments(shape, "scheduler.scheduler", given=("optimizer", *filled))
    for group in ("callbacks", "logger"):
        for name, node in (cfg[group] or {}).items():
            if node is not None:
                check_arguments(node, f"{group}.{name}")
    check_arguments(cfg.trainer, "trainer", given=("callbacks", "logger", "plugins"))
    _check_monitor(cfg, task)
    _check_model_and_data(cfg, task)
    task.check(cfg, get_class(cfg.model._target_))


def _task(cfg: DictConfig) -> type[Task]:
    if not cfg.task or "_target_" not in cfg.task:
        raise ConfigError("task has no _target_: it names nothing to build; the data pick one, or task=NAME")
    return get_class(cfg.task._target_)


def _check_root(cfg: DictConfig, task: type[Task]) -> None:
    known = {field.name for field in dataclasses.fields(TrainConfig)}
    for key in [str(key) for key in cfg]:
        if key not in known and key not in task.groups and key != "hydra":
            raise ConfigError(f"{key}: there is no such key; {did_you_mean(key, known)}")
    for name, hint in get_type_hints(TrainConfig).items():
        if hint is not Any:
            _check_value(name, cfg[name], hint)
    if not 0 <= cfg.seed <= LARGEST_SEED:
        raise ConfigError(f"seed={cfg.seed}: expected a whole number from 0 to {LARGEST_SEED}")
    for group in ("objective", "decoding", "regularizer"):
        if cfg[group] and group not in task.groups:
            raise ConfigError(f"{group}: the data is for {task.name}, which takes none; leave {group}=... out")


def _check_group(node: DictConfig, key: str) -> None:
    """A group of a task's own: one thing to build, or several by name."""
    if "_target_" in node:
        return check_arguments(node, key)
    for name in map(str, node):
        if node[name] is not None:
            check_arguments(node[name], f"{key}.{name}")
    return None


def _check_monitor(cfg: DictConfig, task: type[Task]) -> None:
    monitor, modes = str(cfg.task.monitor), {f"val/{name}": mode for name, mode in task.monitors.items()}
    if monitor not in modes:
        raise ConfigError(f"task.monitor={monitor}: {task.name} has no such metric; {did_you_mean(monitor, modes)}")
    if cfg.task.mode != modes[monitor]:
        raise ConfigError(
            f"task.mode={cfg.task.mode}: of {monitor} the {modes[monitor]} is best; leave task.mode out, it follows "
            "from task.monitor"
        )


def _check_model_and_data(cfg: DictConfig, task: type[Task]) -> None:
    model: Any = get_class(cfg.model._target_)
    data: Any = get_class(cfg.data._target_)
    if data.task not in model.tasks:
        raise ConfigError(
            f"{model.__name__} and {data.__name__} do not fit: the data is for {data.task}, "
            f"the model serves {', '.join(model.tasks)}. "
            f"For this data: model={','.join(models_for(data.task)) or '(none yet)'}. "
            f"For this model: data={','.join(data_for(model.tasks)) or '(none yet)'}."
        )
    if data.task != task.name:
        raise ConfigError(
            f"task={task.name} and {data.__name__} do not fit: the data is for {data.task}; leave task=... out, the "
            "data pick theirs"
        )


def check_machine(cfg: DictConfig) -> None:
    """Raises ConfigError where a GPU is asked for that is not there, or wandb without a key."""
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


def check_arguments(node: Any, key: str, given: tuple[str, ...] = ()) -> None:
    """Holds the keys and values of `node` against the signature of its `_target_`; `given` are passed by the code."""
    if not node or "_target_" not in node:
        raise ConfigError(f"{key} has no _target_: it names nothing to build; choose one with {key.split('.')[0]}=NAME")
    cls = get_class(node["_target_"])
    parameters = inspect.signature(cls).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    hints: dict[str, Any] = {}
    with suppress(NameError):  # torch imports some names of its annotations for type checkers alone (MultiStepLR)
        hints = get_type_hints(cls.__init__, include_extras=True)  # type: ignore[misc]
    for name in map(str, node):
        if name in ("_target_", "_convert_", "_recursive_"):
            continue
        if name not in parameters:
            takes = [parameter for parameter in parameters if parameter not in given]
            hint = did_you_mean(name, takes, f"{key}.")
            raise ConfigError(f"{key}.{name}: {cls.__name__} has no such argument; {hint}")
        if OmegaConf.is_missing(node, name):
            raise ConfigError(f"{key}.{name} has no value yet: give {key}.{name}=...")
        if OmegaConf.is_interpolation(node, name):
            continue  # to a key that is checked itself, or to the run's folder
        if name in hints:
            _check_value(f"{key}.{name}", node[name], hints[name])
            _check_options(node[name], hints[name])
    missing = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and name not in node and name not in given
    ]
    if missing:
        raise ConfigError(f"{key}.{missing[0]}: {cls.__name__} needs it, but the configuration does not give it")


def _check_options(value: Any, hint: Any) -> None:
    """Raises ConfigError unless the keys of a group of options are such of its class, and their values fit."""
    for option in get_args(hint):
        if isinstance(option, type) and issubclass(option, Options):
            option.of(plain(value) if OmegaConf.is_config(value) else value)


def _check_value(key: str, value: Any, hint: Any) -> None:
    """Raises ConfigError unless `value` can be an argument annotated `hint`; a group that is built may become
    anything."""
    if OmegaConf.is_config(value):
        if OmegaConf.is_dict(value) and "_target_" in value:
            return
        value = OmegaConf.to_container(value, resolve=True)
    try:
        # as JSON a list may become a tuple, and yet "2" no number and true no 1
        TypeAdapter(hint, config=STRICT).validate_json(json.dumps(value))
    except ValidationError as error:
        raise ConfigError(f"{key}={value}: {_expected(error, hint)}, found {type(value).__name__}") from None


def _expected(error: ValidationError, hint: Any) -> str:
    said = []
    for detail in error.errors(include_url=False):
        if detail["type"] != "needs_python_object":  # a class, which no value of a file can be
            phrase = EXPECTED.get(detail["type"])
            said.append(phrase.format(**detail.get("ctx", {})) if phrase else detail["msg"].lower())
    return "expected " + (" or ".join(dict.fromkeys(said)) or getattr(hint, "__name__", str(hint)))
