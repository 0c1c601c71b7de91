"""The keys and values of a part of the configuration, compared with what the signature of its class allows."""

from typing import Annotated, Any, get_args

from annotated_types import Ge
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import OmegaConf

from zoo.arguments import Count, Natural, NonNegative, Positive, Share
from zoo.data.options import Options
from zoo.dotted import DIRECTIVES, class_at
from zoo.errors import CheckpointError, ConfigError, ZooError, did_you_mean
from zoo.run.catalogue import choices
from zoo.signature import signature
from zoo.values import below_key, hold

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
    "optimizer.lr": NonNegative,
    "optimizer.weight_decay": NonNegative,
    "optimizer.eps": NonNegative,
    "optimizer.momentum": NonNegative,
    "optimizer.betas": tuple[Share, Share],
    "scheduler.scheduler.step_size": Count,
    "scheduler.scheduler.T_max": Count,
}
"""Bounds that Lightning and torch check late in a run, without the key, or never."""


def class_of(node: Any, key: str) -> type[Any]:
    """Return the class that a group names. Raises ConfigError where it cannot be imported."""
    try:
        return class_at(str(node["_target_"]), object)
    except CheckpointError as error:
        raise ConfigError(
            f"{key}._target_: {error}; a module beside your own configuration needs its --config-dir"
        ) from error


def check_target(node: Any, key: str) -> None:
    """Raise ConfigError unless `node` names a class to build."""
    if not OmegaConf.is_dict(node) or "_target_" not in node:
        raise ConfigError(f"{key} has no _target_, the class to build; choose one with {key.split('.')[0]}=NAME")


def check_arguments(node: Any, key: str, given: tuple[str, ...] = (), like: str | None = None) -> None:
    """Raise ConfigError unless the keys and values of `node` fit the constructor of its `_target_`.

    Args:
        node: a group of the configuration with a `_target_`.
        key: the key of that group, for messages.
        given: arguments that the code passes itself.
        like: a group with the same bounds of `LATE`, such as `optimizer` for another optimiser.
    """
    check_target(node, key)
    cls = class_of(node, key)
    parameters = signature(cls).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    hints = {name: one.annotation for name, one in parameters.items() if one.annotation is not one.empty}
    for name in map(str, node):
        if name in DIRECTIVES:
            continue
        if name not in parameters and not takes_any:
            takes = [parameter for parameter in parameters if parameter not in given]
            hint = did_you_mean(name, takes, f"{key}.")
            raise ConfigError(f"{key}.{name}: {cls.__name__} has no such argument; {hint}")
        if OmegaConf.is_missing(node, name):
            raise ConfigError(f"{key}.{name} has no value yet: give {key}.{name}=...")
        if OmegaConf.is_interpolation(node, name):
            continue  # to a key that is checked itself, or to the run's folder
        if name in hints and not is_built(node[name]):
            _check_choice(f"{key}.{name}", node[name])
            _check_options(plain_value(node[name]), getattr(cls, f"{name}_options", hints[name]))
            hold(f"{key}.{name}", plain_value(node[name]), LATE.get(f"{like or key}.{name}", hints[name]))
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


def plain_value(value: Any) -> Any:
    """Return a value without OmegaConf's containers, with interpolations resolved."""
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def is_built(value: Any) -> bool:
    """Whether a value is a group that is built: it may become any object."""
    return OmegaConf.is_dict(value) and "_target_" in value


def _check_choice(key: str, value: Any) -> None:
    """Raise ConfigError for the name of a choice where its group of keys is expected."""
    group = key.replace(".", "/")
    if isinstance(value, str) and (names := choices(group)):
        hint = did_you_mean(value, names, f"{group}=")
        raise ConfigError(f"{key}={value}: expected a group of keys, found {value!r}; to choose one by name: {hint}")


def _check_options(value: Any, hint: Any) -> None:
    """Raise ConfigError unless the keys and values of a group of options fit its class."""
    for option in (hint, *get_args(hint)):
        if isinstance(option, type) and issubclass(option, Options):
            option.of(value)


def is_misconfiguration(error: object) -> bool:
    """Whether an error is Lightning's own. The name is compared, since importing Lightning takes seconds."""
    return type(error).__name__ == "MisconfigurationException"


def make(node: Any, key: str, **given: Any) -> Any:
    """Build the object of the node at `key`. Raises ConfigError, with the key, where its constructor refuses."""
    try:
        return instantiate(node, **given, _convert_="all")
    except InstantiationException as error:
        cause = error.__cause__
        if not (isinstance(cause, (ZooError, ValueError, TypeError, ArithmeticError)) or is_misconfiguration(cause)):
            raise
        raise ConfigError(below_key(key, " ".join(str(cause).split()))) from error
