"""Overrides of the configuration from the arguments of a Python function."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from zoo.errors import ConfigError, did_you_mean
from zoo.run.catalogue import has_group
from zoo.run.compose import override


def check_name(name: str, names: Sequence[str], key: str) -> None:
    """Raise ConfigError, with the nearest one, unless `name` is one of the `names` of a `key` such as model."""
    if name not in names:
        raise ConfigError(f"{name!r}: unknown {key}; {did_you_mean(name, names)}")


def below(group: str, values: Mapping[str, Any]) -> Iterator[str]:
    """The overrides of keys below a group. Text for a group of choices, such as `encoder="vgg19"`, is the choice."""
    for key, value in values.items():
        if isinstance(value, str) and has_group(choice := f"{group}/{key.replace('.', '/')}"):
            yield f"{choice}={value}"
        else:
            yield from words({f"{group}.{key}": value})


def words(values: Mapping[str, Any]) -> Iterator[str]:
    """The overrides of keys of the whole configuration. A dict at a key sets the keys below it."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from words({f"{key}.{name}": one for name, one in value.items()})
        elif isinstance(value, str | Path) and not has_group(key):
            yield override(key, str(value))
        else:
            yield f"{key}={_text(key, value)}"


def _text(key: str, value: Any) -> str:
    """Return a value as Hydra reads it. Raises ConfigError for an object."""
    match value:
        case None | bool():
            return json.dumps(value)
        case int() | float() | str():
            return str(value)
        case Mapping():
            return "{}"
        case Sequence():
            inside = (override("", each)[1:] if isinstance(each, str) else _text(key, each) for each in value)
            return f"[{','.join(inside)}]"
    raise ConfigError(f"{key}: expected a plain value, found a {type(value).__name__}; pass text, numbers or lists")
