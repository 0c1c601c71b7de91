"""Parts of a network by their names: which are not trained, and which learn at a rate of their own."""

import logging
from collections.abc import Iterable, Mapping

from torch import nn

from zoo.errors import ConfigError, did_you_mean
from zoo.layers.pretrained import Pretrained

log = logging.getLogger(__name__)


def parameters_of(network: nn.Module, name: str) -> list[nn.Parameter]:
    """The parameters of a part, such as `embedding` or `decoder.0`, or the parameter of that name."""
    modules, parameters = dict(network.named_modules()), dict(network.named_parameters())
    return [*modules[name].parameters()] if name in modules else [parameters[name]]


def check_parts(network: nn.Module, freeze: Iterable[str], rates: Mapping[str, float]) -> None:
    """Raise ConfigError for a name that is not a part of the network, and for weights that are named twice."""
    names = [name for name, _ in (*network.named_modules(), *network.named_parameters()) if name]
    chosen: dict[int, str] = {}
    for key, part in [*(("freeze", one) for one in freeze), *(("learning_rates", one) for one in rates)]:
        if part not in names:
            hint = did_you_mean(part, names if "." in part else [one for one in names if "." not in one])
            raise ConfigError(f"task.{key}: {type(network).__name__} has no part {part!r}; {hint}")
        for parameter in parameters_of(network, part):
            if (other := chosen.setdefault(id(parameter), f"task.{key}: {part}")) != f"task.{key}: {part}":
                raise ConfigError(f"task.{key}: {part} shares weights with {other}; name each weight once")
    for name, module in network.named_modules():
        if isinstance(module, Pretrained) and any(id(one) in chosen for one in module.parameters()):
            raise ConfigError(f"task: {name} is pretrained; use its own finetune_from and learning_rate")
    if all(chosen.get(id(one), "").startswith("task.freeze") for one in network.parameters()):
        raise ConfigError("task.freeze: no weight is left to train; freeze fewer parts")


def freeze(network: nn.Module, names: Iterable[str]) -> None:
    """Stop the training of some parts. They still have their dropout."""
    for name in names:
        own = parameters_of(network, name)
        for parameter in own:
            parameter.requires_grad_(False)
        log.info("task.freeze: %s is not trained, %s parameters", name, f"{sum(one.numel() for one in own):,}")
