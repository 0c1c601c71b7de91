"""Cloze questions to batches: from the disk while training, from a text when predicting, through the same padding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Self

import datasets
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.cloze.batch import ClozeBatch
from zoo.data.cloze.options import ClozeTextOptions
from zoo.data.cloze.question import BLANK, ClozeQuestion, Shown
from zoo.data.cloze.readers import parse_line
from zoo.data.cloze.sentences import distinct_sentences
from zoo.data.encoder import Encoder
from zoo.data.stored import ROWS, Rows, StoredSplit, numbers_of, offsets
from zoo.data.text.treebank import Spelling
from zoo.data.text.vocabulary import READ_SPECIAL, Vocabulary
from zoo.errors import DataError

SPECIAL = (*READ_SPECIAL, BLANK)
BLANK_ID = SPECIAL.index(BLANK)


class ClozeEncoder(Encoder):
    """Questions to batches with the vocabulary of the training data; all that a prediction needs of them.

    A question is a `ClozeQuestion`, of which the answer is not read, or a line of text as `parse_line` takes it.
    """

    def __init__(self, vocabulary: Vocabulary, text: ClozeTextOptions) -> None:
        self.vocabulary, self.text = vocabulary, text
        self._spelling = Spelling(vocabulary)  # the official CBT has the marks of the Penn Treebank

    def display(self, question: ClozeQuestion | str) -> Shown:
        """The question as it is written, its words in the positions that they have in the batch."""
        return shown(_read(question))

    def __call__(self, questions: ClozeQuestion | str | Sequence[ClozeQuestion | str]) -> ClozeBatch:
        """A batch without answers. Raises DataError for a question of which no candidate stands in the document: a
        network has nothing to choose from."""
        given = [questions] if isinstance(questions, ClozeQuestion | str) else questions
        read = [_read(question) for question in given]
        texts = tuple(map(shown, read))
        for text in texts:
            if not set(text.candidates) & set(text.document):
                named = ", ".join(map(repr, text.candidates[:5])) or "none"
                raise DataError(f"{' '.join(text.query)[:60]!r}: no candidate stands in the document; found: {named}")
        return batch_of(
            self._ids(text.document for text in texts),
            np.array([len(text.document) for text in texts]),
            self._ids(text.query for text in texts),
            np.array([len(text.query) for text in texts]),
            np.array([number for text in texts for number in occurrences(text.document, text.candidates)], np.int64),
            np.array([len(text.candidates) for text in texts]),
            text=texts,
        )

    def _ids(self, texts: Iterable[Sequence[str]]) -> NDArray[np.int64]:
        """The ids of the words of all texts one after the other."""
        return np.array([number for words in texts for number in self._encode(words)], np.int64)

    def _encode(self, words: Sequence[str]) -> list[int]:
        forms = [word.lower() for word in words] if self.text.lower else list(words)
        ids = self.vocabulary.encode(self._spelling(forms))
        return [BLANK_ID if word == BLANK else number for word, number in zip(words, ids, strict=True)]

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""
        return {"words": self.vocabulary.state(), "text": asdict(self.text)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from."""
        return cls(Vocabulary.from_state(state["words"], SPECIAL), ClozeTextOptions.of(state["text"]))


def _read(question: ClozeQuestion | str) -> ClozeQuestion:
    return parse_line(question) if isinstance(question, str) else question


def shown(question: ClozeQuestion) -> Shown:
    """A question with its document as one run of words."""
    ends = offsets([len(sentence) for sentence in question.sentences])[1:].tolist()
    words = [word for sentence in question.sentences for word in sentence]
    return Shown(words, list(question.query), list(question.candidates), ends)


def occurrences(words: Sequence[str], candidates: Sequence[str]) -> list[int]:
    """For each word the number of the candidate that it is, -1 where it is none; of two that are alike the first."""
    numbers = {candidate: number for number, candidate in reversed(list(enumerate(candidates)))}
    return [numbers.get(word, -1) for word in words]


class EncodedQuestions(StoredSplit):
    """Questions of a prepared split; their lengths are those of the documents."""

    def __init__(self, questions: datasets.Dataset) -> None:
        columns = ("document", "query", "occurrence", "num_candidates", "answer", "evidence")
        texts = (f"shown_{name}" for name in Shown._fields)
        super().__init__(questions, (*columns, *texts), numbers_of(questions, "num_words"))
        self._questions = questions

    def sentences(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Each different sentence of the documents once: the ids of their words one after the other, and how many
        words each has."""
        documents = self._questions.with_format("arrow", columns=["document", "ends"])
        return distinct_sentences(documents.iter(batch_size=ROWS))


def collate(rows: Rows) -> ClozeBatch:
    """Questions from the disk as a batch."""
    names = rows.table.column_names
    (document, document_lengths), (query, query_lengths) = _flat(rows, "document"), _flat(rows, "query")
    text = None
    if "shown_query" in names:
        columns = (rows.table[f"shown_{name}"].to_pylist() for name in Shown._fields)
        text = tuple(Shown(*parts) for parts in zip(*columns, strict=True))
    return batch_of(
        document,
        document_lengths,
        query,
        query_lengths,
        _flat(rows, "occurrence")[0],
        rows.table["num_candidates"].to_numpy(),
        answer=torch.from_numpy(np.array(rows.table["answer"].to_numpy(), np.int64)),
        index=torch.tensor(rows.numbers),
        evidence=_flat(rows, "evidence")[0] if "evidence" in names else None,
        text=text,
    )


def _flat(rows: Rows, column: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The numbers of a column of lists one after the other, and how many each row has."""
    lists = rows.table[column].combine_chunks()
    values = lists.flatten()
    return values.to_numpy(zero_copy_only=False), np.asarray(lists.value_lengths())


def batch_of(
    document: NDArray[Any],
    document_lengths: NDArray[Any],
    query: NDArray[Any],
    query_lengths: NDArray[Any],
    occurrence: NDArray[Any],
    candidates: NDArray[Any],
    *,
    answer: Tensor | None = None,
    index: Tensor | None = None,
    evidence: NDArray[Any] | None = None,
    text: tuple[Shown, ...] | None = None,
) -> ClozeBatch:
    """Pad the word ids of B documents and B queries, each one after the other and cut by their lengths (B,);
    `occurrence` and `evidence` have a value for each word of the documents, `candidates` (B,) are their numbers."""
    mask = _mask(document_lengths)
    return ClozeBatch.of(
        _grid(document, mask, 0),
        torch.from_numpy(mask),
        _grid(query, query_mask := _mask(query_lengths), 0),
        torch.from_numpy(query_mask),
        torch.from_numpy(_mask(candidates)),
        _grid(occurrence, mask, -1),
        answer,
        index=index,
        evidence=None if evidence is None else _grid(evidence, mask, False, np.bool_),
        text=text,
    )


def _mask(lengths: NDArray[Any]) -> NDArray[np.bool_]:
    """(B, at least 1) True in the first places of each row."""
    return np.arange(max(1, int(lengths.max(initial=0)))) < np.asarray(lengths, np.int64)[:, None]


def _grid(values: NDArray[Any], mask: NDArray[np.bool_], empty: int, dtype: type = np.int64) -> Tensor:
    filled: NDArray[Any] = np.full(mask.shape, empty, dtype)
    filled[mask] = values
    return torch.from_numpy(filled)
