"""Documents with one class each: what every corpus of them shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import datasets
import numpy as np
from numpy.typing import NDArray

from zoo.data.documents.classes import check_found, natural_order
from zoo.data.documents.encoding import DocumentEncoder
from zoo.data.documents.options import DocumentTextOptions
from zoo.data.documents.sources import DocumentSource
from zoo.data.documents.spec import DocumentSpec
from zoo.data.order import Nouns
from zoo.data.reading import Reading
from zoo.data.stored import count_words, values_of
from zoo.data.table_data import shortened
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.vectored import Vectored


class DocumentData(Vectored[DocumentSource]):
    """Documents with one class each."""

    tasks: ClassVar[tuple[str, ...]] = ("classification",)
    nouns: ClassVar[Nouns] = Nouns("documents", "words")
    encoding = DocumentEncoder
    text_options = DocumentTextOptions
    length_parts = ("words",)
    text: DocumentTextOptions
    spec: DocumentSpec
    encoder: DocumentEncoder

    def _facts(self, source: DocumentSource) -> dict[str, Any]:
        return super()._facts(source) | {"classes": list(source.classes or ())}

    def examples(self, rows: Iterator[Any], source: DocumentSource, reading: Reading) -> Iterator[dict[str, Any]]:
        count = 0
        for row in rows:
            label = row.label if isinstance(row.label, str) else (source.classes or ())[row.label]
            if source.classes is None and not reading.knows(label, row.place, self.nouns.examples):
                continue
            count += 1
            if source.generated:
                yield {"sentences": row.sentences, "evidence": row.evidence, "label": label}
            else:
                yield {"text": row.text, "label": label}
        if source.classes is None and reading.training and count:
            check_found(list(reading.labels), source.place, count)

    def finish(self, encoder: TableEncoder, source: DocumentSource, splits: Mapping[str, datasets.Dataset]) -> None:
        encoder.classes = list(source.classes or natural_order(count_words(splits["train"], "label")))

    def strata(self, train: datasets.Dataset) -> NDArray[Any]:
        return np.array(list(values_of(train, "label")))

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = DocumentSpec(vocabulary_size=about["vocabulary_size"], classes=tuple(about["classes"]))

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"label": row["label"], "text": shortened(row["words"])}
