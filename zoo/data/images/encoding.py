"""Images with captions to batches, and ids back to captions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, Self

import datasets
import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from zoo.data.images.about import About
from zoo.data.images.batch import ImageBatch
from zoo.data.images.boxes import alignment
from zoo.data.images.decoding import seen
from zoo.data.images.features import FrozenEncoder
from zoo.data.images.options import CaptionTextOptions, PictureOptions
from zoo.data.images.stored import Captioned
from zoo.data.parts import Numbers, Padded, Ragged, Stored, Words
from zoo.data.stored import values_of
from zoo.data.table_encoder import WritingEncoder
from zoo.data.text.tokenization import Tokenizer
from zoo.data.text.vocabulary import BEGIN, WRITTEN_SPECIAL, Vocabulary

LETTER = re.compile(r"\w")
NAMED = pa.list_(pa.list_(pa.float32()))
"""For each caption the words that name an object, six numbers each: begin, end, and the four numbers of a box."""
WORDS = "ids"
"""The name of the part that is written."""


class ImageCaptionEncoder(WritingEncoder):
    """Images, with or without captions, to batches, and ids to captions."""

    options = CaptionTextOptions
    raw = pa.schema(
        {
            "name": pa.string(),
            "stored": pa.int64(),
            "key": pa.int64(),
            "captions": pa.list_(pa.string()),
            "facts": pa.string(),
            "named": NAMED,
        }
    )
    given = ("captions",)
    parts = (
        Stored("stored"),
        Words(WORDS, special=WRITTEN_SPECIAL, lengths="caption_tokens", unit="a training caption"),
        Numbers("named", training=False),
        Numbers("boxes", training=False),
    )
    texts = "captions"
    target = WORDS
    text_options: CaptionTextOptions

    def __init__(
        self,
        text: CaptionTextOptions,
        vocabularies: Sequence[Vocabulary] = (),
        subwords: Sequence[str | None] = (),
        *,
        picture: PictureOptions | Mapping[str, Any],
        grid: Sequence[int],
        features: FrozenEncoder | None = None,
    ) -> None:
        """`grid` is that of the spec; `features` turns pixels into features, where batches hold these."""
        super().__init__(text, vocabularies, subwords)
        self.picture, self.grid, self.features = PictureOptions.of(picture), (int(grid[0]), int(grid[1])), features

    def extra_state(self) -> dict[str, Any]:
        features = self.features and self.features.state()
        return {"picture": asdict(self.picture), "grid": list(self.grid), "features": features}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        features = state.get("features") and FrozenEncoder.from_state(state["features"])
        return super().from_state({**state, "features": features})

    def pixels(self, image: Any) -> Tensor:
        """uint8 (3, H, W) of an image, a path, a PIL image or an array of bytes, as a network sees it. Raises DataError
        for what is not a picture."""
        return seen(image, self.picture)

    def display(self, one: Any) -> Tensor:
        """The pixels that a network sees."""
        return self.pixels(one)

    def words(self, caption: str) -> list[str]:
        """The tokens of a caption as the vocabulary knows them, without an end."""
        return caption_tokens(caption, self.target_tokenizer, self.text_options)

    def learned_from(self, train: datasets.Dataset, columns: Sequence[str]) -> Iterable[str]:
        return chain.from_iterable(values_of(train, *columns))

    def __call__(self, images: Any, captions: Sequence[str | Sequence[str]] | None = None) -> ImageBatch:
        """A batch of some images, or of one. If `captions` are given, there is one or a list of them for each image."""
        images = [images] if not isinstance(images, list | tuple) else images
        given = [(one,) if isinstance(one, str) else tuple(one) for one in captions or [()] * len(images)]
        if len(given) != len(images):
            raise ValueError(f"{len(given)} captions for {len(images)} images: give one, or a list of them, for each")
        about = tuple(About(name_of(n, one), some) for n, (one, some) in enumerate(zip(images, given, strict=True)))
        held = torch.stack([self.pixels(one) for one in images])
        held = held if self.features is None else self.features(held)
        if captions is None:
            return ImageBatch.of(held, self.grid, about=about)
        picture = np.repeat(np.arange(len(given)), [len(some) for some in given])
        table = self.ids(self.tokens(self.table([{"stored": n, "captions": one} for n, one in enumerate(given)])))
        return self.collate(Captioned(table, picture, held, np.arange(len(given)), about))

    def tokens(self, table: pa.Table) -> pa.Table:
        """Turn a row per image into a row per caption: the number under which the picture is stored, the tokens, and
        where these name an object, its box."""
        rows = table.select([c for c in ("stored", "captions", "named") if c in table.column_names]).to_pylist()
        captions = [caption for row in rows for caption in row["captions"]]
        cut, tokenizer = self.text_options, self.target_tokenizer
        columns: dict[str, Any] = {
            "stored": pa.array([row["stored"] for row in rows for _ in row["captions"]], pa.int64()),
            WORDS: pa.array(map(self.words, captions), pa.list_(pa.string())),
        }
        if "named" in table.column_names:
            named = [words for row in rows for words in row["named"]]
            spans = (caption_spans(one, tokenizer, cut) for one in captions)
            found = [boxes_of_tokens(*one) for one in zip(named, spans, strict=True)]
            columns["named"] = pa.array([positions for positions, _ in found], pa.list_(pa.int32()))
            columns["boxes"] = pa.array([boxes for _, boxes in found], pa.list_(pa.float32()))
        return pa.table(columns)

    def collate(self, rows: Captioned) -> ImageBatch:  # type: ignore[override]
        """A batch of captions with their images."""
        parts = self.collated(rows.table)
        target: Padded = parts[WORDS]
        linked = None
        if "named" in parts:
            named: Ragged = parts["named"]
            row = np.repeat(np.arange(len(named.lengths)), named.lengths)
            shape = (target.values.shape[0], target.values.shape[1])
            linked = torch.from_numpy(alignment(shape, row, named.values, parts["boxes"].values, self.grid))
        return ImageBatch.of(
            rows.images,
            self.grid,
            *target,
            begin=BEGIN,
            picture=torch.from_numpy(rows.picture),
            index=torch.from_numpy(rows.numbers[rows.picture]),
            alignment=linked,
            about=rows.about,
        )


def caption_tokens(text: str, tokenizer: Tokenizer, options: CaptionTextOptions) -> list[str]:
    """The tokens of a caption as the vocabulary knows them."""
    forms = tokenizer.split(text).forms
    return [form for form in forms if _is_word(form)] if options.without_marks else forms


def caption_spans(text: str, tokenizer: Tokenizer, options: CaptionTextOptions) -> list[tuple[int, int]]:
    """Where each of these tokens begins and ends in the caption."""
    spans = tokenizer.spans(text)
    return [(begin, end) for begin, end in spans if _is_word(text[begin:end])] if options.without_marks else spans


def _is_word(token: str) -> bool:
    """Whether it is more than a mark."""
    return token.isalnum() or LETTER.search(token) is not None


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


def name_of(number: int, image: Any) -> str:
    """What an image of a user is called: its file, or its place among those that are given."""
    return str(image) if isinstance(image, str | Path) else str(getattr(image, "filename", "") or number)
