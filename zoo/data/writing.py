"""Files that are written for users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from zoo.errors import DataError


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
