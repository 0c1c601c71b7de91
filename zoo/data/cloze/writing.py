"""Cloze questions as files in CBT's form."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import datasets

from zoo.data.cloze.readers import cbt_text
from zoo.data.rows import BadRows
from zoo.data.sources import Source
from zoo.errors import DataError

NAMES = {"train": "train", "val": "valid", "test": "test"}
"""What the splits are called in the names of CBT's files."""


def write_cbt(source: Source, folder: Path, kind: str, bad: BadRows) -> list[Path]:
    """The questions of each split in a file of its own, as `data=cbt data.source=FOLDER` reads them; the files. Raises
    DataError where one is there already, or cannot be written; no part of a file is left then."""
    files = {split: folder / f"cbtest_{kind}_{NAMES[split]}.txt" for split in source.splits}
    if there := [file for file in files.values() if file.exists()]:
        raise DataError(f"{there[0]}: is there already, and stays as it is; give a folder without such files")
    unfinished = {split: file.with_name(f".{file.name}.tmp") for split, file in files.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for split, file in unfinished.items():
            bar = datasets.utils.tqdm(desc=files[split].name, unit=" questions", delay=2)
            with file.open("w", encoding="utf-8", newline="\n") as sink, bar:
                for question in source.splits[split](bad):
                    sink.write(cbt_text(question))
                    bar.update()
        for split, file in unfinished.items():
            file.replace(files[split])
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be written: {error.strerror}") from error
    finally:
        for file in unfinished.values():
            with suppress(OSError):
                file.unlink()
    return list(files.values())
