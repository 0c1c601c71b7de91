"""Images with captions to batches: from the disk while training, from files when predicting, through the same
padding; and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.encoder import Encoder
from zoo.data.images.about import About
from zoo.data.images.batch import ImageBatch
from zoo.data.images.boxes import alignment
from zoo.data.images.decoding import seen
from zoo.data.images.features import FrozenEncoder
from zoo.data.images.options import CaptionTextOptions, PictureOptions
from zoo.data.images.stored import Captioned
from zoo.data.text.tokenization import Tokenizer, tokenizer_of
from zoo.data.text.vocabulary import BEGIN, END, PADDING, WRITTEN_SPECIAL, Vocabulary

LETTER = re.compile(r"\w")


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


class ImageCaptionEncoder(Encoder):
    """Images to batches and ids to captions, with the vocabulary and the rules of the training data; all that a
    prediction needs of them."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        vocabulary: Vocabulary,
        text: CaptionTextOptions,
        picture: PictureOptions,
        grid: tuple[int, int],
        features: FrozenEncoder | None = None,
    ) -> None:
        """`grid` is that of the spec; `features` what makes them of pixels, where batches hold features."""
        self.tokenizer, self.vocabulary = tokenizer, vocabulary
        self.text_options, self.picture, self.grid = text, picture, grid
        self.features = features

    # To the model

    def pixels(self, image: Any) -> Tensor:
        """uint8 (3, H, W) of an image, a path, a PIL image or an array of bytes, as a network sees it. Raises DataError
        for what is no picture."""
        return seen(image, self.picture)

    def display(self, image: Any) -> Tensor:
        """What is seen of it."""
        return self.pixels(image)

    def words(self, caption: str) -> list[str]:
        """The tokens of a caption as the vocabulary knows them, without an end."""
        return caption_tokens(caption, self.tokenizer, self.text_options)

    def __call__(self, images: Any, captions: Sequence[str | Sequence[str]] | None = None) -> ImageBatch:
        """A batch of some images, or of one, and where captions are given of one or several for each."""
        images = [images] if not isinstance(images, list | tuple) else images
        given = [(one,) if isinstance(one, str) else tuple(one) for one in captions or [()] * len(images)]
        if len(given) != len(images):
            raise ValueError(f"{len(given)} captions for {len(images)} images: give one, or a list of them, for each")
        about = tuple(About(name_of(n, one), told) for n, (one, told) in enumerate(zip(images, given, strict=True)))
        held = torch.stack([self.pixels(one) for one in images])
        held = held if self.features is None else self.features(held)
        if captions is None:
            return ImageBatch.of(held, self.grid, about=about)
        picture = torch.tensor([number for number, told in enumerate(given) for _ in told])
        ids = [self.vocabulary.encode(self.words(caption)) for told in given for caption in told]
        return ImageBatch.of(held, self.grid, *padded(ids), begin=BEGIN, picture=picture, about=about)

    # From the model

    def decode(self, ids: Sequence[int] | Tensor) -> list[str]:
        """The tokens of one sequence of ids (T,), up to its end; begin and padding are left out."""
        ids = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        ids = ids[: ids.index(END)] if END in ids else ids
        return self.vocabulary.decode(number for number in ids if number not in (PADDING, BEGIN))

    def text(self, tokens: Sequence[int] | Sequence[str] | Tensor) -> str:
        """One caption as plain writing, from its tokens, or from its ids up to their end and without begin and padding;
        what is unknown stays `<unk>`."""
        if isinstance(tokens, Tensor) or (len(tokens) and not isinstance(tokens[0], str)):
            tokens = self.decode(tokens)  # type: ignore[arg-type]
        return self.tokenizer.join([str(token) for token in tokens])

    # In a checkpoint

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""
        return {
            "text": asdict(self.text_options),
            "vocabulary": self.vocabulary.state(),
            "learned": self.tokenizer.state(),
            "picture": asdict(self.picture),
            "grid": list(self.grid),
            "features": self.features and self.features.state(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from."""
        text = CaptionTextOptions.of(state["text"])
        return cls(
            tokenizer_of(text, text.language, state["learned"]),
            Vocabulary.from_state(state["vocabulary"], WRITTEN_SPECIAL),
            text,
            PictureOptions.of(state["picture"]),
            (state["grid"][0], state["grid"][1]),
            state.get("features") and FrozenEncoder.from_state(state["features"]),
        )


def name_of(number: int, image: Any) -> str:
    """What an image of a user is called: its file, or its place among those that are given."""
    return str(image) if isinstance(image, str | Path) else str(getattr(image, "filename", "") or number)


def collate_captions(rows: Captioned, grid: tuple[int, int]) -> ImageBatch:
    """Captions from the disk, with their images, as a batch; `grid` is that of the spec."""
    target, mask = filled(*flat(rows, "ids"))
    linked = None
    if "named" in rows.table.column_names:
        (positions, count), (boxes, _) = flat(rows, "named"), flat(rows, "boxes")
        row = np.repeat(np.arange(len(count)), count)
        linked = torch.from_numpy(alignment((target.shape[0], target.shape[1]), row, positions, boxes, grid))
    return ImageBatch.of(
        rows.images,
        grid,
        target,
        mask,
        begin=BEGIN,
        picture=torch.from_numpy(rows.picture),
        index=torch.from_numpy(rows.numbers[rows.picture]),
        alignment=linked,
        about=rows.about,
    )


def flat(rows: Captioned, column: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The numbers of a column of lists one after the other, and how many each row has."""
    lists = rows.table[column].combine_chunks()
    return np.asarray(lists.flatten()), np.asarray(lists.value_lengths())


def padded(sequences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Sequences of ids, each with an end put to it, as (B, T), and their mask."""
    ids = np.array([number for sequence in sequences for number in sequence], np.int64)
    return filled(ids, np.array([len(sequence) for sequence in sequences], np.int64))


def filled(ids: NDArray[Any], lengths: NDArray[Any]) -> tuple[Tensor, Tensor]:
    """N ids, cut into B rows of `lengths` (B,), each with an end put to it, as (B, T), and their mask."""
    step = np.arange(lengths.max(initial=0) + 1)
    rows = np.full((len(lengths), len(step)), PADDING, np.int64)
    rows[step < lengths[:, None]] = ids
    rows[np.arange(len(lengths)), lengths] = END
    return torch.from_numpy(rows), torch.from_numpy(step <= lengths[:, None])
