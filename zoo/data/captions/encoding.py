"""Converts pictures or clips with captions to batches, and ids back to captions."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.captions.batch import CaptionBatch, Description
from zoo.data.captions.features import FrozenEncoder
from zoo.data.captions.options import CaptionTextOptions, PictureOptions
from zoo.data.captions.pictures import CaptionRows
from zoo.data.parts import Numbers, Padded, Part, Ragged, Stored, Words
from zoo.data.stored import values_of
from zoo.data.table_encoder import WritingEncoder
from zoo.data.text.vocabulary import BEGIN, WRITTEN_SPECIAL, Vocabulary

if TYPE_CHECKING:
    import datasets

LETTER = re.compile(r"\w")
WORDS = "ids"  # The name of the part that is written


def caption_parts(places: str) -> tuple[Part, ...]:
    """The parts of a caption: its words, and for the tokens that name something the numbers of its place."""
    return (
        Stored("stored"),
        Words(WORDS, special=WRITTEN_SPECIAL, lengths="caption_tokens", unit="a training caption"),
        Numbers("named", training=False),
        Numbers(places, training=False),
    )


class CaptionEncoder(WritingEncoder):
    """Converts pictures or clips, with or without captions, to batches, and ids to captions."""

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
    texts = "captions"
    target = WORDS
    text_options: CaptionTextOptions
    places: ClassVar[str]
    """The name of the part with the numbers of the places that words name."""
    description: ClassVar[type[Description]] = Description
    plural: ClassVar[str]  # The name of several inputs, for messages

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

    # What a family defines

    @abstractmethod
    def pixels(self, one: Any) -> Tensor:
        """uint8 pixels of an input as a network sees it. Raises DataError for an unusable input."""

    @abstractmethod
    def joined(self, pixels: Sequence[Tensor]) -> Any:
        """The pixels, or the features, of several inputs in the form of `CaptionRows.images`."""

    @abstractmethod
    def named_words(self, caption: str, facts: Any) -> Iterator[tuple[int, int, tuple[float, ...]]]:
        """The begin, the end and the numbers of the place of each word of a caption that names something."""

    @abstractmethod
    def alignment(self, shape: tuple[int, int], named: Ragged, places: NDArray[Any], images: Any) -> NDArray[np.bool_]:
        """Mask (B, T, S) for captions of `shape` (B, T), from the positions of the words that name something, and the
        numbers of their places in sequence."""

    @abstractmethod
    def made(self, images: Any, **captions: Any) -> Any:
        """The batch of the family."""

    # What follows

    def extra_state(self) -> dict[str, Any]:
        features = self.features and self.features.state()
        return {"picture": asdict(self.picture), "grid": list(self.grid), "features": features}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        features = state.get("features") and FrozenEncoder.from_state(state["features"])
        return super().from_state({**state, "features": features})

    def display(self, one: Any) -> Tensor:
        return self.pixels(one)

    def words(self, caption: str) -> list[str]:
        """The tokens of a caption in the form of the vocabulary, without an end."""
        forms = self.target_tokenizer.split(caption).forms
        return [form for form in forms if is_word(form)] if self.text_options.without_marks else forms

    def aligned(self, caption: str, facts: Any) -> tuple[list[int], list[float]]:
        """The positions of the tokens that share a letter with a word that names something, and the numbers of its
        place for each of them."""
        spans = self.target_tokenizer.spans(caption)
        if self.text_options.without_marks:
            spans = [span for span in spans if is_word(caption[slice(*span)])]
        positions: list[int] = []
        numbers: list[float] = []
        for first, last, place in self.named_words(caption, facts):
            for position, (begin, end) in enumerate(spans):
                if max(begin, first) < min(end, last):  # some tokens have no letter
                    positions.append(position)
                    numbers += place
        return positions, numbers

    def learned_from(self, train: datasets.Dataset, columns: Sequence[str]) -> Iterable[str]:
        return chain.from_iterable(values_of(train, *columns))

    def __call__(self, images: Any, captions: Sequence[str | Sequence[str]] | None = None) -> Any:
        """A batch of some pictures or clips, or of one. `captions` holds one caption or a list of captions for each."""
        images = [images] if not isinstance(images, list | tuple) else images
        given = [(one,) if isinstance(one, str) else tuple(one) for one in captions or [()] * len(images)]
        if len(given) != len(images):
            raise ValueError(
                f"{len(given)} captions for {len(images)} {self.plural}: give one, or a list of them, for each"
            )
        names = [
            str(one) if isinstance(one, str | Path) else str(getattr(one, "filename", "") or number)
            for number, one in enumerate(images)
        ]
        about = tuple(map(self.description, names, given))
        joined = self.joined([self.pixels(one) for one in images])
        if captions is None:
            return self.made(joined, about=about)
        picture = np.repeat(np.arange(len(given)), [len(some) for some in given])
        table = self.ids(self.tokens(self.table([{"stored": n, "captions": one} for n, one in enumerate(given)])))
        return self.collate(CaptionRows(table, picture, joined, np.arange(len(given)), about))

    def tokens(self, table: pa.Table) -> pa.Table:
        """Turn a row per picture or clip into a row per caption: the number of the stored pixels, the tokens, and the
        places of tokens that name something."""
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
            columns[self.places] = pa.array([numbers for _, numbers in found], pa.list_(pa.float32()))
        return pa.table(columns)

    def collate(self, rows: CaptionRows) -> CaptionBatch:  # type: ignore[override]
        """A batch of captions with their pictures or clips."""
        parts = self.collated(rows.table)
        target: Padded = parts[WORDS]
        linked = None
        if "named" in parts:
            shape = (target.values.shape[0], target.values.shape[1])
            linked = torch.from_numpy(self.alignment(shape, parts["named"], parts[self.places].values, rows.images))
        found: CaptionBatch = self.made(
            rows.images,
            target=target.values,
            target_mask=target.mask,
            begin=BEGIN,
            picture=torch.from_numpy(rows.picture),
            index=torch.from_numpy(rows.numbers[rows.picture]),
            alignment=linked,
            about=rows.about,
        )
        return found


def is_word(token: str) -> bool:
    """Whether a token is more than punctuation."""
    return token.isalnum() or LETTER.search(token) is not None
