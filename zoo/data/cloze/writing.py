"""Cloze questions as files in CBT's form."""

from __future__ import annotations

from pathlib import Path

import datasets

from zoo.data.cloze.readers import cbt_text
from zoo.data.rows import BadRows
from zoo.data.sources import Source

NAMES = {"train": "train", "val": "valid", "test": "test"}
"""What the splits are called in the names of CBT's files."""


def write_cbt(source: Source, folder: Path, kind: str, bad: BadRows) -> list[Path]:
    """The questions of each split in a file of its own, as `data=cbt data.source=FOLDER` reads them; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for split, read in source.splits.items():
        path = folder / f"cbtest_{kind}_{NAMES[split]}.txt"
        bar = datasets.utils.tqdm(desc=path.name, unit=" questions", delay=2)
        with path.open("w", encoding="utf-8", newline="\n") as file, bar:
            for question in read(bad):
                file.write(cbt_text(question))
                bar.update()
        files.append(path)
    return files
