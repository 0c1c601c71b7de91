"""The size of a network, known before anything is allocated."""

import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, get_type_hints

import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from zoo.data.batch import Spec
from zoo.dotted import built
from zoo.errors import ConfigError
from zoo.layers.pretrained import not_pretrained
from zoo.memory import memory, size_of

LARGE = 10_000  # A hyperparameter below this makes no network that is too large


def check_size(model: Mapping[str, Any], spec: Spec) -> None:
    """Raise ConfigError for a network whose weights and gradients cannot be held by this machine.

    The network is built on the meta device, which knows shapes alone, until it is complete or too large. A network
    that cannot be built there is not refused: whatever is wrong with it shows when it is built.
    """
    largest = max(_numbers(model, "model"), key=lambda pair: pair[1], default=("", 0))
    if largest[1] < LARGE:
        return
    limit = memory() / 2
    try:
        with torch.device("meta"), not_pretrained(), torch.random.fork_rng(devices=[]), _growth_stops_at(limit):
            network = built(model, nn.Module, spec)
        tensors = [*network.parameters(), *network.buffers()]
        count, size = sum(one.numel() for one in tensors), sum(map(_bytes, tensors))
        more = ""
    except Exception as error:
        more = "more than "
        if isinstance(error, _TooLarge):
            count, size = error.args
        elif "overflow" in str(error) or "exceeds" in str(error):
            count, size = 10**18, 2**62
        else:
            return
    if size > limit:
        raise ConfigError(
            f"{largest[0]}={largest[1]}: the network has {more}{count:,} parameters, which take {more}"
            f"{size_of(2 * size)} with their gradients, and this machine has {size_of(memory())}; choose a smaller "
            f"{largest[0]}"
        )


class _TooLarge(Exception):
    """A network under construction has (parameters, their bytes) already, and more than the limit."""


@contextmanager
def _growth_stops_at(limit: float) -> Iterator[None]:
    """Raise _TooLarge where many parameters take more bytes than this: a million layers would take hours to build.

    A parameter that another one has replaced (tied weights) no longer counts.
    """
    known: dict[int, weakref.ref[nn.Parameter]] = {}
    size = 0

    def count(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        nonlocal size
        if parameter is None or (id(parameter) in known and known[id(parameter)]() is parameter):
            return
        known[id(parameter)] = weakref.ref(parameter)
        size += _bytes(parameter)
        if size > limit and len(known) > LARGE:
            alive = [one for one in (known[key]() for key in known) if one is not None]
            size = sum(map(_bytes, alive))
            if size > limit:
                raise _TooLarge(sum(one.numel() for one in alive), size)

    handle = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        handle.remove()


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


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
    if hint is float:
        return 1.0
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
