"""Cloze questions as files in the format of CBT."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import datasets

from zoo.data.cloze.question import ClozeQuestion
from zoo.data.cloze.readers import SENTENCES
from zoo.data.rows import BadRows
from zoo.data.sources import Source
from zoo.data.writing import write_new
from zoo.errors import DataError

NAMES = {"train": "train", "val": "valid", "test": "test"}
"""The names of the splits in the names of CBT's files."""


def write_cbt(source: Source, folder: Path, kind: str, bad: BadRows) -> list[Path]:
    """Write the questions of each split into a file that `data=cbt data.source=FOLDER` reads. Returns the files. Raises
    DataError for a split without a question, and if a file exists or cannot be written; no file remains then."""
    names = {split: f"cbtest_{kind}_{NAMES[split]}.txt" for split in source.splits}
    return write_new(folder, {name: _texts(source, split, name, bad) for split, name in names.items()})


def _texts(source: Source, split: str, name: str, bad: BadRows) -> Iterator[str]:
    with datasets.utils.tqdm(source.splits[split](bad), desc=name, unit=" questions", delay=2) as questions:
        written = False
        for question in questions:
            yield cbt_text(question)
            written = True
    if not written:
        raise DataError(f"{source.place}: no question in the {split} split, nothing is written")


def cbt_text(question: ClozeQuestion) -> str:
    """A question in the format of CBT, with the blank line that ends it. `read_cbt` reads it again."""
    # Sentences without a word were left out.
    sentences = [*question.sentences, *[[]] * (SENTENCES - len(question.sentences))]
    lines = [f"{number} {' '.join(words)}" for number, words in enumerate(sentences, 1)]
    last = f"{len(lines) + 1} {' '.join(question.query)}\t{question.answer or ''}\t\t{'|'.join(question.candidates)}"
    return "\n".join([*lines, last, "", ""])
