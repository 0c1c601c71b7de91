"""Folders that are made once: whole or not at all, by one process, whatever else runs at the same time."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from filelock import FileLock

from zoo.errors import DataError

ONLY_WRITING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""Errors that no reading has: a full disk, a used-up quota, too large a file, a disk that cannot be written."""


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
    left is removed by the next attempt. Raises DataError where the place cannot be written, and where `make` comes upon
    a file that cannot be read.
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
                _fill(folder, make)
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


@contextmanager
def steps_beside(folder: Path) -> Iterator[Path]:
    """An empty folder on the disk of `folder`, which `make_once` has filled, for what is needed on the way alone; it is
    removed at the end, or, after a kill, by the next attempt."""
    with TemporaryDirectory(prefix=f"{folder.name}-steps-", dir=folder.parent, ignore_cleanup_errors=True) as steps:
        yield Path(steps)


def _fill(folder: Path, make: Callable[[Path], None]) -> None:
    """`make(folder)`, an OSError of which tells that it cannot write. Raises DataError for any other."""
    try:
        make(folder)
    except OSError as error:
        told = f"{error.filename} {error.filename2} {error}"  # some libraries name the file in the message alone
        if error.errno in ONLY_WRITING or folder.name in told:
            raise
        named = f"{error.filename}: cannot be read: {error.strerror}"
        what = f"an example cannot be read: {error}" if error.filename is None else named
        raise DataError(f"{what}; see that its file is there, whole and yours to read, and run again") from error
