"""The base class of all data of documents with one class each."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import datasets
import numpy as np
from numpy.typing import NDArray

from zoo.data.documents.batch import DocumentSpec
from zoo.data.documents.encoding import DocumentEncoder, DocumentTextOptions
from zoo.data.documents.readers import Row
from zoo.data.order import Nouns
from zoo.data.sources import Reading, Source
from zoo.data.stored import count_words, values_of
from zoo.data.table_data import shortened
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.vectored import Vectored
from zoo.errors import DataError


class DocumentData(Vectored):
    """Documents with one class each."""

    tasks: ClassVar[tuple[str, ...]] = ("classification",)
    nouns: ClassVar[Nouns] = Nouns("documents", "words")
    encoding = DocumentEncoder
    text_options = DocumentTextOptions
    length_parts = ("words",)
    text: DocumentTextOptions
    spec: DocumentSpec
    encoder: DocumentEncoder

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"classes": list(source.classes or ())}

    def examples(self, rows: Iterator[Any], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        count = 0
        for row in rows:
            label = row.label if source.classes is None else source.classes[row.label]
            if source.classes is None and not reading.knows(label, row.place, self.nouns.examples):
                continue
            count += 1
            if isinstance(row, Row):
                yield {"text": row.text, "label": label}
            else:
                yield {"sentences": row.sentences, "evidence": row.evidence, "label": label}
        if source.classes is None and reading.training and count:
            _check_classes(list(reading.labels), source.place, count)

    def finish(self, encoder: TableEncoder, source: Source, splits: Mapping[str, datasets.Dataset]) -> None:
        encoder.classes = list(source.classes or natural_order(count_words(splits["train"], "label")))

    def strata(self, train: datasets.Dataset) -> NDArray[Any]:
        return np.array(list(values_of(train, "label")))

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = DocumentSpec(vocabulary_size=about["vocabulary_size"], classes=tuple(about["classes"]))

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"label": row["label"], "text": shortened(row["words"])}


def _check_classes(names: Sequence[str], where: str, rows: int) -> None:
    """Raise DataError if the labels of `rows` training documents cannot be classes."""
    if len(names) < 2:
        raise DataError(
            f"{where}: all {rows:,} documents have the label {names[0]!r}; at least two classes are expected"
        )
    if len(names) > max(50, rows // 2):
        raise DataError(
            f"{where}: {len(names):,} different labels in {rows:,} documents, such as {names[0]!r} and {names[1]!r}; "
            "is data.label_column the column of the classes?"
        )


def natural_order(names: Iterable[str]) -> list[str]:
    """Names in their natural order. If all are numbers, they have the order of numbers; otherwise the numbers inside
    them do."""
    found = list(names)
    try:
        numbers = {name: float(name) for name in found}
    except ValueError:
        numbers = {}
    if numbers and all(map(math.isfinite, numbers.values())):
        return sorted(found, key=numbers.__getitem__)
    return sorted(found, key=_text_and_numbers)


def _text_and_numbers(name: str) -> Any:
    parts = re.split(r"(\d+)", name.casefold())
    return [int(part) if n % 2 else part for n, part in enumerate(parts)], name
