"""Folders and files that are made whole or not at all: prepared data, by one of all processes, and files for users."""

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
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


def write_new(folder: Path, texts: Mapping[str, Iterable[str]]) -> list[Path]:
    """Write the pieces of each text into a file of the folder, by its name: all files or none. Returns the files.
    Raises DataError if a file exists or cannot be written; errors of the pieces pass through."""
    files = {folder / name: pieces for name, pieces in texts.items()}
    if there := [file for file in files if file.exists()]:
        raise DataError(f"{there[0]}: is there already, and stays as it is; give a folder without such files")
    unfinished = {file: file.with_name(f".{file.name}.tmp") for file in files}
    begun, at = not folder.exists(), folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for at, pieces in files.items():
            at.parent.mkdir(parents=True, exist_ok=True)
            with unfinished[at].open("w", encoding="utf-8", newline="\n") as sink:
                sink.writelines(pieces)
        for at, written in unfinished.items():
            written.replace(at)
    except OSError as error:
        raise DataError(f"{at}: cannot be written: {error.strerror}") from error
    finally:
        for written in unfinished.values():
            with suppress(OSError):
                written.unlink()
        made = {file.parent for file in files} | {folder}
        for part in sorted(made, key=lambda part: -len(part.parts)) if begun else ():
            with suppress(OSError):
                part.rmdir()  # empty where nothing was written
    return list(files)
