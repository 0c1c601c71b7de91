"""From a source of images to ids on the disk, once: rows -> pictures and captions -> tokens -> filters -> vocabulary ->
ids."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zoo.data.images.encoding import caption_spans, caption_tokens
from zoo.data.images.options import CaptionTextOptions
from zoo.data.images.pictures import PictureWriter
from zoo.data.images.row import ImageRow, Named
from zoo.data.notes import key, mostly_unknown, repeated, uncut
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
    save,
    values_of,
    write_rows,
)
from zoo.data.text.learning import ids_of, learned, vocabulary_of
from zoo.data.text.options import check_language
from zoo.data.text.tokenization import Tokenizer, tokenizer_of
from zoo.data.text.vocabulary import UNKNOWN, WRITTEN_SPECIAL
from zoo.errors import DataError

FORMAT = 2
"""Raise it with every change of what is stored or of how text becomes tokens: older caches are then left alone."""
TEXT, CAPTIONS, IMAGES, PIXELS, FILES = "text.json", "captions", "images", "pixels.bin", "files.json"
NOUN = "images"
KEYED = 2**16
"""Bytes of a file that tell it from others of its size."""

SCHEMA = pa.schema(
    {
        "name": pa.string(),
        "stored": pa.int64(),
        "key": pa.int64(),
        "captions": pa.list_(pa.string()),
        "facts": pa.string(),
    }
)
NAMED = pa.list_(pa.list_(pa.float32()))
"""Of each caption the words that name an object, six numbers each: where it begins, where it ends, and a box."""


def prepare_images(
    folder: Path,
    steps: Path,
    source: Source,
    text: CaptionTextOptions,
    split: SplitOptions,
    on_bad_row: Literal["error", "skip"] = "error",
) -> dict[str, Any]:
    """Write the images of `source` into an empty folder, and what is needed on the way alone into another; their
    description. Raises DataError for what cannot be used."""
    bad, dropped = BadRows(on_bad_row), Counter[str]()
    check_language(text.tokenizer, text.language)
    tokenizer = None if text.subwords else tokenizer_of(text, text.language)
    splits = {}
    with PictureWriter(folder / PIXELS) as pixels:
        store = Store(pixels)
        for name, read in source.splits.items():
            file = steps / f"{name}.arrow"
            if not store.write(file, usable(read(bad), name == "train", bad, dropped)):
                left_out = {**bad.problems, **dropped}
                skipped = f"; left out: {counted(left_out)}" if left_out else ""
                raise DataError(f"{source.place}: no image with captions in the {name} split{skipped}")
            splits[name] = datasets.Dataset.from_file(str(file))
    if store.files:
        (folder / PIXELS).unlink()
        (folder / FILES).write_text(json.dumps(store.files, ensure_ascii=False), "utf-8")
    images = draw_splits(splits, split, source.place, NOUN)
    if tokenizer is None:
        texts = partial(_texts, images["train"])
        tokenizer = learned(text, texts, WRITTEN_SPECIAL, text.vocabulary_size)
    tokenize = partial(tokens_table, tokenizer=tokenizer, text=text)
    captions = {
        name: map_split(part, tokenize, steps / f"{name}-tokens.arrow", f"{name}: splitting into tokens")
        for name, part in images.items()
    }
    captions["train"] = _filtered(captions["train"], text, dropped, source.place)
    images["train"] = _with_captions(images["train"], captions["train"], dropped)
    vocabulary = vocabulary_of(
        tokenizer,
        partial(count_words, captions["train"], "tokens"),
        WRITTEN_SPECIAL,
        minimum_frequency=text.minimum_frequency,
        size=text.vocabulary_size,
        where=source.place,
        examples=f"{len(captions['train']):,} training captions",
    )
    encode = partial(ids_table, words=pa.array(vocabulary.state()))
    encoded = {
        name: map_split(part, encode, steps / f"{name}-ids.arrow", f"{name}: numbering the tokens")
        for name, part in captions.items()
    }
    save(encoded, folder / CAPTIONS)
    save({name: part.remove_columns(["key", *_named(part)]) for name, part in images.items()}, folder / IMAGES)
    state = {"vocabulary": vocabulary.state(), "learned": tokenizer.state()}
    (folder / TEXT).write_text(json.dumps(state, ensure_ascii=False), "utf-8")
    facts = {name: describe(images[name], part, dropped if name == "train" else {}) for name, part in encoded.items()}
    count = sum(map(len, images.values()))
    return {
        "source": source.description.replace("{count}", f"{count:,}"),
        "picture_shape": store.pixels.shape,
        "target_size": len(vocabulary),
        "longest_target": 1 + max(int(numbers_of(part, "num_tokens").max()) for part in encoded.values()),  # the end
        "aligned": "boxes" in encoded["test"].column_names,
        "skipped": dict(bad.problems),
        "splits": facts,
        "notes": [
            *repeated({name: _drawn(part, "key") for name, part in images.items()}, NOUN),
            *uncut("a training caption", facts["train"]["caption_tokens"]["mean"], text),
            *mostly_unknown(facts["train"]["unknown_rate"], text),
        ],
        "examples": _examples(images["train"]),
    }


# Rows


def usable(rows: Iterator[ImageRow], train: bool, bad: BadRows, dropped: Counter[str]) -> Iterator[ImageRow]:
    """The images with at least one caption, and of those the captions that say something. Blank ones are ordinary
    things in training files, and counted in `dropped`; elsewhere they are bad rows, as is a NUL byte everywhere."""
    for row in rows:
        if any("\0" in caption for caption in row.captions):
            bad(row.place, "NUL byte", "the file is binary or damaged")
            continue
        kept = [number for number, caption in enumerate(row.captions) if caption.strip()]
        if len(kept) < len(row.captions) and not train:
            bad(row.place, "no text", f"a caption of {row.name} is empty")
        elif len(kept) < len(row.captions):
            dropped["empty captions"] += len(row.captions) - len(kept)
        if kept:
            boxes = row.boxes and tuple(row.boxes[number] for number in kept)
            yield row._replace(captions=tuple(row.captions[number] for number in kept), boxes=boxes)
        elif train:
            dropped["images without captions"] += 1
        elif not row.captions:
            bad(row.place, "no caption", f"{row.name} has none")


class Store:
    """Writes the rows of one split after the other, with their pictures or the names of their files."""

    def __init__(self, pixels: PictureWriter) -> None:
        self.pixels = pixels
        self.files: list[str] = []

    def write(self, file: Path, rows: Iterator[ImageRow]) -> int:
        """Stream rows into an Arrow file; the number of them."""
        first = next(rows, None)
        if first is None:
            return 0
        schema = SCHEMA if first.boxes is None else SCHEMA.append(pa.field("named", NAMED))

        def columns() -> Iterator[dict[str, Any]]:
            yield self._columns(first)
            yield from map(self._columns, rows)

        return write_rows(file, schema, columns(), NOUN)

    def _columns(self, row: ImageRow) -> dict[str, Any]:
        if isinstance(row.picture, Path):
            stored, known = len(self.files), _key_of_file(row.picture)
            self.files.append(str(row.picture.absolute()))
        else:
            stored, known = self.pixels.add(row.picture), key([row.picture.tobytes()])
        columns: dict[str, Any] = {"name": row.name, "stored": stored, "key": known, "captions": list(row.captions)}
        if row.facts is not None:
            columns["facts"] = json.dumps(row.facts, ensure_ascii=False)
        if row.boxes is not None:
            columns["named"] = [[value for word in named for value in _numbers(word)] for named in row.boxes]
        return columns


def _numbers(word: Named) -> list[float]:
    return [word.begin, word.end, *word.box]


def _key_of_file(file: Path) -> int:
    """A number that copies of one file share."""
    with file.open("rb") as source:
        return key([file.stat().st_size, source.read(KEYED)])


def _named(part: datasets.Dataset) -> list[str]:
    return [column for column in part.column_names if column == "named"]


# Tokens


def _texts(part: datasets.Dataset) -> Iterator[str]:
    for captions in values_of(part, "captions"):
        yield from captions


def tokens_table(table: pa.Table, tokenizer: Tokenizer, text: CaptionTextOptions) -> pa.Table:
    """A row for each image -> one for each caption: the number under which the picture is stored, tokens as the
    vocabulary knows them, and where these name an object, its box."""
    rows = table.select([c for c in ("stored", "captions", "named") if c in table.column_names]).to_pylist()
    stored = [row["stored"] for row in rows for _ in row["captions"]]
    tokens = [caption_tokens(caption, tokenizer, text) for row in rows for caption in row["captions"]]
    columns: dict[str, Any] = {
        "stored": pa.array(stored, pa.int64()),
        "tokens": pa.array(tokens, pa.list_(pa.string())),
        "num_tokens": pa.array(map(len, tokens), pa.int32()),
    }
    if "named" in table.column_names:
        found = [
            boxes_of_tokens(named, caption_spans(caption, tokenizer, text))
            for row in rows
            for caption, named in zip(row["captions"], row["named"], strict=True)
        ]
        columns["named"] = pa.array([positions for positions, _ in found], pa.list_(pa.int32()))
        columns["boxes"] = pa.array([boxes for _, boxes in found], pa.list_(pa.float32()))
    return pa.table(columns)


def boxes_of_tokens(named: Sequence[float], spans: Sequence[tuple[int, int]]) -> tuple[list[int], list[float]]:
    """The positions of the tokens that share a letter with a word that names an object, and the four numbers of each
    one's box; `named` are as in NAMED, `spans` say where each token begins and ends."""
    positions: list[int] = []
    boxes: list[float] = []
    ends = [end for _, end in spans]
    for word in range(0, len(named), 6):
        first, last = named[word : word + 2]
        position = bisect_right(ends, first)
        while position < len(spans) and spans[position][0] < last:
            if spans[position][0] < ends[position]:  # some tokens are of no letter
                positions.append(position)
                boxes += named[word + 2 : word + 6]
            position += 1
    return positions, boxes


def _filtered(part: datasets.Dataset, text: CaptionTextOptions, dropped: Counter[str], where: str) -> datasets.Dataset:
    """The captions to train on; what is left out is counted."""
    lengths = numbers_of(part, "num_tokens")
    filters = [("captions without words", lengths == 0)]
    if text.max_length is not None:
        filters.append((f"captions longer than {text.max_length} tokens", lengths > text.max_length))
    keep = np.ones(len(part), bool)
    for reason, wrong in filters:
        if count := int((keep & wrong).sum()):
            dropped[reason] += count
        keep &= ~wrong
    if not keep.any():
        raise DataError(f"{where}: no caption is left to train on; left out: {counted(dropped)} (data.text.max_length)")
    return part if keep.all() else part.select(np.flatnonzero(keep))


def _drawn(part: datasets.Dataset, column: str) -> NDArray[np.int64]:
    """A column of numbers (N,) of a split that is a selection of another."""
    return np.fromiter(values_of(part, column), np.int64, len(part))


def _with_captions(images: datasets.Dataset, captions: datasets.Dataset, dropped: Counter[str]) -> datasets.Dataset:
    """The images of which a caption is left."""
    keep = np.isin(_drawn(images, "stored"), _drawn(captions, "stored"))
    if keep.all():
        return images
    dropped["images without captions"] += int((~keep).sum())
    return images.select(np.flatnonzero(keep))


def ids_table(table: pa.Table, words: pa.Array) -> pa.Table:
    """Tokens -> ids."""
    tokens = table["tokens"].combine_chunks()
    ids = list_array(ids_of(tokens.flatten(), words, WRITTEN_SPECIAL), tokens.value_lengths())
    columns = {name: table[name] for name in table.column_names if name != "tokens"}
    return pa.table({**columns, "ids": ids})


# Describing


def describe(images: datasets.Dataset, captions: datasets.Dataset, dropped: Mapping[str, int]) -> dict[str, Any]:
    """Counts of one prepared split; lengths without the end."""
    lengths = numbers_of(captions, "num_tokens")
    unknown = sum(pc.sum(pc.equal(ids.flatten(), UNKNOWN)).as_py() or 0 for ids in captions.data.column("ids").chunks)
    return {
        "images": len(images),
        "captions": len(captions),
        "caption_tokens": histogram(lengths),
        "unknown_rate": unknown / max(1, int(lengths.sum())),
        "dropped": dict(dropped),
    }


def _examples(images: datasets.Dataset) -> list[dict[str, str]]:
    first = images.with_format(None).select(range(min(3, len(images))))
    return [{"image": row["name"], "captions": " | ".join(row["captions"])} for row in first]
