"""Cloze questions to batches."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from zoo.arguments import Count
from zoo.data.cloze.batch import BLANK, ClozeBatch, ClozeQuestion, Shown
from zoo.data.cloze.readers import parse_line
from zoo.data.options import Options
from zoo.data.parts import Along, Number, Stored, Words, lowered
from zoo.data.parts import Shown as ShownPart
from zoo.data.stored import list_array, offsets
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.options import Size
from zoo.data.text.vocabulary import READ_SPECIAL
from zoo.errors import DataError

SPECIAL = (*READ_SPECIAL, BLANK)
BLANK_ID = SPECIAL.index(BLANK)
WORDS = pa.list_(pa.string())


@dataclass(frozen=True)
class ClozeTextOptions(Options):
    """How the words of the files become ids. Candidates are found by their spelling, whatever these options are."""

    group: ClassVar[str] = "text"
    tokenizer: ClassVar[str] = "whitespace"
    subwords: ClassVar[bool] = False
    treebank: ClassVar[bool] = False

    lower: bool = False
    """Whether words that differ only in case have one vector."""
    minimum_frequency: Count = 1
    """Words that occur less often in the training questions are unknown."""
    vocabulary_size: Size | None = None
    """The most words, including the special ones; the rarest are unknown. None: no limit."""


class ClozeEncoder(TableEncoder):
    """Questions to batches. A question is a `ClozeQuestion`, whose answer is ignored, or a line that `parse_line`
    reads."""

    takes = "a text with XXXXX in place of the missing word, or a ClozeQuestion"
    options = ClozeTextOptions
    raw = pa.schema(
        {
            "document": WORDS,
            "query": WORDS,
            "candidates": WORDS,
            "sentence_ends": pa.list_(pa.int32()),
            "answer": pa.int32(),
            "key": pa.int64(),
            "evidence": pa.list_(pa.bool_()),
        }
    )
    given = Shown._fields
    parts = (
        Words("document", special=SPECIAL, lengths="words"),
        Words("query", special=SPECIAL, spelled=(BLANK,), lengths="query_words"),
        Along("occurrence", "document", empty=-1),
        Along("evidence", "document"),
        Number("num_candidates"),
        Number("answer"),
        ShownPart("shown"),
        *map(Stored, ("ends", "first", "frequent")),
    )
    cuts = False
    treebank_marks = True  # the official CBT has them
    text_options: ClozeTextOptions

    def typed(self, one: ClozeQuestion | str) -> dict[str, Any]:
        text = self.display(one)
        if not set(text.candidates) & set(text.document):
            named = ", ".join(map(repr, text.candidates[:5])) or "none"
            raise DataError(f"{' '.join(text.query)[:60]!r}: no candidate is in the document; found: {named}")
        return text._asdict()

    def display(self, one: ClozeQuestion | str) -> Shown:
        """The written question, with its words in their positions in the batch."""
        return shown(parse_line(one) if isinstance(one, str) else one)

    def __call__(self, inputs: ClozeQuestion | str | Sequence[ClozeQuestion | str]) -> ClozeBatch:
        """A batch without answers. Raises DataError for a question without a candidate in its document."""
        return super().__call__([inputs] if isinstance(inputs, ClozeQuestion | str) else inputs)

    def tokens(self, table: pa.Table) -> pa.Table:
        """The words as the vocabulary has them, and the number of the candidate at each word of a document."""
        columns = {name: table[name] for name in ("answer", "evidence", "key") if name in table.column_names}
        texts = {name: table[name].combine_chunks() for name in Shown._fields}
        for side in ("document", "query"):
            words = texts[side].flatten()
            if self.text_options.lower:
                words = pc.if_else(pc.equal(words, BLANK), words, lowered(words))
            columns[side] = list_array(words, pc.list_value_length(texts[side]))
        pairs = zip(texts["document"].to_pylist(), texts["candidates"].to_pylist(), strict=True)
        found = [occurrences(document, candidates) for document, candidates in pairs]
        if "answer" in columns:
            answers = zip(found, columns["answer"].to_pylist(), strict=True)
            columns["first"] = pa.array([row.index(one) if one in row else -1 for row, one in answers], pa.int32())
        many = pc.list_value_length(texts["candidates"])
        return pa.table(
            {
                **columns,
                "occurrence": pa.array(found, pa.list_(pa.int16())),
                "num_candidates": many,
                "shown": pa.StructArray.from_arrays(list(texts.values()), list(texts)),
                "ends": texts["sentence_ends"],
                "frequent": pa.array(map(most_of, found, many.to_pylist()), pa.int32()),
            }
        )

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> ClozeBatch:
        document, query, text = parts["document"], parts["query"], parts.get("shown")
        counts = parts["num_candidates"]
        candidates = torch.arange(max(1, int(counts.max()) if len(counts) else 0)) < counts[:, None]
        return ClozeBatch(
            document.values,
            document.mask,
            query.values,
            query.mask,
            candidates,
            parts["occurrence"],
            parts.get("answer"),
            index=index,
            evidence=parts.get("evidence"),
            text=text and tuple(Shown(**one) for one in text),
        )

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint. A saved re-ranking identifies the vocabulary by them."""
        return {"words": self.vocabulary.state(), "text": asdict(self.text_options)}


def shown(question: ClozeQuestion) -> Shown:
    """A question with its document as one list of words."""
    ends = offsets([len(sentence) for sentence in question.sentences])[1:].tolist()
    words = [word for sentence in question.sentences for word in sentence]
    return Shown(words, list(question.query), list(question.candidates), ends)


def occurrences(words: Sequence[str], candidates: Sequence[str]) -> list[int]:
    """The number of the candidate at each word, -1 at other words. The first of two equal candidates counts."""
    numbers = {candidate: number for number, candidate in reversed(list(enumerate(candidates)))}
    return [numbers.get(word, -1) for word in words]


def most_of(occurrence: Sequence[int], candidates: int) -> int:
    """The most frequent number in `occurrence`, out of `candidates` numbers."""
    found = np.asarray(occurrence, np.int64)
    return int(np.bincount(found[found >= 0], minlength=candidates).argmax())
