"""A user's own configuration beside the zoo's: folders with `model/`, `data/`, `task/` and other groups.

The modules that such a folder names stand beside it: of `my_zoo/conf`, all that is in `my_zoo` can be imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from zoo.errors import ConfigError

OPTIONS = ("--config-dir", "-cd")
OVERRIDE = "hydra.searchpath="

_folders: list[Path] = []


def folders() -> tuple[Path, ...]:
    """The user's folders of configuration in this process, in the order they were added."""
    return tuple(_folders)


def add(folder: str | os.PathLike[str]) -> None:
    """Puts `folder` beside the zoo's configuration, and what stands beside it at the end of the modules' path. Raises
    ConfigError where there is no such folder."""
    path = Path(folder).expanduser().resolve()
    if not path.is_dir():
        raise ConfigError(f"{folder}: there is no such folder (--config-dir); expected one with model/, data/ or task/")
    if path not in _folders:
        _folders.append(path)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # at the end: nothing of the zoo's is hidden by it


def take(words: Sequence[str]) -> list[str]:
    """Adds the folders that a command line names, by --config-dir or by Hydra's own search path; the other words."""
    rest, waiting = [], iter(words)
    for word in waiting:
        option, equals, value = word.partition("=")
        if option in OPTIONS:
            if not equals and (value := next(waiting, "")) == "":
                raise ConfigError(f"{word}: expected a folder behind it, found nothing")
            add(value)
        elif word.startswith(OVERRIDE):
            for path in value.strip("[]").split(","):
                add(path.strip().strip("'\"").removeprefix("file://"))
        else:
            rest.append(word)
    return rest


def overrides() -> list[str]:
    """The folders as Hydra is told of them."""
    urls = ",".join(f'"file://{folder}"' for folder in _folders)
    return [f"{OVERRIDE}[{urls}]"] if urls else []
