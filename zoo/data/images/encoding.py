"""Converts images with captions to batches, and ids back to captions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from zoo.data.images.batch import ImageBatch, ImageDescription
from zoo.data.images.decoding import seen
from zoo.data.images.features import FrozenEncoder
from zoo.data.images.options import CaptionTextOptions, PictureOptions
from zoo.data.images.pictures import CaptionRows
from zoo.data.images.truth import alignment, named_words
from zoo.data.parts import Numbers, Padded, Ragged, Stored, Words
from zoo.data.stored import values_of
from zoo.data.table_encoder import WritingEncoder
from zoo.data.text.vocabulary import BEGIN, WRITTEN_SPECIAL, Vocabulary

if TYPE_CHECKING:
    import datasets

LETTER = re.compile(r"\w")
WORDS = "ids"  # The name of the part that is written


class ImageCaptionEncoder(WritingEncoder):
    """Converts images, with or without captions, to batches, and ids to captions."""

    takes = "an image: a path, a PIL image, or an array of bytes (H, W, 3)"
    options = CaptionTextOptions
    raw = pa.schema(
        {
            "name": pa.string(),
            "stored": pa.int64(),
            "key": pa.int64(),
            "captions": pa.list_(pa.string()),
            "facts": pa.string(),
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
        """`grid` is that of the spec; `features` turns pixels into features, if batches hold these."""
        super().__init__(text, vocabularies, subwords)
        self.picture, self.grid, self.features = PictureOptions.of(picture), (int(grid[0]), int(grid[1])), features

    def extra_state(self) -> dict[str, Any]:
        features = self.features and self.features.state()
        return {"picture": asdict(self.picture), "grid": list(self.grid), "features": features}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        features = state.get("features") and FrozenEncoder.from_state(state["features"])
        return super().from_state({**state, "features": features})

    def pixels(self, one: Any) -> Tensor:
        """uint8 (3, H, W) of a path, a PIL image or an array of bytes, as a network sees it. Raises DataError for
        anything that is not a picture."""
        return seen(one, self.picture)

    display = pixels

    def words(self, caption: str) -> list[str]:
        """The tokens of a caption in the form of the vocabulary, without an end."""
        forms = self.target_tokenizer.split(caption).forms
        return [form for form in forms if is_word(form)] if self.text_options.without_marks else forms

    def aligned(self, caption: str, facts: Any) -> tuple[list[int], list[float]]:
        """The positions of the tokens that share a letter with a word that names an object, and four numbers per
        box."""
        spans = self.target_tokenizer.spans(caption)
        if self.text_options.without_marks:
            spans = [span for span in spans if is_word(caption[slice(*span)])]
        positions: list[int] = []
        boxes: list[float] = []
        for first, last, box in named_words(caption, facts):
            for position, (begin, end) in enumerate(spans):
                if max(begin, first) < min(end, last):  # some tokens have no letter
                    positions.append(position)
                    boxes += box
        return positions, boxes

    def learned_from(self, train: datasets.Dataset, columns: Sequence[str]) -> Iterable[str]:
        return chain.from_iterable(values_of(train, *columns))

    def __call__(self, images: Any, captions: Sequence[str | Sequence[str]] | None = None) -> ImageBatch:
        """A batch of some images, or of one. `captions` holds one caption or a list of captions for each image."""
        images = [images] if not isinstance(images, list | tuple) else images
        given = [(one,) if isinstance(one, str) else tuple(one) for one in captions or [()] * len(images)]
        if len(given) != len(images):
            raise ValueError(f"{len(given)} captions for {len(images)} images: give one, or a list of them, for each")
        names = [
            str(one) if isinstance(one, str | Path) else str(getattr(one, "filename", "") or number)
            for number, one in enumerate(images)
        ]
        about = tuple(map(ImageDescription, names, given))
        pixels = torch.stack([self.pixels(one) for one in images])
        encoded = pixels if self.features is None else self.features(pixels)
        if captions is None:
            return ImageBatch(encoded, self.grid, about=about)
        picture = np.repeat(np.arange(len(given)), [len(some) for some in given])
        table = self.ids(self.tokens(self.table([{"stored": n, "captions": one} for n, one in enumerate(given)])))
        return self.collate(CaptionRows(table, picture, encoded, np.arange(len(given)), about))

    def tokens(self, table: pa.Table) -> pa.Table:
        """Turn a row per image into a row per caption: the number of the stored picture, the tokens, and the boxes of
        tokens that name an object."""
        rows = table.select([c for c in ("stored", "captions", "facts") if c in table.column_names]).to_pylist()
        captions = [caption for row in rows for caption in row["captions"]]
        columns: dict[str, Any] = {
            "stored": pa.array([row["stored"] for row in rows for _ in row["captions"]], pa.int64()),
            WORDS: pa.array(map(self.words, captions), pa.list_(pa.string())),
        }
        if "facts" in table.column_names:
            given = ((caption, json.loads(row["facts"])) for row in rows for caption in row["captions"])
            found = [self.aligned(caption, facts) for caption, facts in given]
            columns["named"] = pa.array([positions for positions, _ in found], pa.list_(pa.int32()))
            columns["boxes"] = pa.array([boxes for _, boxes in found], pa.list_(pa.float32()))
        return pa.table(columns)

    def collate(self, rows: CaptionRows) -> ImageBatch:  # type: ignore[override]
        """A batch of captions with their images."""
        parts = self.collated(rows.table)
        target: Padded = parts[WORDS]
        linked = None
        if "named" in parts:
            named: Ragged = parts["named"]
            row = np.repeat(np.arange(len(named.lengths)), named.lengths)
            shape = (target.values.shape[0], target.values.shape[1])
            linked = torch.from_numpy(alignment(shape, row, named.values, parts["boxes"].values, self.grid))
        return ImageBatch(
            rows.images,
            self.grid,
            target=target.values,
            target_mask=target.mask,
            begin=BEGIN,
            picture=torch.from_numpy(rows.picture),
            index=torch.from_numpy(rows.numbers[rows.picture]),
            alignment=linked,
            about=rows.about,
        )


def is_word(token: str) -> bool:
    """Whether a token is more than punctuation."""
    return token.isalnum() or LETTER.search(token) is not None
