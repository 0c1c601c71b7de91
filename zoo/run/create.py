"""`zoo.create_model`: a network of the catalogue for Python code, without data, Lightning or a command line."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, get_args

import yaml
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.utils import instantiate
from omegaconf import DictConfig
from torch import nn

from zoo.data.batch import Spec
from zoo.errors import ConfigError, alternatives
from zoo.run import search_path
from zoo.run.arguments import check_arguments, class_of
from zoo.run.catalogue import conf_dir, models
from zoo.run.compose import plain
from zoo.run.messages import explained
from zoo.run.overrides import below, check_name
from zoo.signature import signature


def create_model(name: str, /, *, spec: Spec | None = None, **values: Any) -> nn.Module:
    """Build an untrained network of the catalogue, with the hyperparameters of conf/model.

    Args:
        name: as in `model=NAME`; `zoo.list_models()` has them all.
        spec: the facts about the data, such as `zoo.load_data("yelp").spec`. Without it, `values` must hold its
            fields without a default, such as `vocabulary_size` and `classes`.
        values: hyperparameters that replace those of conf/model/NAME.yaml, and fields of the spec.

    Raises:
        ConfigError: an unknown name or key, a value out of its range, or a missing fact about the data.
    """
    check_name(name, list(models()), "model")
    kinds = _spec_classes(name)
    facts = {key: values[key] for key in values if spec is None and any(key in _names(cls) for cls in kinds)}
    overrides = list(below("model", {key: value for key, value in values.items() if key not in facts}))
    with explained([f"model={name}", *overrides]):
        node = _model_node(name, overrides)
        check_arguments(node, "model", given=("spec",))
        network: nn.Module = instantiate(plain(node), spec or _spec(name, kinds, facts), _recursive_=False)
    return network


def _model_node(name: str, overrides: Sequence[str]) -> DictConfig:
    """The configuration of a model alone; a group for which it may choose a file, such as the optimiser, is empty."""
    stated = yaml.safe_load((conf_dir() / "train.yaml").read_text(encoding="utf-8"))["defaults"]
    groups = [group for entry in stated if isinstance(entry, dict) for group in entry if " " not in group]
    defaults = [{group: None} for group in groups if group not in ("model", "hydra")]
    ConfigStore.instance().store(name="model_alone", node={"defaults": [*defaults, {"model": name}]})
    with initialize_config_dir(version_base="1.3", config_dir=str(conf_dir())):
        node: DictConfig = hydra_compose("model_alone", [*search_path.overrides(), *overrides]).model
    return node


def _spec_classes(name: str) -> list[type[Spec]]:
    """The classes of spec that a network takes: those of the annotation of its first argument, or in place of one the
    classes derived from it that have more fields."""
    first = next(iter(signature(class_of(_model_node(name, []), "model")).parameters.values()), None)
    kinds = get_args(first.annotation) or (first.annotation,) if first else ()
    found = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Spec)]
    return [one for kind in found for one in _derived(kind) or [kind]]


def _derived(kind: type[Spec]) -> list[type[Spec]]:
    return [cls for cls in kind.__subclasses__() if _names(cls) > _names(kind)]


def _spec(name: str, kinds: Sequence[type[Spec]], facts: Mapping[str, Any]) -> Spec:
    """The spec with these fields. Raises ConfigError where one is missing, or two classes of spec have all of them."""
    needed = [_needed(cls, kinds) for cls in kinds]
    fitting = [cls for cls, names in zip(kinds, needed, strict=True) if names <= facts.keys() <= _names(cls)]
    if len(fitting) == 1:
        return fitting[0](**{key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()})
    missing = alternatives([", ".join(f"{one}=..." for one in sorted(names - facts.keys())) for names in needed])
    raise ConfigError(
        f"create_model: {name} needs facts about the data: give {missing}; or spec=zoo.load_data(...).spec"
    )


def _names(cls: type[Spec]) -> set[str]:
    return {one.name for one in fields(cls)}


def _needed(cls: type[Spec], kinds: Sequence[type[Spec]]) -> set[str]:
    """The fields without a default, and those that tell the class from the others of `kinds`, if all have defaults."""
    required = {one.name for one in fields(cls) if one.default is MISSING}
    shared = set.intersection(*map(_names, kinds))
    return required if len(kinds) == 1 or required - shared else _names(cls) - (shared - required)
