"""From overrides to a configuration: the root keys, the resolvers, and groups chosen beside an experiment."""

import dataclasses
import inspect
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import hydra._internal.hydra as hydra_internal
from annotated_types import Ge, Le
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, flag_override, open_dict

from zoo.dotted import class_at
from zoo.run import search_path
from zoo.run.catalogue import conf_dir, tasks_of

KEY = set(".@")  # Signs in an override of a key, or of a group in another place
Seed = Annotated[int, Ge(0), Le(2**32 - 1)]  # The range that numpy accepts


@dataclass
class TrainConfig:
    """The root keys of conf/train.yaml with their types. A task may add others, its `groups`."""

    seed: Seed = 1
    train: bool = True
    test: bool = True
    ckpt_path: str | None = None
    start_from: str | None = None
    compile: bool = False
    threads: Annotated[int, Ge(1)] | None = None
    tags: list[str] = field(default_factory=list)
    model: Any = None
    data: Any = None
    task: Any = None
    optimizer: Any = None
    scheduler: Any = None
    trainer: Any = None
    logger: Any = None
    callbacks: Any = None


def compose(overrides: list[str]) -> DictConfig:
    """The configuration that `python train.py <overrides>` runs, for use in code and in tests."""
    register()
    with command_line_first(), initialize_config_dir(version_base="1.3", config_dir=str(conf_dir())):
        beside = search_path.overrides()
        return hydra_compose("train", overrides=[*beside, *overrides], return_hydra_config=True)


def override(key: str, text: str) -> str:
    """`key=text` in quotes, which Hydra reads back unchanged whatever characters `text` has."""
    escaped = re.sub(r"(\\*)('|$)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), text)
    return f"{key}='{escaped}'"


def plain(node: Any) -> dict[str, Any]:
    """A node as plain dicts, lists, strings and numbers, with interpolations resolved, as a checkpoint stores it."""
    return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else dict(node or {})  # type: ignore[return-value]


def register() -> None:
    """Register the resolvers, the root keys and all arguments of the installed Trainer. A mistyped argument then fails
    at composition, and none needs a `+`."""
    from lightning import Trainer

    store = ConfigStore.instance()
    store.store(name="schema", node=dataclasses.asdict(TrainConfig()))  # plain, so that a task may add groups
    arguments = {
        name: parameter.default for name, parameter in inspect.signature(Trainer).parameters.items() if name != "self"
    }
    store.store(group="trainer", name="signature", node={"_target_": "lightning.Trainer", **arguments})
    register_resolvers()


# resolvers


def register_resolvers() -> None:
    """`${zoo.stamp:}`, `${zoo.run_name:dir}`, `${zoo.sweep_name:mode,dir}` and `${zoo.mode:task,metric}`."""
    OmegaConf.register_new_resolver("zoo.stamp", stamp, use_cache=True, replace=True)
    OmegaConf.register_new_resolver("zoo.run_name", lambda path: "_".join(Path(path).parts[-2:]), replace=True)
    OmegaConf.register_new_resolver("zoo.sweep_name", _sweep_name, replace=True)
    OmegaConf.register_new_resolver("zoo.mode", _mode, replace=True)


def stamp() -> str:
    """The time in a run folder's name, or the launcher's name for a job whose processes it starts together."""
    job, step = os.environ.get("SLURM_JOB_ID"), os.environ.get("SLURM_STEP_ID")
    if job and (step or os.environ.get("SLURM_NTASKS", "1") != "1"):  # else a script may start several runs
        parts = ["slurm", job, os.environ.get("SLURM_RESTART_COUNT", "0"), step]
        return "_".join(filter(None, parts))
    if run := os.environ.get("TORCHELASTIC_RUN_ID"):
        return f"torchrun_{run if run != 'none' else os.environ['MASTER_PORT'] + '_' + str(os.getppid())}"
    return datetime.now().strftime("%Y-%m-%d_%H-%M-%S-%f")


def _sweep_name(mode: str, sweep_dir: str) -> str | None:
    return Path(sweep_dir).name if "MULTIRUN" in str(mode) else None


def _mode(task: str, metric: str) -> str:
    """`max` or `min`, the best end of a validation metric according to the task's class."""
    modes: dict[str, str] = class_at(task, object).monitors  # type: ignore[attr-defined]
    return modes.get(metric.removeprefix("val/"), "min")  # `check` refuses an unknown metric


# groups beside an experiment


@contextmanager
def command_line_first() -> Iterator[None]:
    """Within this context, groups chosen on the command line override an experiment's values.

    Hydra merges an experiment's file after all groups, so that it overrides their defaults. With `experiment=x
    trainer=fast` it would also override `trainer.max_epochs` of `fast`.
    """
    before = hydra_internal.ConfigLoaderImpl
    hydra_internal.ConfigLoaderImpl = CommandLineFirst  # type: ignore[misc]  # Hydra has no hook for it
    try:
        yield
    finally:
        hydra_internal.ConfigLoaderImpl = before  # type: ignore[misc]


class CommandLineFirst(ConfigLoaderImpl):
    """Loads configurations in which a group of the command line overrides an experiment with the keys that the chosen
    file itself sets. Inherited keys stay as in the experiment: `trainer=ddp` keeps its max_epochs, and `optimizer=adam`
    drops its momentum. Where data are for several tasks, the model decides among them."""

    def load_configuration(
        self, config_name: str | None, overrides: list[str], *arguments: Any, **options: Any
    ) -> DictConfig:
        self._chosen = {
            override.key_or_group: override.value()
            for override in OverridesParser.create().parse_overrides(overrides)
            if not (override.is_delete() or override.is_sweep_override() or "." in override.key_or_group)
        }
        load = partial(super().load_configuration, config_name)
        try:
            found, wrong = load(overrides, *arguments, **options), None
        except HydraException as error:  # perhaps since a key is of the other task
            groups = [word for word in overrides if word.startswith("hydra") or not KEY & set(word.split("=")[0])]
            try:
                found, wrong = load(groups, *arguments, **options), error
            except HydraException:
                raise error from None
        if (task := self._task_of_model(found)) is not None:
            found = load([*overrides, f"task={task}"], *arguments, **options)
            with flag_override(found, "readonly", False), open_dict(found):
                found.hydra.overrides.task.remove(f"task={task}")  # the user did not write it
        elif wrong is not None:
            raise wrong
        return found

    def _task_of_model(self, cfg: DictConfig) -> str | None:
        """The task to choose where data are for several and the model serves another than their first; else None."""
        choices = OmegaConf.select(cfg, "hydra.runtime.choices") or {}
        if "task" in self._chosen or not (model := choices.get("model")) or not (data := choices.get("data")):
            return None
        serves = tasks_of("model", model)
        if choices.get("task") in serves:
            return None
        return next((task for task in tasks_of("data", data) if task in serves), None)

    def _compose_config_from_defaults_list(self, defaults: list[Any], repo: Any) -> DictConfig:
        cfg = super()._compose_config_from_defaults_list(defaults, repo)
        experiments = [default for default in defaults if (default.config_path or "").startswith("experiment/")]
        groups = [group for group in self._chosen if group != "experiment" and repo.group_exists(group)]
        if not experiments or not groups:
            return cfg
        without = super()._compose_config_from_defaults_list([d for d in defaults if d not in experiments], repo)
        for group in groups:
            choice = self._chosen[group]
            files = [f"{group}/{name}" for name in (choice if isinstance(choice, list) else [choice])]
            stated = OmegaConf.merge(*(loaded.config for file in files if (loaded := repo.load_config(file))))
            for experiment in experiments:
                *above, last = group.split("/")
                asked = repo.load_config(experiment.config_path).config
                nodes = [_below(node, above) for node in (cfg, without, asked)]
                asked = nodes[2].get(last) if OmegaConf.is_dict(nodes[2]) else None
                if OmegaConf.is_dict(asked):
                    with open_dict(cfg):
                        _give_way(nodes[0], nodes[1], last, asked, stated)
        return cfg


def _below(node: Any, keys: list[str]) -> Any:
    for key in keys:
        node = node.get(key) if OmegaConf.is_dict(node) else None
    return node


def _give_way(parent: DictConfig, without: DictConfig, name: str, asked: Any, stated: Any) -> None:
    """Undo the values `asked` of an experiment at `name` that a chosen file has `stated` or does not have."""
    if OmegaConf.is_dict(asked) and OmegaConf.is_dict(without.get(name)) and OmegaConf.is_dict(parent.get(name)):
        for key, value in asked.items_ex(resolve=False):
            below = stated if stated is None else stated._get_node(key)
            _give_way(parent._get_node(name), without._get_node(name), key, value, below)  # type: ignore[arg-type]
    elif name not in without:
        parent.pop(name)
    elif stated is not None:
        parent[name] = without._get_node(name)
