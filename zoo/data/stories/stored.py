"""Stories on the disk: each distinct sentence once, and a story as a run of their numbers.

A statement is stored once, however many questions follow it, and batches are made by index arithmetic.
"""

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from pyarrow import feather

from zoo.data.stored import Rows, StoredSplit, list_array, numbers_of, spread
from zoo.data.stories.encoding import WORDS, StoryEncoder, StoryTextOptions
from zoo.data.stories.story import Shown
from zoo.data.text.tokenization import Tokens

SENTENCES, STATEMENTS = "sentences.arrow", "statements.npy"


class SentenceStore:
    """The distinct sentences of all splits, and the statements of all stories, while stories are prepared."""

    def __init__(self, folder: Path, text: StoryTextOptions) -> None:
        self._folder, self._text = folder, text
        self._numbers: dict[str, int] = {}
        self.sentences: list[Tokens] = []
        self.cut: list[bool] = []
        """True at sentences that are longer than the limit."""
        self.statements = array("i")
        """The number of the sentence of each statement, story by story."""

    def add(self, sentence: str) -> int:
        """The number of a sentence."""
        number = self._numbers.setdefault(sentence, len(self._numbers))
        if number == len(self.sentences):
            words, cut = self._text.cut(sentence)
            self.sentences.append(words)
            self.cut.append(cut)
        return number

    def used(self, first: NDArray[Any], last: NDArray[Any], asked: NDArray[Any]) -> NDArray[np.int64]:
        """(U,) how often each sentence occurs in questions and their stories. A statement counts once, however many
        questions follow it."""
        change = np.zeros(len(self.statements) + 1, np.int64)
        np.add.at(change, first, 1)
        np.add.at(change, last, -1)
        statements = np.array(self.statements)[change.cumsum()[:-1] > 0]
        return np.bincount(np.concatenate([statements, asked]), minlength=len(self.sentences))

    def save(self, encoder: StoryEncoder) -> pa.Table:
        """Write the sentences as ids and as they are written, and the statements; the table of the sentences."""
        shown, forms = (pa.array(words, WORDS) for words in zip(*self.sentences, strict=True))
        found = encoder.ids(pa.table({"question": forms})).append_column("shown", shown)
        feather.write_feather(found, self._folder / SENTENCES, compression="uncompressed", chunksize=len(found))
        np.save(self._folder / STATEMENTS, np.array(self.statements))
        return found


class StoredStories(StoredSplit):
    """The questions of a prepared split with their stories."""

    def __init__(
        self, questions: datasets.Dataset, columns: Sequence[str], lengths: ArrayLike, folder: Path, *, shown: bool
    ) -> None:
        """`columns` are those of the questions; with `shown` there are also the words as they are written."""
        super().__init__(questions, columns, lengths)
        table = questions.data.table
        self._columns = {name: table[name].combine_chunks() for name in columns}  # in memory: a few numbers each
        self._first, self._last, self._asked = (numbers_of(questions, name) for name in ("first", "last", "asked"))
        sentences = feather.read_table(folder / SENTENCES, memory_map=True)
        self._ids = sentences["question"].chunk(0)
        self._shown = sentences["shown"].chunk(0) if shown else None
        self._statements: NDArray[np.int32] = np.asarray(np.load(folder / STATEMENTS, mmap_mode="r"))

    def __getitems__(self, index: list[int]) -> Rows:
        rows = np.array(index)
        first, asked, at = self._first[rows], pa.array(self._asked[rows]), pa.array(rows)
        count = self._last[rows] - first
        statements = pa.array(self._statements[spread(first, count)])
        columns = {name: column.take(at) for name, column in self._columns.items()}
        columns |= {"story": list_array(self._ids.take(statements), count), "question": self._ids.take(asked)}
        if self._shown is not None:
            shown = [list_array(self._shown.take(statements), count), self._shown.take(asked)]
            columns["shown"] = pa.StructArray.from_arrays(shown, Shown._fields)
        return Rows(pa.table(columns), index)
