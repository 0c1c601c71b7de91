"""From the configuration to the parts of a run: checked first, then instantiated, nothing touched on disk."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import types
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.utils import get_class, instantiate
from lightning import Callback, Trainer
from lightning.pytorch.loggers import Logger, WandbLogger
from omegaconf import DictConfig, OmegaConf

from zoo.data.prepared import PreparedData
from zoo.errors import ConfigError
from zoo.run.catalogue import conf_dir, data_for, models_for
from zoo.run.checkpoint import AtomicCheckpointIO
from zoo.run.precision import whole_precision
from zoo.run.schema import TrainConfig, register
from zoo.tasks import Task
from zoo.tasks.task import TOTAL_STEPS

GENERATION = ("objective", "decoding", "regularizer")
"""Groups that a task says it takes, or takes none of."""
KEYS = [*(field.name for field in dataclasses.fields(TrainConfig)), "hydra"]


@dataclass(frozen=True)
class Parts:
    """What one run is made of."""

    task: Task
    data: PreparedData[Any]
    trainer: Trainer


def compose(overrides: list[str]) -> DictConfig:
    """The configuration that `python train.py <overrides>` runs, for use in code and in tests."""
    from zoo.run.launch import register_resolvers

    register()
    register_resolvers()
    with initialize_config_dir(version_base="1.3", config_dir=str(conf_dir())):
        return hydra_compose("train", overrides=overrides, return_hydra_config=True)


def build(cfg: DictConfig) -> Parts:
    """Checks `cfg` and builds the data module, the task and the trainer."""
    check(cfg)
    whole = whole_precision(cfg.trainer.get("precision"))
    data: PreparedData[Any] = instantiate(cfg.data, _convert_="all")
    task: Task = instantiate(
        plain(cfg.task) | {"_recursive_": False},
        model=plain(cfg.model),
        optimizer=plain(cfg.optimizer),
        scheduler=plain(cfg.scheduler) or None,
        compile=cfg.compile,
        **{group: plain(cfg[group]) for group in GENERATION if cfg[group]},
        _convert_="all",
    )
    trainer: Trainer = instantiate(
        cfg.trainer,
        **({"precision": None} if whole else {}),
        callbacks=_values(cfg.callbacks, Callback),
        logger=_values(cfg.logger, Logger),
        plugins=[AtomicCheckpointIO(), *([whole] if whole else [])],
        _convert_="all",
    )
    for logger in trainer.loggers:
        if isinstance(logger, WandbLogger):
            logger._wandb_init.pop("anonymous", None)  # wandb warns of this argument, which Lightning always passes
        logger.log_hyperparams(plain(_without_hydra(cfg)))
    return Parts(task, data, trainer)


def _values(group: DictConfig | None, kind: type) -> list[Any]:
    return [instantiate(node, _convert_="all") for node in (group or {}).values() if node is not None]


def _without_hydra(cfg: DictConfig) -> DictConfig:
    return OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key != "hydra"])


def plain(node: Any) -> dict[str, Any]:
    """A node as plain dicts, lists, strings and numbers, interpolations resolved: what a checkpoint may hold."""
    return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else dict(node or {})  # type: ignore[return-value]


# checking


def check(cfg: DictConfig) -> None:
    """Raises ConfigError for arguments that do not exist or have the wrong type, and for a model and data that do
    not fit."""
    for key in map(str, cfg):
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            raise ConfigError(f"{key}: there is no such key" + (f"; did you mean {near[0]}?" if near else ""))
    check_arguments(cfg.model, "model", given=("spec",))
    check_arguments(cfg.data, "data")
    _check_generation(cfg)
    check_arguments(cfg.task, "task", given=("model", "optimizer", "scheduler", "compile", *GENERATION))
    check_arguments(cfg.optimizer, "optimizer", given=("params",))
    if cfg.scheduler:
        filled = [name for name, value in cfg.scheduler.scheduler.items() if value == TOTAL_STEPS]
        shape = OmegaConf.masked_copy(cfg.scheduler.scheduler, [n for n in cfg.scheduler.scheduler if n not in filled])
        check_arguments(shape, "scheduler.scheduler", given=("optimizer", *filled))
    for group in ("callbacks", "logger"):
        for name, node in (cfg[group] or {}).items():
            if node is not None:
                check_arguments(node, f"{group}.{name}")
    model, data = get_class(cfg.model._target_), get_class(cfg.data._target_)
    if data.task not in model.tasks:  # type: ignore[attr-defined]
        raise ConfigError(
            f"{model.__name__} and {data.__name__} do not fit: the data is for {data.task}, "  # type: ignore[attr-defined]
            f"the model serves {', '.join(model.tasks)}. "  # type: ignore[attr-defined]
            f"For this data: model={','.join(models_for(data.task)) or '(none yet)'}. "  # type: ignore[attr-defined]
            f"For this model: data={','.join(data_for(model.tasks)) or '(none yet)'}."  # type: ignore[attr-defined]
        )
    get_class(cfg.task._target_).check(cfg, model)  # type: ignore[attr-defined]


def _check_generation(cfg: DictConfig) -> None:
    """Raises ConfigError where an objective, a decoding or a regulariser is wrong, missing, or of no use to the
    task."""
    task: type[Task] = get_class(cfg.task._target_)
    for group in GENERATION:
        if cfg[group] and group not in task.groups:
            raise ConfigError(f"{group}: the data is for {task.name}, which takes none; leave {group}=... out")
    for group in ("objective", "decoding"):
        if group in task.groups:
            check_arguments(cfg[group], group)
    for name, node in (cfg.regularizer or {}).items():
        if node is not None:
            check_arguments(node, f"regularizer.{name}")


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
        hints = get_type_hints(cls.__init__)  # type: ignore[misc]
    for name in node:
        if name in ("_target_", "_convert_", "_recursive_"):
            continue
        if name not in parameters:
            near = difflib.get_close_matches(str(name), parameters, n=1)
            hint = f"did you mean {key}.{near[0]}?" if near else f"it takes {', '.join(set(parameters) - set(given))}"
            raise ConfigError(f"{key}.{name}: {cls.__name__} has no such argument; {hint}")
        if OmegaConf.is_missing(node, name):
            raise ConfigError(f"{key}.{name} has no value yet: give {key}.{name}=...")
        if OmegaConf.is_interpolation(node, name):
            continue  # to a key that is checked itself, or to the run's folder
        value = node[name]
        if name in hints and not fits(value, hints[name]):
            raise ConfigError(f"{key}.{name}={value}: expected {_say(hints[name])}, found {type(value).__name__}")
    missing = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and name not in node and name not in given
    ]
    if missing:
        raise ConfigError(f"{key}.{missing[0]}: {cls.__name__} needs it, but the configuration does not give it")


def fits(value: Any, hint: Any) -> bool:
    """Whether a configuration value can be an argument annotated `hint`; a group of keys may become anything."""
    if get_origin(hint) in (Union, types.UnionType):
        return any(fits(value, option) for option in get_args(hint))
    if hint is type(None):
        return value is None
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint in (bool, str):
        return isinstance(value, hint)
    kind = get_origin(hint) or hint
    return OmegaConf.is_config(value) or not isinstance(kind, type) or isinstance(value, kind)


def _say(hint: Any) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "text", type(None): "null"}
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(_say(option) for option in get_args(hint))
    return names.get(hint, getattr(hint, "__name__", str(hint)))
