"""A user's own configuration beside the zoo's: folders with `model/`, `data/`, `task/` and other groups.

The modules that such a folder names lie beside it: with `my_zoo/conf`, everything in `my_zoo` can be imported.
"""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import yaml

from zoo.errors import ConfigError

OPTIONS = ("--config-dir", "-cd")
OVERRIDE = "hydra.searchpath="
PACKAGE = "pkg://"

_folders: list[Path] = []


def folders() -> tuple[Path, ...]:
    """The user's folders of configuration in this process, in the order they were added."""
    return tuple(_folders)


def add(folder: str | os.PathLike[str]) -> None:
    """Add `folder` to the configuration, and its parent to the end of `sys.path`. Raises ConfigError."""
    path = Path(folder).expanduser().resolve()
    if not path.is_dir():
        raise ConfigError(f"{folder}: folder not found (--config-dir); expected one with model/, data/ or task/")
    if path not in _folders:
        _folders.append(path)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # at the end, so that it hides no module of the zoo


def take(words: Sequence[str]) -> list[str]:
    """Add the folders that a command line names, by --config-dir or Hydra's search path. Returns the other words."""
    rest, waiting = [], iter(words)
    for word in waiting:
        option, equals, value = word.partition("=")
        if option in OPTIONS:
            if not (value := value if equals else next(waiting, "")):
                raise ConfigError(f"{word}: expected a folder after it, found nothing")
            add(value)
        elif word.startswith(OVERRIDE):
            try:
                given = yaml.safe_load(value) or []
            except yaml.YAMLError as error:
                raise ConfigError(f"{word}: expected a list of folders, {OVERRIDE}[DIR,DIR]") from error
            for path in map(str, given if isinstance(given, list) else [given]):
                add(_of_package(path) if path.startswith(PACKAGE) else path.removeprefix("file://"))
        else:
            rest.append(word)
    return rest


def _of_package(url: str) -> str:
    """The folder of an installed package for Hydra's `pkg://package.conf`. Raises ConfigError."""
    name = url.removeprefix(PACKAGE).replace("/", ".")
    try:
        found = find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is None or not found.submodule_search_locations:
        raise ConfigError(f"{url}: package not installed (hydra.searchpath); or give --config-dir DIR")
    return next(iter(found.submodule_search_locations))


def overrides() -> list[str]:
    """Return the override that gives the folders to Hydra."""
    urls = ",".join(f'"file://{folder}"' for folder in _folders)
    return [f"{OVERRIDE}[{urls}]"] if urls else []
