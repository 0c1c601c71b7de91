"""From a source of documents to ids on the disk, once: rows -> words -> vocabulary of the training split -> ids."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zoo.data.documents.readers import Row
from zoo.data.documents.sources import DocumentSource, Sample
from zoo.data.options import SplitOptions
from zoo.data.rows import BadRows, closest
from zoo.data.stored import count_words, draw_splits, histogram, map_split, numbers_of, save, write_rows
from zoo.data.text.options import TextOptions
from zoo.data.text.sentences import normal_form, split_text
from zoo.data.text.vocabulary import SPECIAL, UNKNOWN, Vocabulary
from zoo.errors import DataError

FORMAT = 2
"""Raise it with every change of what is stored or of how text becomes words: older caches are then left alone."""
VOCABULARY, DOCUMENTS = "vocabulary.json", "documents"

WORDS = pa.list_(pa.list_(pa.string()))
EVIDENCE = pa.list_(pa.list_(pa.bool_()))


def prepare(
    folder: Path,
    source: DocumentSource,
    text: TextOptions,
    split: SplitOptions,
    on_bad_row: Literal["error", "skip"] = "error",
) -> dict[str, Any]:
    """Write the documents of `source` into an empty folder; their description. Raises DataError for what cannot be
    used."""
    bad, classes = BadRows(on_bad_row), Classes(source.classes)
    splits = {}
    for name, read in source.splits.items():
        file = folder / f"{name}.arrow"
        count = _write(file, source, read(bad), text, classes, bad)
        if not count:
            skipped = f"; left out: {dict(bad.problems)}" if bad.total else ""
            raise DataError(f"{source.place}: no document in the {name} split{skipped}")
        classes.close(source.place, count)
        splits[name] = datasets.Dataset.from_file(str(file))
    if not source.generated:
        splits = {name: _split_into_words(part, text, folder / f"{name}-words.arrow") for name, part in splits.items()}
    splits = draw_splits(splits, split, source.place, "documents")
    vocabulary = Vocabulary.of_counts(count_words(splits["train"], "sentences"), text.minimum_frequency)
    if not vocabulary.state():
        raise DataError(f"{source.place}: no word occurs {text.minimum_frequency} times (data.text.minimum_frequency)")
    order = classes.order()
    encode = partial(encode_table, words=pa.array(vocabulary.state()), label=pa.array(np.argsort(order), pa.int64()))
    encoded = {
        name: map_split(
            part, partial(encode, written=name != "train"), folder / f"{name}-ids.arrow", f"{name}: numbering the words"
        )
        for name, part in splits.items()
    }
    save(encoded, folder / DOCUMENTS)
    names = [classes.names[number] for number in order]
    about = {
        "source": source.description.replace("{count}", f"{sum(map(len, encoded.values())):,}"),
        "classes": names,
        "vocabulary_size": len(vocabulary),
        "skipped": dict(bad.problems),
        "splits": {name: describe(part, names) for name, part in encoded.items()},
        "examples": _examples(splits["train"], classes),
    }
    (folder / VOCABULARY).write_text(json.dumps(vocabulary.state(), ensure_ascii=False), "utf-8")
    return about


def _examples(part: datasets.Dataset, classes: Classes) -> list[dict[str, str]]:
    first = part.with_format(None).select(range(min(3, len(part))))
    texts = [" ".join(word for sentence in document["sentences"] for word in sentence) for document in first]
    return [
        {"label": classes.names[document["label"]], "text": text if len(text) <= 300 else text[:300] + " ..."}
        for document, text in zip(first, texts, strict=True)
    ]


class Classes:
    """Class names: given, or collected from the first split that is read."""

    def __init__(self, given: tuple[str, ...] | None) -> None:
        self.given = given is not None
        self.names = list(given or ())
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._closed = self.given

    def number(self, row: Row, bad: BadRows) -> int | None:
        """The class of a row; None, once reported, for one that the first split did not have."""
        if isinstance(row.label, int):
            return row.label
        if row.label not in self._numbers:
            if self._closed:
                found = f"{row.label!r} does not occur in the training documents, where there are "
                bad(
                    row.place,
                    "unknown label",
                    found + ", ".join(map(repr, self.names)) + closest(row.label, self.names),
                )
                return None
            self._numbers[row.label] = len(self.names)
            self.names.append(row.label)
        return self._numbers[row.label]

    def close(self, where: str, rows: int) -> None:
        """Take no more names. Raises DataError for names that are no classes."""
        if not self._closed and len(self.names) < 2:
            raise DataError(
                f"{where}: all {rows:,} documents have the label {self.names[0]!r}; at least two classes are expected"
            )
        if not self._closed and len(self.names) > max(50, rows // 2):
            raise DataError(
                f"{where}: {len(self.names):,} different labels in {rows:,} documents, such as {self.names[0]!r} and "
                f"{self.names[1]!r}; is data.label_column the column of the classes?"
            )
        self._closed = True

    def order(self) -> list[int]:
        """The numbers of the names in their natural order; given ones stay as they are."""
        numbers = range(len(self.names))
        return list(numbers) if self.given else sorted(numbers, key=_natural(self.names).__getitem__)


def _natural(names: list[str]) -> list[Any]:
    """Sort keys: numbers as numbers if all are, else text with the numbers inside it as numbers."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        numbers = [math.nan]
    if all(map(math.isfinite, numbers)):
        return numbers
    parts = [re.split(r"(\d+)", name.casefold()) for name in names]
    return [
        ([int(p) if n % 2 else p for n, p in enumerate(part)], name) for part, name in zip(parts, names, strict=True)
    ]


def _write(
    file: Path,
    source: DocumentSource,
    rows: Iterator[Row] | Iterator[Sample],
    text: TextOptions,
    classes: Classes,
    bad: BadRows,
) -> int:
    """Stream rows into an Arrow file; the number of them."""
    numbered = _generated(rows, text) if source.generated else _labelled(rows, classes, bad)  # type: ignore[arg-type]
    columns = (
        {"sentences": WORDS, "evidence": EVIDENCE, "cut": pa.bool_()} if source.generated else {"text": pa.string()}
    )
    return write_rows(file, pa.schema({**columns, "label": pa.int64()}), numbered, "documents")


def _labelled(rows: Iterable[Row], classes: Classes, bad: BadRows) -> Iterator[dict[str, Any]]:
    for row in rows:
        if (label := classes.number(row, bad)) is not None:
            yield {"text": row.text, "label": label}


def _generated(samples: Iterable[Sample], text: TextOptions) -> Iterator[dict[str, Any]]:
    for sample in samples:
        kept = sample.sentences[: text.max_sentences]
        yield {
            "sentences": [sentence[: text.max_words] for sentence in kept],
            "evidence": [flags[: text.max_words] for flags in sample.evidence[: text.max_sentences]],
            "cut": len(kept) < len(sample.sentences) or any(len(sentence) > text.max_words for sentence in kept),
            "label": sample.label,
        }


def _split_into_words(part: datasets.Dataset, text: TextOptions, file: Path) -> datasets.Dataset:
    return map_split(part, partial(words_table, options=text), file, "splitting into words")


def words_table(table: pa.Table, options: TextOptions) -> pa.Table:
    """Texts -> their words as `written`, and the normal forms; True in `cut` where a limit took something away."""
    documents = [split_text(text, options) for text in table["text"].to_pylist()]
    return pa.table(
        {
            "written": pa.array([document.sentences for document in documents], WORDS),
            "sentences": pa.array([normal_form(document.sentences, options) for document in documents], WORDS),
            "cut": pa.array([document.cut for document in documents], pa.bool_()),
            "label": table["label"],
        }
    )


def encode_table(table: pa.Table, words: pa.Array, label: pa.Array, written: bool) -> pa.Table:
    """Words -> ids, class numbers -> class numbers in their final order, and the lengths by which batches are made; the
    words as they are `written` stay where examples are to be shown."""
    sentences = table["sentences"].combine_chunks()
    documents, lengths = pc.list_value_length(sentences), pc.list_value_length(sentences.flatten())
    known = pc.add(pc.index_in(sentences.flatten().flatten(), words), len(SPECIAL))
    ids = pc.fill_null(known, UNKNOWN).cast(pa.int32())
    first_sentence, first_word = _offsets(documents), _offsets(lengths)
    unknown = _offsets(pc.equal(ids, UNKNOWN))[first_word][first_sentence]
    columns = {
        "words": _nested(ids, first_word, first_sentence),
        "label": label.take(table["label"]),
        "num_sentences": documents,
        "num_words": pa.array(np.diff(first_word[first_sentence]), pa.int32()),
        "num_unknown": pa.array(np.diff(unknown), pa.int32()),
        "cut": table["cut"],
    }
    if "evidence" in table.column_names:
        evidence = table["evidence"].combine_chunks()
        columns["evidence"] = _nested(evidence.flatten().flatten(), first_word, first_sentence)
    if written:
        columns["written"] = table["written" if "written" in table.column_names else "sentences"]
    return pa.table(columns)


def _offsets(lengths: pa.Array) -> NDArray[np.int32]:
    total = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(np.asarray(lengths), out=total[1:])
    return total


def _nested(values: pa.Array, first_word: NDArray[np.int32], first_sentence: NDArray[np.int32]) -> pa.ListArray:
    inner = pa.ListArray.from_arrays(pa.array(first_word), values)
    return pa.ListArray.from_arrays(pa.array(first_sentence), inner)


def describe(part: datasets.Dataset, classes: list[str]) -> dict[str, Any]:
    """Counts of one prepared split."""
    column = {name: numbers_of(part, name) for name in ("label", "num_sentences", "num_words", "num_unknown", "cut")}
    labels = np.bincount(column["label"], minlength=len(classes))
    return {
        "documents": len(part),
        "classes": {name: int(count) for name, count in zip(classes, labels, strict=True)},
        "sentences": histogram(column["num_sentences"]),
        "words": histogram(column["num_words"]),
        "unknown_rate": float(column["num_unknown"].sum() / max(1, column["num_words"].sum())),
        "truncated": int(column["cut"].sum()),
    }
