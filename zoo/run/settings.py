"""The keys of a file of conf with their defaults and comments, and the values that the class of the file allows.

The comments in conf are the only description of the keys: `zoo show` prints them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_type_hints

import yaml

from zoo.errors import ConfigError
from zoo.run.catalogue import choices, group_file

TARGET = "_target_"


@dataclass(frozen=True)
class Setting:
    """One key of the configuration."""

    key: str  # As it is overridden: model.dropout or, for a group, model/encoder
    default: str  # As it is written in the file
    comment: str = ""
    allowed: str = ""  # The values that the annotation of the argument allows, in words; empty if it is not known
    owner: str = ""  # The dotted name of the class whose argument it is; empty for a group
    path: tuple[str, ...] = ()  # The names of the argument and of the keys in it: ("hard", "reward")


@dataclass
class File:
    """The content of a file of conf, with the files that its defaults inherit."""

    target: str = ""  # The dotted name of the class
    settings: dict[str, Setting] = field(default_factory=dict)
    chosen: dict[str, str] = field(default_factory=dict)  # Choices of other groups, such as optimizer: adam_memory


def read_settings(path: Path, group: str, key: str | None = None) -> File:
    """Return the settings of a file.

    Args:
        path: the file.
        group: its group, such as `model` or `model/encoder`.
        key: the key of the group in a configuration; by default `model.encoder` for `model/encoder`.

    Raises:
        ConfigError: a file is not readable as YAML.
    """
    key = group.replace("/", ".") if key is None else key
    text = path.read_text(encoding="utf-8")
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not readable as YAML: {' '.join(str(error).split())}") from error
    found, lines = File(), text.splitlines()
    for name, node in _pairs(root):
        if name.value == "defaults" and isinstance(node, yaml.SequenceNode):
            for entry in node.value:
                _inherit(found, entry, lines, group, key)
    for name, node in _pairs(root):
        if name.value == TARGET:
            found.target = str(node.value)
        elif name.value != "defaults":
            found.settings.update((one.key, one) for one in _settings(key, (name.value,), name, node, text, lines))
    own = {name: replace(one, owner=found.target) for name, one in found.settings.items() if one.path and not one.owner}
    found.settings |= own
    return found


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    return node.value if isinstance(node, yaml.MappingNode) else []


def _settings(
    group: str, path: tuple[str, ...], name: Any, node: Any, text: str, lines: list[str]
) -> Iterator[Setting]:
    """The setting of a key, and those of the keys below it."""
    key = ".".join((group, *path))
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        yield Setting(key, "", _comment(lines, name.end_mark), path=path)
        for below, value in node.value:
            yield from _settings(group, (*path, below.value), below, value, text, lines)
    else:
        default = text[node.start_mark.index : node.end_mark.index].strip()
        yield Setting(key, default, _comment(lines, node.end_mark), path=path)


def _comment(lines: list[str], mark: Any) -> str:
    """The comment in the rest of a line."""
    rest = lines[mark.line][mark.column :] if mark.line < len(lines) else ""
    return rest.partition("#")[2].strip()


def _inherit(found: File, entry: Any, lines: list[str], group: str, key: str) -> None:
    """Take over what an entry of the defaults chooses: a file of the same group, or one of another group."""
    if isinstance(entry, yaml.ScalarNode):
        if entry.value != "_self_" and (path := group_file(group, entry.value.partition("@")[0])):
            above = read_settings(path, group, key)
            found.target, found.chosen = above.target, found.chosen | above.chosen
            found.settings |= above.settings
        return
    for name, node in _pairs(entry):
        place, choice = name.value.removeprefix("override ").partition("@")[0], str(node.value)
        if place.startswith("/"):
            found.chosen[place.strip("/")] = choice
            continue
        full = f"{group}/{place}"
        comment, names = _comment(lines, node.end_mark), ", ".join(choices(full))
        found.settings[full] = Setting(full, choice, comment, f"one of {names}" if names else "")
        if path := group_file(full, choice):
            found.settings |= read_settings(path, full, f"{key}.{place}").settings


def typed(settings: Iterable[Setting]) -> list[Setting]:
    """Return settings with the values that their classes allow. The classes are imported.

    Raises:
        ZooError: a class cannot be imported.
    """
    from zoo.dotted import class_at
    from zoo.signature import signature
    from zoo.values import in_words

    settings, hints = list(settings), dict[str, dict[str, Any]]()
    for owner in {one.owner for one in settings if one.owner}:
        cls = class_at(owner, object)
        annotations = {name: one.annotation for name, one in signature(cls).parameters.items()}
        hints[owner] = {name: getattr(cls, f"{name}_options", hint) for name, hint in annotations.items()}
    found = []
    for one in settings:
        hint = hints.get(one.owner, {}).get(one.path[0]) if one.path and one.default else None
        for name in one.path[1:]:
            hint = _field(hint, name)
        found.append(one if hint is None else replace(one, allowed=in_words(hint)))
    return found


def _field(hint: Any, name: str) -> Any:
    """The annotation of a field of a class of options, perhaps one of several alternatives; None if it has none."""
    for option in (hint, *getattr(hint, "__args__", ())):
        if isinstance(option, type):
            hints: Mapping[str, Any] = get_type_hints(option, include_extras=True)
            if name in hints:
                return hints[name]
    return None
