"""From a source of cloze questions to ids on the disk, once: questions -> splits -> vocabulary of the training split ->
ids."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zoo.data.cloze.baselines import most_of
from zoo.data.cloze.encoding import BLANK_ID, SPECIAL, ClozeEncoder, occurrences, shown
from zoo.data.cloze.options import ClozeTextOptions
from zoo.data.cloze.question import BLANK, ClozeQuestion, Shown
from zoo.data.notes import key, repeated
from zoo.data.options import SplitOptions
from zoo.data.rows import BadRows, counted
from zoo.data.sources import Source
from zoo.data.stored import (
    count_words,
    draw_splits,
    histogram,
    list_array,
    map_split,
    numbers_of,
    offsets,
    save,
    write_rows,
)
from zoo.data.text.learning import ids_of
from zoo.data.text.vocabulary import UNKNOWN, Vocabulary
from zoo.errors import DataError

FORMAT = 2
"""Raise it with every change of what is stored or of how questions become ids: older caches are then left alone."""
ENCODER, QUESTIONS = "encoder.json", "questions"
MISSING = "answer not in the document"

WORDS, NUMBERS = pa.list_(pa.string()), pa.list_(pa.int32())
ROW = {
    "document": WORDS,
    "query": WORDS,
    "candidates": WORDS,
    "sentence_ends": NUMBERS,
    "answer": pa.int32(),
    "key": pa.int64(),
}


def prepare(
    folder: Path,
    steps: Path,
    source: Source,
    text: ClozeTextOptions,
    split: SplitOptions,
    on_bad_row: Literal["error", "skip"] = "error",
) -> dict[str, Any]:
    """Write the questions of `source` into an empty folder, and what is needed on the way alone into another; their
    description. Raises DataError for what cannot be used.

    A training question of which the answer stands nowhere in its document teaches nothing and has an infinite loss: it
    is left out and counted. One of validation or test stays: who leaves it out has another test than all others.
    """
    bad, dropped = BadRows(on_bad_row), Counter[str]()
    splits = {}
    for name, read in source.splits.items():
        file = steps / f"{name}.arrow"
        if not _write(file, answerable(read(bad), name, dropped)):
            left_out = {**bad.problems, **dropped}
            skipped = f"; left out: {counted(left_out)}" if left_out else ""
            raise DataError(f"{source.place}: no question in the {name} split{skipped}")
        splits[name] = datasets.Dataset.from_file(str(file))
    splits = draw_splits(splits, split, source.place, "questions")
    vocabulary = _vocabulary(splits["train"], text, source.place)
    encoded = {
        name: map_split(
            part,
            partial(encode_table, words=pa.array(vocabulary.state()), lower=text.lower, evaluation=name != "train"),
            steps / f"{name}-ids.arrow",
            f"{name}: numbering the words",
        )
        for name, part in splits.items()
    }
    save(encoded, folder / QUESTIONS)
    state = ClozeEncoder(vocabulary, text).state()
    (folder / ENCODER).write_text(json.dumps(state, ensure_ascii=False), "utf-8")
    facts = {name: describe(part, dropped if name == "train" else Counter()) for name, part in encoded.items()}
    return {
        "source": source.description.replace("{count}", f"{sum(map(len, encoded.values())):,}"),
        "vocabulary_size": len(vocabulary),
        "skipped": dict(bad.problems),
        "splits": facts,
        "notes": [
            *repeated({name: numbers_of(part, "key") for name, part in encoded.items()}, "questions"),
            *_notes(facts),
        ],
        "examples": _examples(splits["train"]),
    }


# Questions


def answerable(questions: Iterator[ClozeQuestion], split: str, dropped: Counter[str]) -> Iterator[ClozeQuestion]:
    """The questions, in training only those of which the answer stands in the document; the others are counted."""
    for question in questions:
        if split == "train" and not any(question.answer in sentence for sentence in question.sentences):
            dropped[MISSING] += 1
        else:
            yield question


def _write(file: Path, questions: Iterator[ClozeQuestion]) -> int:
    """Stream questions into an Arrow file; the number of them."""
    first = next(questions, None)
    if first is None:
        return 0
    more = {"evidence": pa.list_(pa.bool_())} if first.evidence else {}
    return write_rows(file, pa.schema({**ROW, **more}), map(_columns, _again(first, questions)), "questions")


def _again(first: ClozeQuestion, rest: Iterator[ClozeQuestion]) -> Iterator[ClozeQuestion]:
    yield first
    yield from rest


def _columns(question: ClozeQuestion) -> dict[str, Any]:
    assert question.answer is not None
    text = shown(question)
    told = set(question.evidence)
    return {
        **text._asdict(),
        "answer": text.candidates.index(question.answer),
        "key": key([question.sentences, question.query]),
        "evidence": [number in told for number, words in enumerate(question.sentences) for _ in words],
    }


# Ids


def _vocabulary(train: datasets.Dataset, text: ClozeTextOptions, where: str) -> Vocabulary:
    counts = count_words(train, "document", "query")
    del counts[BLANK]
    if text.lower:
        folded = Counter[str]()
        for word, count in counts.items():
            folded[word.lower()] += count
        counts = folded
    found = Vocabulary.of_counts(counts, text.minimum_frequency, SPECIAL, text.vocabulary_size)
    if not found.state():
        raise DataError(
            f"{where}: no word occurs {text.minimum_frequency} times in {len(train):,} training questions; "
            "data.text.minimum_frequency=1 keeps every word"
        )
    return found


def encode_table(table: pa.Table, words: pa.Array, lower: bool, evaluation: bool) -> pa.Table:
    """Words -> ids, and for each word of a document the number of the candidate that it is; for `evaluation` the words
    as they are written stay."""
    columns: dict[str, Any] = {}
    for side in ("document", "query"):
        texts = table[side].combine_chunks()
        flat, lengths = texts.flatten(), pc.list_value_length(texts)
        ids = ids_of(pc.utf8_lower(flat) if lower else flat, words, SPECIAL)
        if side == "query":
            ids = pc.if_else(pc.equal(flat, BLANK), pa.scalar(BLANK_ID, ids.type), ids)
        else:
            columns["num_words"] = lengths
        unknown = np.diff(offsets(pc.equal(ids, UNKNOWN))[offsets(lengths)])
        columns |= {side: list_array(ids, lengths), f"unknown_{side}": pa.array(unknown, pa.int32())}
    pairs = zip(table["document"].to_pylist(), table["candidates"].to_pylist(), strict=True)
    found = [occurrences(document, candidates) for document, candidates in pairs]
    many = pc.list_value_length(table["candidates"])
    columns |= {
        "num_query": pc.list_value_length(table["query"]),
        "occurrence": pa.array(found, pa.list_(pa.int16())),
        "num_candidates": many,
        "answer": table["answer"],
        "key": table["key"],
        "ends": table["sentence_ends"],
        "frequent": pa.array(list(map(most_of, found, many.to_pylist())), pa.int32()),
    }
    if "evidence" in table.column_names:
        columns["evidence"] = table["evidence"]
    if evaluation:
        columns |= {f"shown_{name}": table[name] for name in Shown._fields}
    return pa.table(columns)


# What it is


def describe(part: datasets.Dataset, dropped: Counter[str]) -> dict[str, Any]:
    """Counts of one prepared split."""
    names = ("num_words", "num_query", "num_candidates", "unknown_document", "unknown_query", "answer", "frequent")
    column = {name: numbers_of(part, name) for name in names}
    words, first = column["num_words"], _answer_positions(part)
    facts = {
        "questions": len(part),
        "words": histogram(words),
        "query_words": histogram(column["num_query"]),
        "candidates": round(float(column["num_candidates"].mean()), 2),
        "unknown_rate": float(
            (column["unknown_document"].sum() + column["unknown_query"].sum())
            / max(1, (words + column["num_query"]).sum())
        ),
        "answers_missing": int((first < 0).sum()),
        "most_frequent_is_right_share": float((column["answer"] == column["frequent"]).mean()),
    }
    if len(known := np.flatnonzero(first >= 0)):
        facts["first_answer_share"] = float((first[known] / words[known]).mean())
    return facts | ({"dropped": dict(dropped)} if dropped else {})


def _answer_positions(part: datasets.Dataset) -> NDArray[np.int64]:
    """(N,) where the answer of each question first stands in its document, -1 where it does not."""
    found = []
    for table in part.with_format("arrow").iter(batch_size=1000):
        texts = table["occurrence"].combine_chunks()
        lengths = np.asarray(pc.list_value_length(texts))
        start, row = offsets(lengths), np.repeat(np.arange(len(lengths)), lengths)
        hits = np.flatnonzero(np.asarray(texts.flatten()) == np.asarray(table["answer"])[row])
        position = np.full(len(lengths), -1)
        rows, at = np.unique(row[hits], return_index=True)
        position[rows] = hits[at] - start[rows]
        found.append(position)
    return np.concatenate(found)


def _notes(facts: dict[str, dict[str, Any]]) -> list[str]:
    notes = []
    for name in ("val", "test"):
        if missing := facts[name]["answers_missing"]:
            notes.append(
                f"{name}: the answers of {missing:,} of {facts[name]['questions']:,} questions stand nowhere in their "
                "documents: they count as wrong, and the loss is of the others"
            )
    share = facts["test"]["most_frequent_is_right_share"]
    notes.append(f"test: who always takes the candidate that occurs most often in the document is right in {share:.1%}")
    return notes


def _examples(part: datasets.Dataset) -> list[dict[str, str]]:
    found = []
    for question in part.with_format(None).select(range(min(3, len(part)))):
        text = " ".join(question["document"])
        candidates = question["candidates"]
        found.append(
            {
                "document": text if len(text) <= 300 else text[:300] + " ...",
                "query": " ".join(question["query"]),
                "candidates": ", ".join(candidates[:20]) + ", ..." * (len(candidates) > 20),
                "answer": candidates[question["answer"]],
            }
        )
    return found
