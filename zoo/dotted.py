"""Classes by their dotted names, which is how a checkpoint and a configuration name them."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeVar

from zoo.errors import CheckpointError

T = TypeVar("T")


class NotHere(CheckpointError):
    """A class that cannot be imported."""


def name_of(cls: type[Any]) -> str:
    """`package.module.Class`."""
    return f"{cls.__module__}.{cls.__qualname__}"


def class_at(name: str, kind: type[T]) -> type[T]:
    """The class of that dotted name, its module imported. Raises CheckpointError where there is none or it is no
    subclass of `kind`, so that a foreign file can have nothing else called."""
    module, _, qualname = name.rpartition(".")
    try:
        found = getattr(import_module(module), qualname)
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise NotHere(f"it names {name}, which is not here: {reason}") from error
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise CheckpointError(f"it names {name}, which is no {'class' if kind is object else kind.__name__}")
    return found
