"""Documents to batches: from the disk while training, from a text when predicting, through the same padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Self

import datasets
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.documents.batch import DocumentBatch
from zoo.data.stored import Rows, StoredSplit, numbers_of
from zoo.data.text.options import TextOptions
from zoo.data.text.sentences import normal_form, split_text
from zoo.data.text.vocabulary import Vocabulary


class DocumentEncoder:
    """Texts to batches with the vocabulary and the rules of the training data; all that a prediction needs of them."""

    def __init__(self, vocabulary: Vocabulary, text: TextOptions) -> None:
        self.vocabulary = vocabulary
        self.text = text

    def words(self, text: str) -> list[list[str]]:
        """The words of each sentence as they are written, in the positions that they have in the batch."""
        return split_text(text, self.text).sentences

    def __call__(self, texts: str | Sequence[str]) -> DocumentBatch:
        """A batch without labels, one document a text; a text without words is a document without sentences."""
        documents = [
            normal_form(self.words(text), self.text) for text in ([texts] if isinstance(texts, str) else texts)
        ]
        sentences = [sentence for document in documents for sentence in document]
        return batch_of(
            np.array(self.vocabulary.encode(word for sentence in sentences for word in sentence), np.int64),
            offsets([len(sentence) for sentence in sentences]),
            offsets([len(document) for document in documents]),
        )

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""
        return {"words": self.vocabulary.state(), "text": asdict(self.text)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from."""
        return cls(Vocabulary.from_state(state["words"]), TextOptions.of(state["text"]))


class EncodedDocuments(StoredSplit):
    """Documents of a prepared split; for evaluation with their words as they are written."""

    def __init__(self, documents: datasets.Dataset) -> None:
        super().__init__(documents, ("words", "label", "evidence", "written"), numbers_of(documents, "num_words"))


def collate(rows: Rows) -> DocumentBatch:
    """Documents from the disk as a batch."""
    documents = rows.table["words"].combine_chunks()
    sentences = documents.flatten()
    there = rows.table.column_names
    evidence = rows.table["evidence"].combine_chunks().flatten().flatten() if "evidence" in there else None
    return batch_of(
        np.asarray(sentences.flatten()),
        offsets(np.asarray(sentences.value_lengths())),
        offsets(np.asarray(documents.value_lengths())),
        label=torch.from_numpy(np.array(rows.table["label"].to_numpy(), np.int64)),
        index=torch.tensor(rows.numbers),
        evidence=None if evidence is None else np.asarray(evidence),
        written=rows.table["written"].to_pylist() if "written" in there else None,
    )


def offsets(lengths: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
    """Where each of some runs of these lengths begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def batch_of(
    words: NDArray[Any],
    first_word: NDArray[np.int64],
    first_sentence: NDArray[np.int64],
    *,
    label: Tensor | None = None,
    index: Tensor | None = None,
    evidence: NDArray[np.bool_] | None = None,
    written: list[list[list[str]]] | None = None,
) -> DocumentBatch:
    """Pad N word ids, cut into sentences by `first_word` and these into B documents by `first_sentence` (see
    `offsets`)."""
    words_in, sentences_in = np.diff(first_word), np.diff(first_sentence)
    shape = len(sentences_in), max(1, sentences_in.max(initial=0)), max(1, words_in.max(initial=0))
    row = np.arange(len(words_in)) + np.repeat(np.arange(shape[0]) * shape[1] - first_sentence[:-1], sentences_in)
    cell = np.arange(len(words)) + np.repeat(row * shape[2] - first_word[:-1], words_in)

    def grid(values: Any, dtype: type) -> Tensor:
        padded = np.zeros(shape, dtype)
        padded.reshape(-1)[cell] = values
        return torch.from_numpy(padded)

    return DocumentBatch.of(
        grid(words, np.int64),
        grid(True, np.bool_),
        label,
        index=index,
        evidence=None if evidence is None else grid(evidence, np.bool_),
        written=written,
    )
