"""The size of a network, known before anything is allocated."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, get_type_hints

import torch
from hydra.utils import instantiate
from torch import nn

from zoo.data.batch import Spec
from zoo.errors import ConfigError
from zoo.layers.pretrained import not_pretrained
from zoo.memory import memory, size_of

LARGE = 10_000  # A hyperparameter below this makes no network that is too large


def check_size(model: Mapping[str, Any], spec: Spec) -> None:
    """Raise ConfigError for a network whose weights and gradients cannot be held by this machine.

    The network is built on the meta device, which knows shapes alone. A network that cannot be built there is not
    refused: whatever is wrong with it shows when it is built.
    """
    largest = max(_numbers(model, "model"), key=lambda pair: pair[1], default=("", 0))
    if largest[1] < LARGE:
        return
    try:
        with torch.device("meta"), not_pretrained(), torch.random.fork_rng(devices=[]):
            network: nn.Module = instantiate(model, spec, _recursive_=False)
        tensors = [*network.parameters(), *network.buffers()]
        count, size = sum(one.numel() for one in tensors), sum(one.numel() * one.element_size() for one in tensors)
    except Exception as error:
        if "overflow" not in str(error) and "exceeds" not in str(error):
            return
        count, size = None, 2**63
    if 2 * size > memory():
        estimate = f"more than 10^18 parameters, which take more than {size_of(size)}"
        if count is not None:
            estimate = f"{count:,} parameters, which take {size_of(2 * size)} with their gradients"
        raise ConfigError(
            f"{largest[0]}={largest[1]}: the network has {estimate}, and this machine has {size_of(memory())}; choose "
            f"a smaller {largest[0]}"
        )


def smallest_spec(kind: type[Spec]) -> Spec:
    """Return a spec of small data, to build a network before the data are prepared."""
    hints = get_type_hints(kind)
    required = [field.name for field in fields(kind) if field.default is field.default_factory]
    return kind(**{name: _smallest(name, hints[name]) for name in required})


def _smallest(name: str, hint: Any) -> Any:
    if hint is bool:
        return True
    if hint is int:
        return 8 if name.endswith("size") else 2
    return ("1", "2") if hint == tuple[str, ...] else ""


def _numbers(node: Any, key: str) -> Iterator[tuple[str, int]]:
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from _numbers(value, f"{key}.{name}")
    elif isinstance(node, list):
        for value in node:
            yield from _numbers(value, key)
    elif isinstance(node, int) and not isinstance(node, bool):
        yield key, node
