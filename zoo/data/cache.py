"""Folders that are made once: whole or not at all, by one of all processes that run at the same time."""

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
"""Errors that only writing has: a full disk, a used quota, a file that is too large, a disk that is read-only."""


def cache_root(cache_dir: str | Path | None = None) -> Path:
    """`cache_dir`, else the environment's ZOO_CACHE, else ~/.cache/attention-zoo."""
    return Path(cache_dir or os.environ.get("ZOO_CACHE") or "~/.cache/attention-zoo").expanduser()


def fingerprint(facts: Mapping[str, Any]) -> str:
    """A short name for plain data, which is the same in every process."""
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def make_once(target: Path, make: Callable[[Path], None]) -> bool:
    """Let `make` fill a temporary folder beside `target`, then rename it; False if `target` existed already.

    One of several processes works and the others wait. After an error or a kill `target` does not exist; the next
    attempt removes what a kill left. Raises DataError if the place cannot be written, or if `make` meets a file that
    cannot be read.
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
                if target.exists():  # without locks of the file system another process was faster
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
    """An empty folder beside `folder`, for files that are needed only while `make_once` fills it. It is removed at the
    end or, after a kill, by the next attempt."""
    with TemporaryDirectory(prefix=f"{folder.name}-steps-", dir=folder.parent, ignore_cleanup_errors=True) as steps:
        yield Path(steps)


def _fill(folder: Path, make: Callable[[Path], None]) -> None:
    """Call `make(folder)`. An OSError of writing passes through; any other becomes a DataError."""
    try:
        make(folder)
    except OSError as error:
        named = f"{error.filename} {error.filename2} {error}"  # some libraries name the file only in the message
        if error.errno in ONLY_WRITING or folder.name in named:
            raise
        found = f"{error.filename}: cannot be read: {error.strerror}"
        problem = f"an example cannot be read: {error}" if error.filename is None else found
        raise DataError(f"{problem}; check that its file exists, is whole and can be read, and run again") from error
