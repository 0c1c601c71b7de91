"""Checks whether the parts of a configuration fit together: metrics, model and data, and sizes."""

import shutil
from collections.abc import Iterator
from typing import Any

import torch
from lightning.pytorch.callbacks import WeightAveraging
from omegaconf import DictConfig
from torch import nn

from zoo.data.batch import Spec
from zoo.data.cache import cache_root
from zoo.data.streams import StreamData
from zoo.dotted import built, name_of
from zoo.errors import ConfigError, did_you_mean
from zoo.layers.pretrained import not_pretrained
from zoo.memory import size_of
from zoo.run.arguments import class_of
from zoo.run.catalogue import data_for, models_for
from zoo.run.compose import plain
from zoo.signature import signature
from zoo.tasks import Task
from zoo.tasks.parts import check_parts
from zoo.tasks.size import check_size, smallest_spec

SMALLEST_EXAMPLE = 250  # Bytes of a generated example, at least


def declared_by(cls: Any, name: str) -> Any:
    """Return a class attribute that must be given. Raises ConfigError where it is missing."""
    if not hasattr(cls, name):
        raise ConfigError(f"{name_of(cls)} has no `{name}`; add it as a class attribute")
    return getattr(cls, name)


def parts_of(node: DictConfig | None, key: str) -> Iterator[tuple[str, Any]]:
    """The nodes that a group builds, one or several by name, with their keys."""
    if isinstance(node, DictConfig) and "_target_" not in node:
        yield from ((f"{key}.{name!s}", part) for name, part in node.items() if part is not None)
    elif node:
        yield key, node


def check_monitors(cfg: DictConfig, task: type[Task]) -> None:
    """Raise ConfigError unless task and callbacks monitor metrics of the validation, in the right direction."""
    modes = {f"val/{name}": mode for name, mode in task.monitors.items()}
    for key, node in [("task", cfg.task), *parts_of(cfg.callbacks, "callbacks")]:
        monitor, mode = str(node.get("monitor", "")), node.get("mode")
        chooses = key in ("task", "callbacks.best")  # chooses the weights to keep, at a validation
        if "monitor" not in node or (monitor.startswith("train/") and not chooses):
            continue
        if monitor not in modes:
            hint = did_you_mean(monitor, modes)
            raise ConfigError(f"{key}.monitor={monitor}: {task.name} has no such metric; {hint}")
        if mode is not None and mode != modes[monitor]:
            raise ConfigError(
                f"{key}.mode={mode}: expected {modes[monitor]} for {monitor}; remove {key}.mode, because task.monitor "
                "sets it"
            )


def check_model_and_data(cfg: DictConfig, task: type[Task]) -> None:
    """Raise ConfigError unless model, data and task fit."""
    model: Any = class_of(cfg.model, "model")
    data: Any = class_of(cfg.data, "data")
    declared_by(model, "attends")
    both = [task for task in declared_by(data, "tasks") if task in declared_by(model, "tasks")]
    if not both:
        raise ConfigError(
            f"{model.__name__} and {data.__name__} do not fit: the data are for {', '.join(data.tasks)}, "
            f"the model is for {', '.join(model.tasks)}. "
            f"For this data: model={','.join(models_for(data.tasks)) or '(none yet)'}. "
            f"For this model: data={','.join(data_for(model.tasks)) or '(none yet)'}."
        )
    check_data_and_task(data, task)
    if task.name not in both:
        raise ConfigError(
            f"{model.__name__} does not support task={task.name}; with these data "
            f"use {' or '.join(f'task={one}' for one in both)}"
        )
    if getattr(model, "carries", False) and not data.continues:
        raise ConfigError(
            f"{model.__name__} carries a state from batch to batch, and the batches of {data.__name__} do not continue "
            "each other: use data that are a stream, or another model"
        )
    if refuses := getattr(data, "check_model", None):
        refuses(plain(cfg.data), model)


def check_data_and_task(data: Any, task: type[Task]) -> None:
    """Raise ConfigError where data, or their class, are for other tasks."""
    if task.name not in declared_by(data, "tasks"):
        name = data.__name__ if isinstance(data, type) else type(data).__name__
        raise ConfigError(
            f"task={task.name} and {name} do not fit: the data are for {', '.join(data.tasks)}; remove task=..., "
            "since the data choose their task"
        )


def check_averages(cfg: DictConfig) -> None:
    """Raise ConfigError where the optimiser and a callback would both average the weights."""
    optimizer = class_of(cfg.optimizer, "optimizer")
    for key, node in parts_of(cfg.callbacks, "callbacks"):
        if hasattr(optimizer, "show") and issubclass(class_of(node, key), WeightAveraging):
            raise ConfigError(
                f"{key}: {optimizer.__name__} averages the weights itself, and an average of averages would be tested; "
                f"remove {key.removeprefix('callbacks.')} from callbacks=..., or choose another optimizer"
            )


def check_size_of_model(cfg: DictConfig) -> None:
    """Raise ConfigError for a network that is too large on the smallest data, before any are prepared."""
    cls = class_of(cfg.model, "model")
    kind = next((one.annotation for one in signature(cls).parameters.values()), None)
    if isinstance(kind, type) and issubclass(kind, Spec):
        check_size(plain(cfg.model), smallest_spec(kind))


def check_parts_of_model(cfg: DictConfig) -> None:
    """Raise ConfigError for parts of task.freeze and task.learning_rates that the network does not have."""
    names, rates = cfg.task.get("freeze") or (), cfg.task.get("learning_rates") or {}
    kind = next((one.annotation for one in signature(class_of(cfg.model, "model")).parameters.values()), None)
    if not (names or rates) or not (isinstance(kind, type) and issubclass(kind, Spec)):
        return
    for spec in map(smallest_spec, kind.__subclasses__() or [kind]):
        try:
            with torch.device("meta"), not_pretrained(), torch.random.fork_rng(devices=[]):
                network = built(plain(cfg.model), nn.Module, spec)
        except (RuntimeError, ValueError, AssertionError):
            continue  # not built for data of this kind
        return check_parts(network, list(names), dict(rates))


def check_size_of_sample(cfg: DictConfig) -> None:
    """Raise ConfigError for more generated examples than the disk has room for; those of a stream are never stored."""
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
