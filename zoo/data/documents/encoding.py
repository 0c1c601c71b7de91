"""From documents to batches: texts become sentences of words, words become ids, and ids are padded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from torch import Tensor

from zoo.arguments import Count
from zoo.data.documents.batch import DocumentBatch
from zoo.data.notes import key
from zoo.data.parts import Along, Class, Shown, Words
from zoo.data.stored import values_of
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.options import SentenceOptions
from zoo.data.text.sentences import clean, split_sentences, split_text

if TYPE_CHECKING:
    import datasets

FEW = 1000  # With fewer training documents, a word that occurs twice is frequent
SENTENCES, FLAGS = pa.list_(pa.list_(pa.string())), pa.list_(pa.list_(pa.bool_()))


@dataclass(frozen=True)
class DocumentTextOptions(SentenceOptions):
    """How a document becomes sentences of words, and the words ids."""

    minimum_frequency: Count | None = 5  # type: ignore[assignment]
    """Words that occur less often are unknown. None means 5, or 2 with fewer than 1,000 training documents."""


class DocumentEncoder(TableEncoder):
    """Texts, or generated sentences of words, to batches of documents."""

    takes = "a document as text"
    options = DocumentTextOptions
    raw = pa.schema({"text": pa.string(), "sentences": SENTENCES, "evidence": FLAGS, "label": pa.string()})
    given = ("text",)
    parts = (
        Class("label"),
        Words("words", levels=2, lengths="words", outer="sentences", unit="a training sentence"),
        Along("evidence", "words"),
        Shown("text"),
    )
    text_options: DocumentTextOptions

    def typed(self, one: str) -> dict[str, Any]:
        return {"text": one}

    def tokens(self, table: pa.Table) -> pa.Table:
        """Cut texts into sentences of words; `cut` is True if a limit removed anything."""
        columns = {name: table[name] for name in ("label",) if name in table.column_names}
        if "sentences" in table.column_names:
            whole = table["sentences"].to_pylist()
            forms: list[Any] = [self._limited(one) for one in whole]
            written = forms
            cut = [_size(one) < _size(every) for one, every in zip(forms, whole, strict=True)]
            evidence = [self._limited(one) for one in table["evidence"].to_pylist()]
            columns["evidence"] = pa.array(evidence, FLAGS)
        else:
            found = [split_text(one, self.text_options, self.tokenizers["words"]) for one in table["text"].to_pylist()]
            written, forms = [one.sentences for one in found], [one.forms for one in found]
            cut = [one.cut for one in found]
        return pa.table(
            {
                **columns,
                "words": pa.array(forms, SENTENCES),
                "text": pa.array(written, SENTENCES),
                "cut": pa.array(cut, pa.bool_()),
                "key": pa.array(map(key, forms), pa.int64()),
            }
        )

    def _limited(self, sentences: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
        return [words[: self.text_options.max_words] for words in sentences[: self.text_options.max_sentences]]

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> DocumentBatch:
        words, mask = parts["words"]
        return DocumentBatch(words, mask, parts.get("label"), index, parts.get("evidence"), parts.get("text"))

    def display(self, one: str) -> list[list[str]]:
        """The words of each sentence as they are written, in the positions that they have in the batch."""
        return split_text(one, self.text_options, self.tokenizers["words"]).sentences

    def learned_from(self, train: datasets.Dataset, columns: Sequence[str]) -> Iterable[str]:
        texts = map(clean, values_of(train, "text"))
        return chain.from_iterable(
            split_sentences(one, self.text_options.sentences, self.text_options.language) for one in texts
        )

    def minimum_frequency(self, count: int) -> int:
        return self.text_options.minimum_frequency or (2 if count < FEW else 5)


def _size(sentences: Sequence[Sequence[Any]]) -> int:
    return sum(map(len, sentences))
