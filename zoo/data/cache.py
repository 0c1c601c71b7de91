"""Folders that are made once: whole or not at all, by one process, whatever else runs at the same time."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock

from zoo.errors import DataError


def cache_root(cache_dir: str | Path | None = None) -> Path:
    """`cache_dir`, else the environment's ZOO_CACHE, else ~/.cache/attention-zoo."""
    return Path(cache_dir or os.environ.get("ZOO_CACHE") or "~/.cache/attention-zoo").expanduser()


def fingerprint(facts: Mapping[str, Any]) -> str:
    """A short name for plain data: the same for equal data, in any process."""
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def make_once(target: Path, make: Callable[[Path], None]) -> bool:
    """Let `make` fill a temporary folder beside `target`, then give it that name; False where `target` was there
    already.

    Of several processes one works and the others wait. After an error or a kill `target` does not exist; what a kill
    left is removed by the next attempt. Raises DataError where the place cannot be written.
    """
    if target.exists():
        return False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(target.name + ".lock")):
            if target.exists():
                return False
            for stale in target.parent.glob(target.name + ".tmp-*"):
                shutil.rmtree(stale)
            folder = target.with_name(f"{target.name}.tmp-{os.getpid()}")
            folder.mkdir()
            try:
                make(folder)
                if target.exists():  # a file system without locks let another process be first
                    return False
                os.replace(folder, target)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise DataError(
            f"{target}: the prepared data cannot be written here: {error}; "
            "choose another place by data.loader.cache_dir or the environment's ZOO_CACHE"
        ) from error
    return True
