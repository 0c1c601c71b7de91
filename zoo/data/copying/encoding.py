"""Texts and what is written from them to batches, with unknown words numbered for each example, and ids back to texts.

A source is a list of texts: the sentences of a document, the turns of a dialogue, the paragraphs of an article. Stored
ids have the columns of unknown words already, so that a batch only has to be padded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.copying.batch import CopyBatch
from zoo.data.copying.options import CopyTextOptions
from zoo.data.notes import key
from zoo.data.parts import Along, Numbers, Padded, Shown, Stored, Words, flattened, nested
from zoo.data.stored import offsets
from zoo.data.table_encoder import WritingEncoder
from zoo.data.text.links import alignment, covering
from zoo.data.text.vocabulary import BEGIN, END, PADDING, UNKNOWN, WRITTEN_SPECIAL

NUMBERS = pa.list_(pa.int32())
TEXTS = pa.list_(pa.string())
LINKS = ("source_spans", "target_spans", "linked_source", "linked_target", "stating", "distances")
"""Facts that a generator knows: the begin and the end of each of its words in the source, whose texts are joined by a
line feed, and in the target; the numbers of linked words; the target words that state a fact, and its distance."""

LOST = ("lost_source", "lost_target")  # The numbers of tokens that the limits removed


@dataclass(frozen=True)
class SourceWords(Words):
    """Tokens in the vocabulary of written ones, without an end."""

    @property
    def written(self) -> bool:
        return False


class Extended(NamedTuple):
    """Sources with a column for each unknown word."""

    source: NDArray[np.int64]  # (N,) the tokens of all sources in sequence
    words: list[list[str]]  # The unknown words of each source, as it has them
    columns: list[dict[str, int]]  # The column of each of them, by its form


class CopyEncoder(WritingEncoder):
    """Sources, with or without the texts that are written from them, to batches.

    A subclass says in `typed` how an input becomes the columns of `raw`; `source_texts` is required. It may declare
    further parts, and hand their values to its own batch.
    """

    takes = "a text"
    entered: ClassVar[str] = "article"  # The label of the field for a source in a form
    options: ClassVar[Any] = CopyTextOptions
    raw = pa.schema({"source_texts": TEXTS, "target_texts": TEXTS, **dict.fromkeys(LINKS, NUMBERS)})
    given: ClassVar[tuple[str, ...]] = ("source_texts",)
    parts = (
        SourceWords(
            "source",
            special=WRITTEN_SPECIAL,
            lengths="source_tokens",
            unknown="source_unknown_rate",
            unit="a training source",
        ),
        Words("target", special=WRITTEN_SPECIAL, lengths="target_tokens", unknown="target_unknown_rate"),
        Along("sentence", words="source", empty=0, training=False),
        Numbers("aligned_source", training=False),
        Numbers("aligned_target", training=False),
        Along("facts", words="target", empty=0, training=False),
        Shown("unknown_words", training=True),
        Shown("source_texts", training=True),
        Shown("target_texts", training=True),
        *map(Stored, LOST),
    )
    texts = "{}_texts"
    target = "target"
    batches: type[CopyBatch] = CopyBatch
    """The class of its batches."""
    text_options: Any

    def typed(self, one: Any) -> dict[str, Any]:
        """The columns of a text, or of a list of texts."""
        return {"source_texts": [one] if isinstance(one, str) else list(one)}

    def learned_from(self, train: Any, columns: Sequence[str]) -> Any:
        return chain.from_iterable(super().learned_from(train, columns))

    # texts to tokens

    def tokens(self, table: pa.Table) -> pa.Table:
        """Cut the texts into tokens, and turn what a generator knows about words into what is known about tokens."""
        rows = table.to_pylist()
        columns = [self._tokens(row) for row in rows]
        names = columns[0] if columns else ("source", "shown", "sentence")
        found = {name: pa.array([row[name] for row in columns], self._kind(name)) for name in names}
        kept = {name: table[name] for name in ("source_texts", "target_texts") if name in table.column_names}
        keys = [key(("\n".join(row["source_texts"]), "\n".join(row.get("target_texts") or ()))) for row in rows]
        return pa.table({**kept, **found, "key": pa.array(keys, pa.int64())})

    @staticmethod
    def _kind(name: str) -> pa.DataType:
        kinds = {"source": TEXTS, "shown": TEXTS, "target": TEXTS, "cut": pa.bool_(), **dict.fromkeys(LOST, pa.int32())}
        return kinds.get(name, NUMBERS)

    def _tokens(self, row: Mapping[str, Any]) -> dict[str, Any]:
        most, splits = self.text_options.max_source, [self.source_split(text) for text in row["source_texts"]]
        source = [list(chain.from_iterable(getattr(split, name) for split in splits)) for name in ("forms", "shown")]
        sentence = [number for number, split in enumerate(splits) for _ in split.forms]
        forms, shown = source
        found: dict[str, Any] = {"source": forms[:most], "shown": shown[:most], "sentence": sentence[:most]}
        found["lost_source"] = len(forms) - len(found["source"])
        if row.get("target_texts") is not None:
            target = self.target_tokenizer.split(row["target_texts"][0]).forms
            found["target"] = target[: self.text_options.max_target]
            found["lost_target"] = len(target) - len(found["target"])
        if row.get("source_spans") is not None:
            found |= self._known(row, len(found["source"]), len(found["target"]))
        return found | {"cut": any(found.get(name, 0) for name in LOST)}

    def source_split(self, text: str) -> Any:
        """The tokens of one of the texts of a source."""
        return self.tokenizers["source"].split(text)

    def _known(self, row: Mapping[str, Any], sources: int, targets: int) -> dict[str, Any]:
        """Links and facts of a generated example by tokens. `sources` and `targets` are the numbers of kept tokens."""
        spans, begin = list[tuple[int, int]](), 0
        for text in row["source_texts"]:
            spans += [(begin + one, begin + other) for one, other in self.tokenizers["source"].spans(text)]
            begin += len(text) + 1
        source = covering(row["source_spans"], spans)
        target = covering(row["target_spans"], self.target_tokenizer.spans(row["target_texts"][0]))
        pairs = zip(row["linked_source"], row["linked_target"], strict=True)
        links = sorted({(s, t) for one, other in pairs for s in source[one] for t in target[other]})
        links = [(s, t) for s, t in links if s < sources and t < targets]
        facts = [0] * (targets + 1)  # the end states none
        for word, distance in zip(row["stating"], row["distances"], strict=True):
            for token in target[word]:
                if token < targets:
                    facts[token] = distance
        return {"aligned_source": [s for s, _ in links], "aligned_target": [t for _, t in links], "facts": facts}

    # tokens to ids

    def ids(self, table: pa.Table, evaluated: bool = True) -> pa.Table:
        """As in `TableEncoder`, with a column of its own for each unknown word of a source."""
        found = super().ids(table, evaluated)
        sources, lengths = self._unknown(found, table, "source")
        shown, _ = flattened(table["shown"].combine_chunks())
        extended = self._extended(sources, flattened(table["source"].combine_chunks())[0], shown, lengths)
        found = _replaced(found, "source", nested(pa.array(extended.source, pa.int32()), [lengths]))
        if "target" in table.column_names:
            targets, ends = self._unknown(found, table, "target")
            words, row = flattened(table["target"].combine_chunks())[0], np.repeat(np.arange(len(ends)), ends)
            for place in np.flatnonzero(targets == UNKNOWN).tolist():
                targets[place] = extended.columns[row[place]].get(words[place].as_py(), UNKNOWN)
            found = _replaced(found, "target", nested(pa.array(targets, pa.int32()), [ends]))
        return found.append_column("unknown_words", pa.array(extended.words, TEXTS))

    @staticmethod
    def _unknown(found: pa.Table, table: pa.Table, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ids of a part of all rows in sequence, and the length of each row."""
        values, lengths = flattened(found[name].combine_chunks())
        return np.array(values).astype(np.int64), lengths[0]

    def _extended(
        self, ids: NDArray[np.int64], forms: pa.Array, shown: pa.Array, lengths: NDArray[np.int64]
    ) -> Extended:
        places, size = np.flatnonzero(ids == UNKNOWN), len(self.vocabulary)
        row = np.searchsorted(offsets(lengths)[1:], places, side="right")
        words: list[list[str]] = [[] for _ in lengths]
        columns: list[dict[str, int]] = [{} for _ in lengths]
        unknown = zip(places, row.tolist(), *(one.take(places).to_pylist() for one in (forms, shown)), strict=True)
        for place, b, form, written in unknown:
            if form not in columns[b]:
                columns[b][form] = size + len(words[b])
                words[b].append(written)
            ids[place] = columns[b][form]
        return Extended(ids, words, columns)

    # ids to batches

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> CopyBatch:
        return self.batches(**self.fields(parts), index=index)

    def fields(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a batch, from collated parts."""
        size, (extended, mask) = len(self.vocabulary), parts["source"]
        found: dict[str, Any] = {"source": known_ids(extended, size), "source_mask": mask, "extended": extended}
        found |= {"sentence": parts.get("sentence"), "begin": BEGIN}
        if "target" in parts:
            copied, target_mask = parts["target"]
            found |= {"target": known_ids(copied, size), "target_mask": target_mask, "copied": copied}
            found["facts"] = parts.get("facts")
        if "aligned_source" in parts:
            sides: tuple[Padded, Padded] = parts["target"], parts["source"]
            found["alignment"] = alignment(*sides, parts["aligned_target"], parts["aligned_source"])
        for name in ("unknown_words", "source_texts", "target_texts"):
            if name in parts:
                found[name] = tuple(map(tuple, parts[name]))
        return found

    def display(self, one: Any) -> list[str]:
        """The source tokens of an input as they are written, in the order of the columns of attention."""
        return self._tokens(self.typed(one))["shown"]

    def decode(self, ids: Sequence[int] | Tensor, unknown: Sequence[str] = ()) -> list[str]:
        """The tokens of a sequence of ids (T,) up to its end. `unknown` are the words of the columns from V on."""
        ids = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        ids = ids[: ids.index(END)] if END in ids else ids
        words, size = self.target_vocabulary.words, len(self.target_vocabulary)
        return [words[one] if one < size else unknown[one - size] for one in ids if one not in (PADDING, BEGIN)]


def known_ids(ids: Tensor, size: int) -> Tensor:
    """Ids (...) with `unknown` in place of the columns from `size` on, those of unknown words."""
    return ids.where(ids < size, torch.full_like(ids, UNKNOWN))


def _replaced(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, column)
