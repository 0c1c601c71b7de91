"""Where cloze questions come from besides files of CBT: the hub, folders of .question files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from zoo.data.cloze.question import ClozeQuestion
from zoo.data.cloze.readers import CANDIDATES, query_of, read_questions, usable
from zoo.data.rows import BadRows
from zoo.data.sources import SPLITS, Source, download

HUB = "cam-cst/cbt"
HUB_SPLITS = {"train": "train", "val": "validation", "test": "test"}
FIELDS = ("sentences", "question", "answer", "options")
FOLDERS = {"train": "training", "val": "validation", "test": "test"}
"""Of the .question files."""


def hub_cbt(kind: str) -> Source:
    """The questions of one kind on the Hugging Face hub."""

    def read(split: str, bad: BadRows) -> Iterator[ClozeQuestion]:
        for number, record in enumerate(download(HUB, split, FIELDS, name=kind), 1):
            place = f"{HUB}, {kind}, {split}, row {number}"
            question = ClozeQuestion(
                [words for text in record["sentences"] or () if (words := text.split())],
                query_of(record["question"] or ""),
                [option.strip() for option in record["options"] or ()],
                (record["answer"] or "").strip(),
            )
            if len(list(filter(None, question.candidates))) != CANDIDATES:
                bad(place, "not ten candidates", f"found {question.candidates}")
            elif usable(question, place, bad):
                yield question

    return Source(
        place=HUB,
        description=f"hub: {HUB} {kind}, {{count}} questions",
        identity={"hub": HUB, "config": kind, "splits": dict(HUB_SPLITS)},
        splits={name: partial(read, split) for name, split in HUB_SPLITS.items()},
    )


def question_folders(path: Path, noun: str) -> Source | None:
    """The .question files in `path`/training, validation and test, or in its folder questions; None where there are
    none."""
    inside = next((folder for folder in (path, path / "questions") if (folder / FOLDERS["train"]).is_dir()), None)
    if inside is None:
        return None
    folders = {split: inside / name for split, name in FOLDERS.items() if (inside / name).is_dir()}
    return Source(
        place=str(inside),
        description=f"path: {inside}, {{count}} {noun}",
        identity={"folders": {split: _stamp(folder) for split, folder in folders.items()}},
        splits={split: partial(_read_folder, folders[split]) for split in SPLITS if split in folders},
    )


def _is_question(name: str) -> bool:
    return name.endswith(".question") and not name.startswith(".")


def _read_folder(folder: Path, bad: BadRows) -> Iterator[ClozeQuestion]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if _is_question(entry.name))
    return read_questions((folder / name for name in names), bad)


def _stamp(folder: Path) -> list[Any]:
    """What tells that the files of a folder are still the same. They may be a million: no list of them is kept."""
    with os.scandir(folder) as entries:
        files = {entry.name: entry.stat() for entry in entries if _is_question(entry.name)}
    told = sha256("".join(f"{n} {files[n].st_size} {files[n].st_mtime_ns}\n" for n in sorted(files)).encode())
    return [str(folder.absolute()), len(files), told.hexdigest()]
