"""Stories on the disk: each distinct sentence once, a story as a run of their numbers, a question as a place in it.

All are plain arrays that are mapped into memory, so that a batch is made by index arithmetic, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zoo.data.stored import StoredSplit, offsets, spread

Numbers = NDArray[Any]
SHOWN = "shown.arrow"


@dataclass(frozen=True)
class Sentences:
    """The distinct sentences of all splits, statements and questions."""

    words: Numbers
    """(N,) word ids, sentence after sentence."""
    first_word: Numbers
    """(U + 1,) where each sentence begins, and the last one ends."""

    @property
    def lengths(self) -> Numbers:
        """(U,) words of each sentence."""
        return np.diff(self.first_word)

    def save(self, folder: Path, shown: Sequence[list[str]]) -> None:
        """Write them, and their words as they were written, into a new folder."""
        _save(self, folder)
        table = pa.table({"shown": pa.array(shown, pa.list_(pa.string()))})
        with pa.OSFile(str(folder / SHOWN), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Those that `save` wrote, mapped into memory."""
        return cls(**_load(cls, folder))


def shown_sentences(folder: Path) -> pa.ChunkedArray:
    """The words of each sentence as they were written, mapped into memory."""
    return pa.ipc.open_file(pa.memory_map(str(folder / SHOWN))).read_all()["shown"]


@dataclass(frozen=True)
class Questions:
    """The questions of one split, and the stories that they are about."""

    told: Numbers
    """(M,) the number of the sentence of each statement, story after story."""
    first: Numbers
    """(Q,) where in `told` the memory of each question begins."""
    last: Numbers
    """(Q,) where it ends: what is told later it does not know."""
    asked: Numbers
    """(Q,) the number of the sentence that it is."""
    answer: Numbers
    """(Q,) vocabulary id."""
    task: Numbers
    """(Q,) number of its task among those of the spec."""
    supporting: Numbers
    """Places in `told` of the statements that the answers follow from, question after question."""
    first_supporting: Numbers
    """(Q + 1,) where in `supporting` those of each question begin, and where the last one's end."""

    def __len__(self) -> int:
        return len(self.asked)

    def chosen(self, which: Numbers) -> Questions:
        """Those at the places `which`, with what their stories tell."""
        known = covered(self.first[which], self.last[which], len(self.told))
        place = offsets(known)
        supporting, count = runs(self.first_supporting, which)
        return Questions(
            told=self.told[known],
            first=place[self.first[which]],
            last=place[self.last[which]],
            asked=self.asked[which],
            answer=self.answer[which],
            task=self.task[which],
            supporting=place[self.supporting[supporting]],
            first_supporting=offsets(count),
        )

    def save(self, folder: Path) -> None:
        """Write them into a new folder."""
        _save(self, folder)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Those that `save` wrote, mapped into memory."""
        return cls(**_load(cls, folder))


def _save(arrays: Any, folder: Path) -> None:
    folder.mkdir()
    for field in fields(arrays):
        values = getattr(arrays, field.name)
        small = len(values) == 0 or int(values.max()) < 2**31
        np.save(folder / f"{field.name}.npy", values.astype(np.int32 if small else np.int64))


def _load(cls: Any, folder: Path) -> dict[str, Numbers]:
    return {field.name: np.load(folder / f"{field.name}.npy", mmap_mode="r") for field in fields(cls)}


def runs(first: Numbers, which: Numbers) -> tuple[Numbers, Numbers]:
    """The places in some runs, one run after the other, and how many each has; `first` (R + 1,) says where all runs
    begin and the last one ends, `which` are the numbers of those that are wanted."""
    begin = first[which].astype(np.int64)
    count = first[which + 1] - begin
    return spread(begin, count), count


def covered(first: Numbers, last: Numbers, size: int) -> NDArray[np.bool_]:
    """(size,) True at the places that lie in any of the ranges from `first` to before `last`."""
    change = np.zeros(size + 1, np.int64)
    np.add.at(change, first, 1)
    np.add.at(change, last, -1)
    return change.cumsum()[:-1] > 0


class Asked(NamedTuple):
    """Some questions of a prepared split."""

    stories: EncodedStories
    numbers: list[int]
    """Which of the split they are."""


class EncodedStories(StoredSplit):
    """Questions of a prepared split; for evaluation with their words as they were written."""

    def __init__(self, questions: Questions, sentences: Sentences, shown: pa.ChunkedArray | None = None) -> None:
        """No more of a `StoredSplit` is needed than its lengths and its rows, and these are no Arrow table here."""
        self.questions, self.sentences, self.shown = questions, sentences, shown
        self.supported = bool(len(questions.supporting))
        """Whether the data knows what the answers follow from."""
        words = sentences.lengths
        until = offsets(words[questions.told])
        self.lengths = words[questions.asked] + until[questions.last] - until[questions.first]

    def __len__(self) -> int:
        return len(self.questions)

    def __getitem__(self, index: int) -> Asked:  # type: ignore[override]
        return self.__getitems__([index])

    def __getitems__(self, index: list[int]) -> Asked:  # type: ignore[override]
        return Asked(self, index)
