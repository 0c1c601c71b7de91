"""Hydra without the work that it does again for each configuration: the tests compose more than a thousand.

A file is read and parsed once, and again when it has changed. `tests/test_composing.py` compares the results with those
of Hydra alone.
"""

import os
import pickle
from functools import lru_cache
from typing import Any

import omegaconf._utils
import omegaconf.base
from hydra._internal import defaults_list
from hydra._internal.config_repository import ConfigRepository
from hydra.core.config_store import ConfigStore
from hydra.core.object_type import ObjectType

_load_config = ConfigRepository.load_config
_create_interpolation_map = defaults_list._create_interpolation_map
_parse = lru_cache(10_000)(omegaconf.base.parse)
_loaded: dict[tuple[Any, ...], bytes] = {}


def load_config(self: ConfigRepository, config_path: str) -> Any:
    """The content of a file, a new object each time: unpickling takes a tenth of the time of reading."""
    source = self._find_object_source(config_path, ObjectType.CONFIG)
    if source is None or source.scheme() not in ("file", "pkg"):
        return _load_config(self, config_path)
    key: tuple[Any, ...] = (source.scheme(), source.provider, source.path, config_path)
    if source.scheme() == "file":
        file = os.stat(os.path.join(source.path, source._normalize_file_name(config_path)))
        key += (file.st_ino, file.st_mtime_ns, file.st_size)
    if key not in _loaded:
        _loaded[key] = pickle.dumps(_load_config(self, config_path))
    return pickle.loads(_loaded[key])


def create_interpolation_map(overrides: Any, defaults: list[Any], self_added: bool) -> Any:
    """The choices that an interpolation in a defaults list may name; None for a list without an interpolation."""
    if any(default.is_interpolation() for default in defaults):
        return _create_interpolation_map(overrides, defaults, self_added)
    return None


REPLACEMENTS: tuple[tuple[Any, str, Any], ...] = (
    (ConfigRepository, "load_config", load_config),
    (defaults_list, "_create_interpolation_map", create_interpolation_map),
    (ConfigStore, "__deepcopy__", lambda self, memo: self),  # it copies what it returns
    (omegaconf.base, "parse", _parse),
    (omegaconf._utils, "parse", _parse),
)


def install() -> None:
    """Let this process compose faster."""
    for owner, name, replacement in REPLACEMENTS:
        setattr(owner, name, replacement)
