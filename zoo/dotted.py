"""Classes by their dotted names, which is how a checkpoint and a configuration name them."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from zoo.errors import CheckpointError

T = TypeVar("T")
DIRECTIVES = ("_target_", "_convert_", "_recursive_")  # Keys of a description that are not arguments
_allowed: ContextVar[tuple[Path, ...] | None] = ContextVar("allowed", default=None)
"""The user's folders from which a checkpoint's classes may be imported; None while no checkpoint is read."""


class NotHere(CheckpointError):
    """A class that cannot be imported."""


def name_of(cls: type[Any]) -> str:
    """Return `package.module.Class`."""
    return f"{cls.__module__}.{cls.__qualname__}"


@contextmanager
def named_by_a_checkpoint(folders: Iterable[Path] = ()) -> Iterator[None]:
    """Within this context, `class_at` imports only modules of the zoo and of the user's own `folders`.

    A checkpoint may come from anyone, and an import runs the code of a module.
    """
    before = _allowed.set((*(_allowed.get() or ()), *folders))
    try:
        yield
    finally:
        _allowed.reset(before)


def class_at(name: str, kind: type[T]) -> type[T]:
    """Import and return the class with a dotted name.

    Raises:
        NotHere: it cannot be imported, or a checkpoint names it and may not import it.
        CheckpointError: it is not a subclass of `kind`, so that a file of unknown origin cannot call anything else.
    """
    if not isinstance(name, str):
        raise CheckpointError(f"expected the dotted name of a class, found {name!r}")
    module, _, qualname = name.rpartition(".")
    if (folders := _allowed.get()) is not None and not _may_import(module, folders):
        raise NotHere(
            f"a checkpoint may not import {name}: only classes of the zoo are allowed, and your own classes if "
            "their module is already imported or lies beside your --config-dir"
        )
    try:
        found = getattr(import_module(module), qualname)
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise NotHere(f"{name} cannot be imported: {reason}") from error
    if not (isinstance(found, type) and issubclass(found, kind)):
        expected = "a class" if kind is object else f"a subclass of {kind.__name__}"
        raise CheckpointError(f"{name} is not {expected}")
    return found


def built(options: Mapping[str, Any], kind: type[T], *given: Any) -> T:
    """Build the object that plain data describe: its class as `_target_`, and its arguments besides those `given`. What
    they describe in turn is left to its constructor. Raises CheckpointError as `class_at` does."""
    arguments = {str(key): value for key, value in options.items() if key not in DIRECTIVES}
    return class_at(options["_target_"], kind)(*given, **arguments)


def _may_import(module: str, folders: tuple[Path, ...]) -> bool:
    """Whether importing a module runs no code, or only code of the zoo or of the user's `folders`."""
    first, *rest = module.split(".")
    if module in sys.modules:
        return True
    if "__main__" in (first, *rest):  # importing a program would run it
        return False
    return first == "zoo" or any(_place(first).is_relative_to(folder) for folder in folders)


def _place(package: str) -> Path:
    """The file of a module or package, or the folder of a namespace package; an empty path if it is not found."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return Path()
    return Path(spec.origin or next(iter(spec.submodule_search_locations or [""]))).resolve()
