"""Cloze questions as files in CBT's form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import datasets

from zoo.data.cloze.readers import cbt_text
from zoo.data.rows import BadRows
from zoo.data.sources import Source
from zoo.data.writing import write_new
from zoo.errors import DataError

NAMES = {"train": "train", "val": "valid", "test": "test"}
"""What the splits are called in the names of CBT's files."""


def write_cbt(source: Source, folder: Path, kind: str, bad: BadRows) -> list[Path]:
    """The questions of each split in a file of its own, as `data=cbt data.source=FOLDER` reads them; the files. Raises
    DataError for a split without a question, and where a file is there already or cannot be written; no part of one is
    left then."""
    names = {split: f"cbtest_{kind}_{NAMES[split]}.txt" for split in source.splits}
    return write_new(folder, {name: _texts(source, split, name, bad) for split, name in names.items()})


def _texts(source: Source, split: str, name: str, bad: BadRows) -> Iterator[str]:
    with datasets.utils.tqdm(desc=name, unit=" questions", delay=2) as bar:
        any_written = False
        for question in source.splits[split](bad):
            any_written = True
            yield cbt_text(question)
            bar.update()
        if not any_written:
            raise DataError(f"{source.place}: no question in the {split} split, nothing is written")
