"""A value of the configuration compared with an annotation, and the annotation in words."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from typing import Any, get_type_hints

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import SchemaError

from zoo.errors import ConfigError, alternatives, cut, or_nearest

STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)
OBJECT = "a group with a _target_"  # A configuration node that describes an object to build
GROUP, WHOLE, NUMBER = "a group of keys", "a whole number", "a number"
KINDS = {"boolean": ("true", "false"), "null": ("null",), "object": (GROUP,), "string": ("text",)}
"""The types of a JSON schema without bounds, in words."""

BOUNDS = {
    ("minimum", "maximum"): "from {} to {}",
    ("minimum", "exclusiveMaximum"): "from {} to below {}",
    ("exclusiveMinimum", "maximum"): "above {} and up to {}",
    ("exclusiveMinimum", "exclusiveMaximum"): "above {} and below {}",
    ("minimum",): "from {} on",
    ("exclusiveMinimum",): "above {}",
    ("maximum",): "up to {}",
    ("exclusiveMaximum",): "below {}",
}
"""The bounds of a JSON schema, in words."""


def hold(key: str, value: Any, hint: Any) -> None:
    """Raise ConfigError, `key=value: expected ..., found ...`, unless plain `value` fits the annotation `hint`."""
    allowed = _adapter(hint)
    if allowed is None:
        if getattr(hint, "_is_protocol", False) and not isinstance(value, dict):
            raise refusal(key, value, OBJECT)
        return  # a kind of class that has a check of its own, such as a dataclass
    try:
        # as JSON a list may become a tuple, but "2" does not become a number, and true does not become 1
        allowed.validate_json(json.dumps(value, default=list))
    except (ValidationError, TypeError) as error:  # TypeError: an object, given in code
        own = _own_words(key, value, error) if isinstance(error, ValidationError) else None
        schema = allowed.json_schema(schema_generator=_Schema)
        raise own or refusal(key, value, _either(schema) or str(hint), _words(schema)) from None


def in_words(hint: Any) -> str:
    """Return the values that an annotation allows, in words: `a whole number from 1 on`. Empty if it has no words."""
    allowed = _adapter(hint)
    try:
        if allowed is not None:
            return _either(allowed.json_schema(schema_generator=_Schema))
    except (PydanticUserError, SchemaError):
        pass  # pydantic validates it, but cannot describe it
    return OBJECT if getattr(hint, "_is_protocol", False) else ""


def _adapter(hint: Any) -> TypeAdapter[Any] | None:
    """Pydantic's validator of an annotation, None for one that pydantic does not know.

    To build one takes longer than to use it, so each is built once. The text tells `int | str` from `str | int`: they
    are equal, and a message names their parts in their order.
    """
    try:
        return _cached_adapter(hint, str(hint))
    except TypeError:  # metadata that cannot be hashed
        return _cached_adapter.__wrapped__(hint, "")


@cache
def _cached_adapter(hint: Any, text: str) -> TypeAdapter[Any] | None:
    try:
        return TypeAdapter(hint, config=STRICT)
    except (PydanticUserError, SchemaError):
        return None


class Checked:
    """A base class whose subclasses compare the arguments of their constructors with the annotations, so that
    Python has the same bounds and the same messages as a configuration.

    A constructor raises ConfigError for a wrong value. Of objects, only those whose annotation is a dataclass, such as
    a spec, are checked.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = _checked(cls.__init__)  # type: ignore[method-assign]


def _checked(init: Callable[..., None]) -> Callable[..., None]:
    hints = cache(lambda: get_type_hints(init, include_extras=True))  # the names in them may be defined later
    names = list(inspect.signature(init).parameters)[1:]

    @wraps(init)
    def checked(self: Any, *arguments: Any, **options: Any) -> None:
        for name, value in [*zip(names, arguments, strict=False), *options.items()]:
            hint = hints().get(name)
            if isinstance(hint, type) and is_dataclass(hint):
                _hold_object(f"{type(self).__name__}: {name}", value, hint)
            elif hint is not None and isinstance(value, str | int | float | list | tuple | None):
                hold(name, value, hint)
        init(self, *arguments, **options)

    return checked


def _hold_object(key: str, value: Any, cls: type[Any]) -> None:
    """Raise ConfigError unless `value` is an object of the dataclass `cls`."""
    if isinstance(value, cls):
        return
    required = [f"{one.name}=..." for one in fields(cls) if one.default is one.default_factory]
    found = repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
    raise ConfigError(f"{key}: expected a {cls.__name__}, {cls.__name__}({', '.join(required)}), found {cut(found)}")


def refusal(key: str, value: Any, expected: str, names: Iterable[str] = ()) -> ConfigError:
    """Return the error for a wrong value; it proposes the nearest of `names`, the allowed words."""
    typed = cut(value if isinstance(value, str) else as_written(value))
    near = or_nearest(value, names) if isinstance(value, str) else ""
    return ConfigError(f"{key}={typed}: expected {expected}, found {cut(as_written(value))}{near}")


def as_written(value: Any) -> str:
    """Return a value as it is written in a configuration file, text in quotes."""
    return repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)


def below_key(key: str, message: str) -> str:
    """Put `key` in front of a message; a message that begins with a name is about a key below it."""
    return f"{key}.{message}" if re.match(r"\w+(=|: )", message) else f"{key}: {message}"


def _own_words(key: str, value: Any, error: ValidationError) -> ConfigError | None:
    """Return the message of the annotation's own validator, which is more precise than the schema."""
    said = [str(detail["ctx"]["error"]) for detail in error.errors() if detail["type"] == "value_error"]
    group, _, name = key.rpartition(".")
    if said and said[0].startswith((f"{name}=", f"{name}: ")):
        return ConfigError(below_key(group, said[0]) if group else said[0])
    return ConfigError(f"{key}={value}: {said[0]}") if said else None


class _Schema(GenerateJsonSchema):
    """A JSON schema that may contain objects; pydantic alone refuses to describe them."""

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
        return {"description": OBJECT}


def _either(schema: Mapping[str, Any]) -> str:
    phrases = list(dict.fromkeys(_phrases(schema)))
    if NUMBER in phrases and WHOLE in phrases:
        phrases.remove(WHOLE)  # every whole number is a number
    return alternatives(phrases)


def _phrases(schema: Mapping[str, Any]) -> Iterator[str]:
    """The values that a schema allows, in words, one alternative at a time."""
    match schema:
        case {"anyOf": parts}:
            for part in parts:
                yield from _phrases(part)
        case {"enum": words}:
            yield from map(str, words)
        case {"const": word}:
            yield str(word)
        case {"$ref": _}:  # a class with fields
            yield GROUP
        case {"description": phrase}:
            yield phrase
        case {"type": "integer"}:
            yield _between(WHOLE, schema)
        case {"type": "number"}:
            yield _between(NUMBER, schema)
        case {"type": "array"}:
            yield _list(schema)
        case {"type": "object", "additionalProperties": dict(each)} if each:
            yield f"{GROUP} (each {_either(each)})"
        case {"type": kind}:
            yield from KINDS[kind]


def _between(kind: str, bounds: Mapping[str, Any]) -> str:
    names = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
    given = {name: bounds[name] for name in names if name in bounds}
    return f"{kind} {BOUNDS[tuple(given)].format(*given.values())}" if given else kind


def _list(schema: Mapping[str, Any]) -> str:
    parts = schema.get("prefixItems") or [schema.get("items") or {}]
    each = ", then ".join(dict.fromkeys(map(_either, parts)))
    count = f" of {len(parts)}" if "prefixItems" in schema else ""
    return f"a list{count} (each {each})" if each else f"a list{count}"


def _words(schema: Mapping[str, Any]) -> list[str]:
    parts = schema.get("anyOf", [schema])
    return [str(word) for part in parts for word in part.get("enum", [part["const"]] if "const" in part else [])]
