"""The arguments that a class accepts, with those that it only passes on to its base class.

A constructor that forwards arguments names them in a TypedDict (PEP 692), so that mypy and editors know every key:

    def __init__(self, *, tasks: list[int], **rest: Unpack[StoryArguments]) -> None:
        super().__init__(**rest)
"""

import inspect
from contextlib import suppress
from functools import cache
from inspect import Parameter, Signature
from types import SimpleNamespace
from typing import Any, NotRequired, Required, Unpack, cast, get_args, get_origin, get_type_hints, is_typeddict


def signature(cls: type[Any]) -> Signature:
    """Return the signature of a constructor, in which `**rest: Unpack[SomeTypedDict]` is replaced by its keys.

    Annotations are resolved, with their bounds. One that cannot be resolved, since a library imports it for type
    checkers only, is left out.

    A key of the TypedDict has the default that the base class gives it. It is required where the base class requires
    it, or where the TypedDict declares it as `Required`.
    """
    return _signature(cast(Any, cls))  # mypy takes a class for one that cannot be hashed


@cache
def _signature(cls: Any) -> Signature:
    constructors = [vars(one).get("__init__") or vars(one).get("__new__") for one in cls.__mro__[:-1]]
    return Signature(_parameters([one for one in constructors if one]))


def _parameters(constructors: list[Any]) -> list[Parameter]:
    """The parameters of the first of a class's constructors; these are in method resolution order."""
    if not constructors:
        return []
    hints = _annotations(constructors[0])
    _, *own = inspect.signature(constructors[0]).parameters.values()
    own = [one.replace(annotation=hints.get(one.name, Parameter.empty)) for one in own]
    keys = forwarded(own[-1]) if own else None
    if keys is None:
        return own
    above = {
        name: one for other in reversed(constructors[1:]) for name, one in inspect.signature(other).parameters.items()
    }
    names = {one.name for one in own}
    return [*own[:-1], *(one for one in _expanded(keys, above) if one.name not in names)]


def forwarded(parameter: Parameter) -> type[Any] | None:
    """The TypedDict of a parameter `**rest: Unpack[SomeTypedDict]`, None for any other parameter."""
    if parameter.kind is not Parameter.VAR_KEYWORD or get_origin(parameter.annotation) is not Unpack:
        return None
    (keys,) = get_args(parameter.annotation)
    return keys if is_typeddict(keys) else None


def _expanded(keys: type[Any], above: dict[str, Parameter]) -> list[Parameter]:
    """A keyword parameter for each key of a TypedDict; `above` are the parameters of the base classes."""
    found = []
    for name, hint in get_type_hints(keys, include_extras=True).items():
        required = get_origin(hint) is Required
        hint = get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint
        default = above[name].default if name in above and not required else Parameter.empty
        found.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint))
    return found


def _annotations(function: Any) -> dict[str, Any]:
    """The annotations of a function that can be resolved (in MultiStepLR and WandbLogger, some cannot)."""
    function, hints = inspect.unwrap(function), dict[str, Any]()
    for name, annotation in getattr(function, "__annotations__", {}).items():
        with suppress(NameError):
            one = SimpleNamespace(__annotations__={name: annotation})
            hints |= get_type_hints(one, function.__globals__, include_extras=True)
    return hints
