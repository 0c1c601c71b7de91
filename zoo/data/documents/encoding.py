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
from zoo.data.documents.options import DocumentTextOptions
from zoo.data.encoder import Encoder
from zoo.data.stored import Rows, StoredSplit, numbers_of, offsets
from zoo.data.text.sentences import split_text
from zoo.data.text.tokenization import tokenizer_of
from zoo.data.text.vocabulary import Vocabulary


class DocumentEncoder(Encoder):
    """Texts to batches with the vocabulary and the rules of the training data; all that a prediction needs of them."""

    def __init__(self, vocabulary: Vocabulary, text: DocumentTextOptions, learned: str | None = None) -> None:
        """`learned` is the state of a tokenizer for subwords."""
        self.vocabulary = vocabulary
        self.text = text
        self.tokenizer = tokenizer_of(text, text.language, learned)

    def display(self, text: str) -> list[list[str]]:
        """The words of each sentence as they are written, in the positions that they have in the batch."""
        return split_text(text, self.text, self.tokenizer).sentences

    def __call__(self, texts: str | Sequence[str]) -> DocumentBatch:
        """A batch without labels, one document a text; a text without words is a document without sentences."""
        texts = [texts] if isinstance(texts, str) else texts
        found = [split_text(text, self.text, self.tokenizer) for text in texts]
        sentences = [sentence for document in found for sentence in document.forms]
        return batch_of(
            np.array(self.vocabulary.encode(word for sentence in sentences for word in sentence), np.int64),
            offsets([len(sentence) for sentence in sentences]),
            offsets([len(document.forms) for document in found]),
            text=tuple(document.sentences for document in found),
        )

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""
        return {"words": self.vocabulary.state(), "text": asdict(self.text), "learned": self.tokenizer.state()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from."""
        # Before there were tokenizers to choose from, all were words of English.
        return cls(Vocabulary.from_state(state["words"]), DocumentTextOptions.of(state["text"]), state.get("learned"))


class EncodedDocuments(StoredSplit):
    """Documents of a prepared split."""

    def __init__(self, documents: datasets.Dataset) -> None:
        super().__init__(documents, ("words", "label", "evidence", "text"), numbers_of(documents, "num_words"))


def collate(rows: Rows) -> DocumentBatch:
    """Documents from the disk as a batch."""
    documents = rows.table["words"].combine_chunks()
    sentences = documents.flatten()
    evidence = (
        rows.table["evidence"].combine_chunks().flatten().flatten() if "evidence" in rows.table.column_names else None
    )
    return batch_of(
        np.asarray(sentences.flatten()),
        offsets(np.asarray(sentences.value_lengths())),
        offsets(np.asarray(documents.value_lengths())),
        label=torch.from_numpy(np.array(rows.table["label"].to_numpy(), np.int64)),
        index=torch.tensor(rows.numbers),
        evidence=None if evidence is None else np.asarray(evidence),
        text=tuple(rows.table["text"].to_pylist()) if "text" in rows.table.column_names else None,
    )


def batch_of(
    words: NDArray[Any],
    first_word: NDArray[np.int64],
    first_sentence: NDArray[np.int64],
    *,
    label: Tensor | None = None,
    index: Tensor | None = None,
    evidence: NDArray[np.bool_] | None = None,
    text: tuple[list[list[str]], ...] | None = None,
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
        text=text,
    )
