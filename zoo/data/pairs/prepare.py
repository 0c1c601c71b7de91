"""From a source of pairs to ids on the disk, once: rows -> tokens -> filters -> vocabularies -> ids."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zoo.data.notes import key, repeated, uncut
from zoo.data.options import SplitOptions
from zoo.data.pairs.encoding import PairEncoder, Side
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.sources import NOUN, PairRow
from zoo.data.rows import BadRows, counted
from zoo.data.sources import Source
from zoo.data.stored import (
    count_words,
    draw_splits,
    histogram,
    list_array,
    map_split,
    numbers_of,
    save,
    values_of,
    write_rows,
)
from zoo.data.text.learning import ids_of, learned, vocabulary_of
from zoo.data.text.options import check_language
from zoo.data.text.tokenization import Tokenizer, tokenizer_of
from zoo.data.text.vocabulary import UNKNOWN, WRITTEN_SPECIAL, Vocabulary
from zoo.errors import DataError

FORMAT = 4
"""Raise it with every change of what is stored or of how text becomes tokens: older caches are then left alone."""
ENCODER, PAIRS = "encoder.json", "pairs"
SIDES = ("source", "target")

NUMBERS = pa.list_(pa.int32())
TEXTS = {"source_text": pa.string(), "target_text": pa.string()}
LINKS = dict.fromkeys(("source_spans", "target_spans", "linked_source", "linked_target"), NUMBERS)


def prepare_pairs(
    folder: Path,
    steps: Path,
    source: Source,
    text: PairTextOptions,
    languages: tuple[str, str],
    split: SplitOptions,
    on_bad_row: Literal["error", "skip"] = "error",
) -> dict[str, Any]:
    """Write the pairs of `source` into an empty folder, and what is needed on the way alone into another; their
    description. Raises DataError for what cannot be used."""
    bad, dropped = BadRows(on_bad_row), Counter[str]()
    for language in languages:
        check_language(text.tokenizer, language)
    tokenizers = [] if text.subwords else [tokenizer_of(text, language) for language in languages]
    splits = {}
    for name, read in source.splits.items():
        file = steps / f"{name}.arrow"
        if not _write(file, usable(read(bad), name == "train", bad, dropped)):
            left_out = {**bad.problems, **dropped}
            skipped = f"; left out: {counted(left_out)}" if left_out else ""
            raise DataError(f"{source.place}: no pair in the {name} split{skipped}")
        splits[name] = datasets.Dataset.from_file(str(file))
    splits = draw_splits(splits, split, source.place, NOUN)
    count = sum(map(len, splits.values()))
    tokenizers = tokenizers or _learned(splits["train"], text)
    tokenize = partial(tokens_table, tokenizers=tokenizers)
    tokens = {
        name: map_split(part, tokenize, steps / f"{name}-tokens.arrow", f"{name}: splitting into tokens")
        for name, part in splits.items()
    }
    tokens["train"] = _filtered(tokens["train"], text, dropped, source.place)
    vocabularies = _vocabularies(tokens["train"], tokenizers, text, source.place)
    encode = partial(ids_table, words=[pa.array(vocabulary.state()) for vocabulary in vocabularies])
    encoded = {
        name: map_split(part, encode, steps / f"{name}-ids.arrow", f"{name}: numbering the tokens")
        for name, part in tokens.items()
    }
    save(encoded, folder / PAIRS)
    sides = [Side(*parts) for parts in zip(tokenizers, vocabularies, strict=True)]
    encoder = PairEncoder(sides[0], sides[1], text, languages)
    (folder / ENCODER).write_text(json.dumps(encoder.state(), ensure_ascii=False), "utf-8")
    most = [max(int(numbers_of(part, f"num_{side}").max()) for part in encoded.values()) for side in SIDES]
    facts = {name: describe(part, dropped if name == "train" else {}) for name, part in encoded.items()}
    means = {f"a training {side}": facts["train"][f"{side}_tokens"]["mean"] for side in SIDES}
    return {
        "source": source.description.replace("{count}", f"{count:,}"),
        "languages": list(languages),
        "source_size": len(vocabularies[0]),
        "target_size": len(vocabularies[1]),
        "shared": text.joint,
        "longest_source": most[0] + 1,  # the end
        "longest_target": most[1] + 1,
        "skipped": dict(bad.problems),
        "splits": facts,
        "notes": [
            *repeated({name: _keys(part) for name, part in encoded.items()}, NOUN),
            *chain.from_iterable(uncut(what, mean, text) for what, mean in means.items()),
        ],
        "examples": _examples(tokens["train"]),
    }


# Rows


def usable(rows: Iterator[PairRow], train: bool, bad: BadRows, dropped: Counter[str]) -> Iterator[PairRow]:
    """The pairs with two texts. A blank side is an ordinary thing in training files, and counted in `dropped`;
    elsewhere it is a bad row, as is a NUL byte everywhere."""
    for row in rows:
        nul = [place for text, place in zip(row[:2], row.places, strict=True) if "\0" in text]
        blank = [number for number, text in enumerate(row[:2]) if not text.strip()]
        if nul:
            bad(nul[0], "NUL byte", "the file is binary or damaged")
        elif not blank:
            yield row
        elif train:
            dropped["empty"] += 1
        else:
            bad(row.places[blank[0]], "no text", f"the {SIDES[blank[0]]} is empty")


def _write(file: Path, rows: Iterator[PairRow]) -> int:
    """Stream pairs into an Arrow file; the number of them."""
    first = next(rows, None)
    if first is None:
        return 0
    schema = pa.schema(TEXTS if first.links is None else {**TEXTS, **LINKS})
    return write_rows(file, schema, map(_columns, chain([first], rows)), NOUN)


def _columns(row: PairRow) -> dict[str, Any]:
    columns: dict[str, Any] = {"source_text": row.source, "target_text": row.target}
    if row.links is not None:
        columns |= {f"{side}_spans": np.ravel(spans) for side, spans in zip(SIDES, row.links[:2], strict=True)}
        columns |= {f"linked_{side}": [link[n] for link in row.links.alignment] for n, side in enumerate(SIDES)}
    return columns


# Tokens


def _learned(train: datasets.Dataset, text: PairTextOptions) -> list[Tokenizer]:
    """Subwords of the training pairs."""

    def learn(size: int | None, *sides: str) -> Tokenizer:
        return learned(text, partial(values_of, train, *(f"{side}_text" for side in sides)), WRITTEN_SPECIAL, size)

    if text.joint:
        return [learn(text.sizes[0], *SIDES)] * 2
    return [learn(size, side) for size, side in zip(text.sizes, SIDES, strict=True)]


def tokens_table(table: pa.Table, tokenizers: Sequence[Tokenizer]) -> pa.Table:
    """Texts -> tokens as the vocabulary knows them, and links of words -> links of tokens."""
    columns: dict[str, Any] = {name: table[name] for name in TEXTS}
    for side, tokenizer in zip(SIDES, tokenizers, strict=True):
        tokens = [tokenizer.split(text).forms for text in table[f"{side}_text"].to_pylist()]
        columns[side] = pa.array(tokens, pa.list_(pa.string()))
        columns[f"num_{side}"] = pc.list_value_length(columns[side])
    if "linked_source" in table.column_names:
        links = [links_of_tokens(row, tokenizers) for row in table.to_pylist()]
        for number, side in enumerate(SIDES):
            columns[f"aligned_{side}"] = pa.array([[link[number] for link in row] for row in links], NUMBERS)
    return pa.table(columns)


def links_of_tokens(row: dict[str, Any], tokenizers: Sequence[Tokenizer]) -> list[tuple[int, int]]:
    """(source token, target token) for each link of words and the tokens that share a letter with these."""
    parts = [
        _covering(row[f"{side}_spans"], tokenizer.spans(row[f"{side}_text"]))
        for side, tokenizer in zip(SIDES, tokenizers, strict=True)
    ]
    links = zip(row["linked_source"], row["linked_target"], strict=True)
    return sorted({(s, t) for source, target in links for s in parts[0][source] for t in parts[1][target]})


def _covering(words: list[int], tokens: list[tuple[int, int]]) -> list[list[int]]:
    """For each word, of which `words` are the beginnings and ends one after the other, the tokens that share a letter
    with it. Both stand in the order of the text."""
    found, first = [], 0
    for begin, end in zip(words[::2], words[1::2], strict=True):
        while first < len(tokens) and tokens[first][1] <= begin:
            first += 1
        after = first
        while after < len(tokens) and tokens[after][0] < end:
            after += 1
        found.append([number for number in range(first, after) if tokens[number][0] < tokens[number][1]])
    return found


def _filtered(part: datasets.Dataset, text: PairTextOptions, dropped: Counter[str], where: str) -> datasets.Dataset:
    """The pairs to train on; what is left out is counted."""
    lengths = np.stack([numbers_of(part, f"num_{side}") for side in SIDES])
    short, long = lengths.min(0), lengths.max(0)
    keep = np.ones(len(part), bool)
    filters = [("empty", short == 0)]
    if text.max_length is not None:
        filters.append((f"longer than {text.max_length} tokens", long > text.max_length))
    if text.max_ratio is not None:
        filters.append((f"more than {text.max_ratio} times as long as the other side", long > text.max_ratio * short))
    for reason, wrong in filters:
        if count := int((keep & wrong).sum()):
            dropped[reason] += count
        keep &= ~wrong
    if not keep.any():
        raise DataError(
            f"{where}: no pair is left to train on; left out: {counted(dropped)} (data.text.max_length, max_ratio)"
        )
    return part if keep.all() else part.select(np.flatnonzero(keep))


def _vocabularies(
    train: datasets.Dataset, tokenizers: Sequence[Tokenizer], text: PairTextOptions, where: str
) -> list[Vocabulary]:
    def vocabulary(tokenizer: Tokenizer, size: int | None, *sides: str) -> Vocabulary:
        return vocabulary_of(
            tokenizer,
            partial(count_words, train, *sides),
            WRITTEN_SPECIAL,
            minimum_frequency=text.minimum_frequency,
            size=size,
            where=where,
            examples=f"{len(train):,} training pairs",
        )

    if text.joint:
        return [vocabulary(tokenizers[0], text.sizes[0], *SIDES)] * 2
    return [vocabulary(*each) for each in zip(tokenizers, text.sizes, SIDES, strict=True)]


def ids_table(table: pa.Table, words: Sequence[pa.Array]) -> pa.Table:
    """Tokens -> ids."""
    columns = {name: table[name] for name in table.column_names}
    for side, known in zip(SIDES, words, strict=True):
        tokens = table[side].combine_chunks()
        columns[side] = list_array(ids_of(tokens.flatten(), known, WRITTEN_SPECIAL), tokens.value_lengths())
    return pa.table(columns)


# Describing


def describe(part: datasets.Dataset, dropped: dict[str, int]) -> dict[str, Any]:
    """Counts of one prepared split; lengths without the end."""
    facts: dict[str, Any] = {"pairs": len(part)}
    for side in SIDES:
        lengths = numbers_of(part, f"num_{side}")
        unknown = sum(pc.sum(pc.equal(ids.flatten(), UNKNOWN)).as_py() or 0 for ids in part.data.column(side).chunks)
        facts[f"{side}_tokens"] = histogram(lengths)
        facts[f"{side}_unknown_rate"] = unknown / max(1, int(lengths.sum()))
    return {**facts, "dropped": dict(dropped)}


def _keys(part: datasets.Dataset) -> NDArray[np.int64]:
    texts = zip(*(values_of(part, f"{side}_text") for side in SIDES), strict=True)
    return np.fromiter(map(key, texts), np.int64, len(part))


def _examples(part: datasets.Dataset) -> list[dict[str, str]]:
    first = part.with_format(None).select(range(min(3, len(part))))
    return [
        {**{name: row[name] for name in TEXTS}, **{f"{side}_tokens": " ".join(row[side]) for side in SIDES}}
        for row in first
    ]
