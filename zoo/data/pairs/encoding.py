"""Pairs to batches: from the disk while training, from texts when predicting, through the same padding; and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, Self

import datasets
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.encoder import Encoder
from zoo.data.pairs.batch import PairBatch
from zoo.data.pairs.options import PairTextOptions
from zoo.data.stored import Rows, StoredSplit, numbers_of
from zoo.data.text.tokenization import Tokenizer, tokenizer_of
from zoo.data.text.vocabulary import BEGIN, END, PADDING, WRITTEN_SPECIAL, Vocabulary


class Side(NamedTuple):
    """What is needed of one language."""

    tokenizer: Tokenizer
    vocabulary: Vocabulary

    def ids(self, text: str) -> list[int]:
        """The ids of a text's tokens, without the end."""
        return self.vocabulary.encode(self.tokenizer.split(text).forms)


class PairEncoder(Encoder):
    """Texts to batches and ids to texts with the vocabularies and the rules of the training data; all that a prediction
    needs of them."""

    def __init__(self, source: Side, target: Side, text: PairTextOptions, languages: tuple[str, str]) -> None:
        """With `text.joint` both sides have the same vocabulary."""
        self.source, self.target = source, target
        self.text_options, self.languages = text, languages

    # To the model

    def display(self, text: str) -> list[str]:
        """The tokens of a source as they are written, and its end: what the columns of attention stand for."""
        return [*self.source.tokenizer.split(text).shown, WRITTEN_SPECIAL[END]]

    def __call__(self, texts: str | Sequence[str], references: Sequence[str] | None = None) -> PairBatch:
        """A batch of sources, with targets where translations are given. A source may be of any length; one without
        tokens is its end alone."""
        texts = [texts] if isinstance(texts, str) else texts
        return PairBatch.of(
            *padded([self.source.ids(text) for text in texts]),
            *(() if references is None else self.targets(references)),
            begin=BEGIN,
            source_text=tuple(texts),
            target_text=None if references is None else tuple(references),
        )

    def targets(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """The ids of translations (B, T), each with its end, and their mask."""
        return padded([self.target.ids(text) for text in texts])

    # From the model

    def decode(self, ids: Sequence[int] | Tensor) -> list[str]:
        """The target tokens of one sequence of ids (T,), up to its end; begin and padding are left out."""
        ids = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        ids = ids[: ids.index(END)] if END in ids else ids
        return self.target.vocabulary.decode(number for number in ids if number not in (PADDING, BEGIN))

    def text(self, tokens: Sequence[int] | Sequence[str] | Tensor) -> str:
        """The text of one target as plain writing, from its tokens, or from its ids up to their end and without begin
        and padding; what is unknown stays `<unk>`."""
        if isinstance(tokens, Tensor) or (len(tokens) and not isinstance(tokens[0], str)):
            tokens = self.decode(tokens)  # type: ignore[arg-type]
        return self.target.tokenizer.join([str(token) for token in tokens])

    # In a checkpoint

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint; what both sides share stands there once."""
        sides = [self.source] if self.text_options.joint else [self.source, self.target]
        return {
            "text": asdict(self.text_options),
            "languages": list(self.languages),
            "vocabularies": [side.vocabulary.state() for side in sides],
            "learned": [side.tokenizer.state() for side in sides],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from."""
        text = PairTextOptions.of(state["text"])
        vocabularies = [Vocabulary.from_state(words, WRITTEN_SPECIAL) for words in state["vocabularies"]]
        source, target = (
            Side(tokenizer_of(text, language, learned), vocabulary)
            for language, learned, vocabulary in zip(
                state["languages"], _both(state["learned"]), _both(vocabularies), strict=True
            )
        )
        return cls(source, target, text, (state["languages"][0], state["languages"][1]))


def _both(parts: Sequence[Any]) -> list[Any]:
    """One for each side of what they may share."""
    return [parts[0], parts[-1]]


class EncodedPairs(StoredSplit):
    """Pairs of a prepared split; for evaluation with their texts and, where it is known, their alignment."""

    def __init__(self, pairs: datasets.Dataset, *, evaluation: bool) -> None:
        more = ("source_text", "target_text", "aligned_source", "aligned_target") if evaluation else ()
        lengths = np.stack([numbers_of(pairs, "num_source"), numbers_of(pairs, "num_target")], 1)
        super().__init__(pairs, ("source", "target", *more), lengths + 1)  # with their ends


def collate_pairs(rows: Rows) -> PairBatch:
    """Pairs from the disk as a batch."""
    source, target = grid(*_flat(rows, "source")), grid(*_flat(rows, "target"))
    alignment = source_text = target_text = None
    if "aligned_source" in rows.table.column_names:
        (sources, links), (targets, _) = _flat(rows, "aligned_source"), _flat(rows, "aligned_target")
        linked = np.zeros((len(links), target[0].shape[1], source[0].shape[1]), np.bool_)
        linked[np.repeat(np.arange(len(links)), links), targets, sources] = True
        alignment = torch.from_numpy(linked)
    if "source_text" in rows.table.column_names:
        source_text, target_text = (tuple(rows.table[f"{side}_text"].to_pylist()) for side in ("source", "target"))
    return PairBatch.of(
        *source,
        *target,
        begin=BEGIN,
        index=torch.tensor(rows.numbers),
        alignment=alignment,
        source_text=source_text,
        target_text=target_text,
    )


def _flat(rows: Rows, column: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The numbers of a column of lists one after the other, and how many each row has."""
    lists = rows.table[column].combine_chunks()
    return np.asarray(lists.flatten()), np.asarray(lists.value_lengths())


def padded(sequences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Sequences of ids, each with an end put to it, as (B, S), and their mask."""
    ids = np.array([number for sequence in sequences for number in sequence], np.int64)
    return grid(ids, np.array([len(sequence) for sequence in sequences], np.int64))


def grid(ids: NDArray[Any], lengths: NDArray[Any]) -> tuple[Tensor, Tensor]:
    """N ids, cut into B rows of `lengths` (B,), each with an end put to it, as (B, S), and their mask."""
    step = np.arange(lengths.max(initial=0) + 1)
    filled = np.full((len(lengths), len(step)), PADDING, np.int64)
    filled[step < lengths[:, None]] = ids
    filled[np.arange(len(lengths)), lengths] = END
    return torch.from_numpy(filled), torch.from_numpy(step <= lengths[:, None])
