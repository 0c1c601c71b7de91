"""From a source of documents to ids on the disk, once: rows -> splits -> words -> vocabulary of the training split ->
ids."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zoo.data.documents.classes import Classes
from zoo.data.documents.encoding import DocumentEncoder
from zoo.data.documents.options import DocumentTextOptions
from zoo.data.documents.readers import Row
from zoo.data.documents.sources import DocumentSource, Sample
from zoo.data.notes import key, majority, mostly_unknown, repeated, uncut
from zoo.data.options import SplitOptions
from zoo.data.rows import BadRows, counted
from zoo.data.stored import (
    count_words,
    draw_splits,
    histogram,
    list_array,
    map_split,
    numbers_of,
    offsets,
    save,
    values_of,
    write_rows,
)
from zoo.data.text.learning import ids_of, learned, vocabulary_of
from zoo.data.text.options import check_language
from zoo.data.text.sentences import clean, split_sentences, split_text
from zoo.data.text.tokenization import Tokenizer, tokenizer_of
from zoo.data.text.vocabulary import READ_SPECIAL, UNKNOWN, Vocabulary
from zoo.errors import DataError

FORMAT = 3
"""Raise it with every change of what is stored or of how text becomes words: older caches are then left alone."""
ENCODER, DOCUMENTS = "encoder.json", "documents"
FEW = 1000
"""Training documents; in fewer a word that occurs twice is no rare one."""

WORDS = pa.list_(pa.list_(pa.string()))
EVIDENCE = pa.list_(pa.list_(pa.bool_()))


def prepare(
    folder: Path,
    steps: Path,
    source: DocumentSource,
    text: DocumentTextOptions,
    split: SplitOptions,
    on_bad_row: Literal["error", "skip"] = "error",
) -> dict[str, Any]:
    """Write the documents of `source` into an empty folder, and what is needed on the way alone into another; their
    description. Raises DataError for what cannot be used."""
    bad, classes = BadRows(on_bad_row), Classes(source.classes)
    check_language(text.tokenizer, text.language)
    tokenizer = None if text.subwords else tokenizer_of(text, text.language)
    splits = {}
    for name, read in source.splits.items():
        file = steps / f"{name}.arrow"
        count = _write(file, source, read(bad), text, classes, bad)
        if not count:
            skipped = f"; left out: {counted(bad.problems)}" if bad.total else ""
            raise DataError(f"{source.place}: no document in the {name} split{skipped}")
        classes.close(source.place, count)
        splits[name] = datasets.Dataset.from_file(str(file))
    splits = draw_splits(splits, split, source.place, "documents", numbers_of(splits["train"], "label"))
    tokenizer = tokenizer or _learned(splits["train"], text)
    if not source.generated:
        cut_up = partial(words_table, options=text, tokenizer=tokenizer)
        splits = {
            name: map_split(part, cut_up, steps / f"{name}-words.arrow", f"{name}: splitting into words")
            for name, part in splits.items()
        }
    vocabulary = _vocabulary(splits["train"], tokenizer, text, source.place)
    order = classes.order()
    encode = partial(encode_table, words=pa.array(vocabulary.state()), label=pa.array(np.argsort(order), pa.int64()))
    encoded = {
        name: map_split(
            part,
            partial(encode, written=name != "train"),
            steps / f"{name}-ids.arrow",
            f"{name}: numbering the words",
        )
        for name, part in splits.items()
    }
    save(encoded, folder / DOCUMENTS)
    state = DocumentEncoder(vocabulary, text, tokenizer.state()).state()
    (folder / ENCODER).write_text(json.dumps(state, ensure_ascii=False), "utf-8")
    names = [classes.names[number] for number in order]
    facts = {name: describe(part, names) for name, part in encoded.items()}
    train = facts["train"]
    return {
        "source": source.description.replace("{count}", f"{sum(map(len, encoded.values())):,}"),
        "classes": names,
        "vocabulary_size": len(vocabulary),
        "skipped": dict(bad.problems),
        "splits": facts,
        "notes": [
            *repeated({name: numbers_of(part, "key") for name, part in splits.items()}, "documents"),
            *majority(train["classes"], "documents"),
            *uncut("a training sentence", train["words"]["mean"] / max(1, train["sentences"]["mean"]), text),
            *mostly_unknown(train["unknown_rate"], text),
        ],
        "examples": _examples(splits["train"], classes),
    }


def _examples(part: datasets.Dataset, classes: Classes) -> list[dict[str, str]]:
    first = part.with_format(None).select(range(min(3, len(part))))
    texts = [" ".join(word for sentence in document["sentences"] for word in sentence) for document in first]
    return [
        {"label": classes.names[document["label"]], "text": text if len(text) <= 300 else text[:300] + " ..."}
        for document, text in zip(first, texts, strict=True)
    ]


# Rows


def _write(
    file: Path,
    source: DocumentSource,
    rows: Iterator[Row] | Iterator[Sample],
    text: DocumentTextOptions,
    classes: Classes,
    bad: BadRows,
) -> int:
    """Stream rows into an Arrow file; the number of them."""
    numbered = _generated(rows, text) if source.generated else _labelled(rows, classes, bad)  # type: ignore[arg-type]
    generated = {"sentences": WORDS, "written": WORDS, "evidence": EVIDENCE, "cut": pa.bool_(), "key": pa.int64()}
    columns = generated if source.generated else {"text": pa.string()}
    return write_rows(file, pa.schema({**columns, "label": pa.int64()}), numbered, "documents")


def _labelled(rows: Iterable[Row], classes: Classes, bad: BadRows) -> Iterator[dict[str, Any]]:
    for row in rows:
        if (label := classes.number(row, bad)) is not None:
            yield {"text": row.text, "label": label}


def _generated(samples: Iterable[Sample], text: DocumentTextOptions) -> Iterator[dict[str, Any]]:
    for sample in samples:
        kept = [sentence[: text.max_words] for sentence in sample.sentences[: text.max_sentences]]
        whole = sum(map(len, sample.sentences))
        yield {
            "sentences": kept,
            "written": kept,
            "evidence": [flags[: text.max_words] for flags in sample.evidence[: text.max_sentences]],
            "cut": sum(map(len, kept)) < whole,
            "key": key(kept),
            "label": sample.label,
        }


# Words


def _learned(train: datasets.Dataset, text: DocumentTextOptions) -> Tokenizer:
    """Subwords of the sentences of the training documents."""

    def sentences() -> Iterator[str]:
        cleaned = map(clean, values_of(train, "text"))
        return chain.from_iterable(split_sentences(part, text.sentences, text.language) for part in cleaned)

    return learned(text, sentences, READ_SPECIAL, text.vocabulary_size)


def words_table(table: pa.Table, options: DocumentTextOptions, tokenizer: Tokenizer) -> pa.Table:
    """Texts -> the forms of their words and the words as written; True in `cut` where a limit took something away."""
    documents = [split_text(text, options, tokenizer) for text in table["text"].to_pylist()]
    return pa.table(
        {
            "sentences": pa.array([document.forms for document in documents], WORDS),
            "written": pa.array([document.sentences for document in documents], WORDS),
            "cut": pa.array([document.cut for document in documents], pa.bool_()),
            "key": pa.array([key(document.forms) for document in documents], pa.int64()),
            "label": table["label"],
        }
    )


def _vocabulary(train: datasets.Dataset, tokenizer: Tokenizer, text: DocumentTextOptions, where: str) -> Vocabulary:
    return vocabulary_of(
        tokenizer,
        partial(count_words, train, "sentences"),
        READ_SPECIAL,
        minimum_frequency=text.minimum_frequency or (2 if len(train) < FEW else 5),
        size=text.vocabulary_size,
        where=where,
        examples=f"{len(train):,} training documents",
    )


def encode_table(table: pa.Table, words: pa.Array, label: pa.Array, written: bool) -> pa.Table:
    """Words -> ids, class numbers -> class numbers in their final order, and the lengths by which batches are made; the
    words as `written` stay as `text`."""
    sentences = table["sentences"].combine_chunks()
    documents, lengths = pc.list_value_length(sentences), pc.list_value_length(sentences.flatten())
    ids = ids_of(sentences.flatten().flatten(), words, READ_SPECIAL)
    word_of_document = offsets(lengths)[offsets(documents)]
    columns = {
        "words": list_array(list_array(ids, lengths), documents),
        "label": label.take(table["label"]),
        "num_sentences": documents,
        "num_words": pa.array(np.diff(word_of_document), pa.int32()),
        "num_unknown": pa.array(np.diff(offsets(pc.equal(ids, UNKNOWN))[word_of_document]), pa.int32()),
        "cut": table["cut"],
    }
    if written:
        columns["text"] = table["written"]
    if "evidence" in table.column_names:
        evidence = table["evidence"].combine_chunks()
        columns["evidence"] = list_array(list_array(evidence.flatten().flatten(), lengths), documents)
    return pa.table(columns)


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
