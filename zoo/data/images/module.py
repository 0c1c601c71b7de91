"""Images with captions: what every corpus of them shares."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import datasets
import numpy as np

from zoo.arguments import Count
from zoo.data.bucketing import Bucketed, Evaluation
from zoo.data.cache import cache_root, steps_beside
from zoo.data.images.encoding import ImageCaptionEncoder, collate_captions
from zoo.data.images.features import FrozenEncoder, store_features, stored_features
from zoo.data.images.options import Batches, CaptionTextOptions, Grid, PictureOptions
from zoo.data.images.order import CAPTIONS as CAPTION_NOUNS
from zoo.data.images.order import PICTURES, OfPictures, SameLength
from zoo.data.images.pictures import PictureFiles, Pictures, StoredPictures
from zoo.data.images.prepare import CAPTIONS, FILES, FORMAT, IMAGES, PIXELS, TEXT, prepare_images
from zoo.data.images.spec import ImageSpec
from zoo.data.images.stored import CaptionedPictures
from zoo.data.options import LoaderOptions, SplitOptions
from zoo.data.order import Nouns, Order
from zoo.data.prepared import ABOUT, PreparedData
from zoo.data.rows import counted
from zoo.data.sources import Source
from zoo.data.stored import StoredSplit
from zoo.data.text.tokenization import tokenizer_of
from zoo.data.text.vocabulary import BEGIN, END, PADDING, UNKNOWN, WRITTEN_SPECIAL, Vocabulary
from zoo.errors import ConfigError, one_of
from zoo.values import hold


class ImageData(PreparedData[Source]):
    """Images, each with some captions.

    In training a batch is of so many images and some captions of each (`batches=pictures`), or of so many captions of
    one length (`lengths`). In evaluation it is of so many images with all their captions. An image stands in a batch
    once, whatever the number of its captions there, and is read once. `spec.longest_target` is that of all three
    splits, the end included: training captions are filtered, those of evaluation never are.
    """

    task: ClassVar[str] = "captioning"
    nouns: ClassVar[Nouns] = CAPTION_NOUNS
    spec: ImageSpec
    encoder: ImageCaptionEncoder

    def __init__(
        self,
        *,
        text: CaptionTextOptions,
        picture: PictureOptions,
        grid: Sequence[int] = (14, 14),
        batches: str = "lengths",
        captions_per_image: int | None = None,
        split: SplitOptions | None = None,
        features: Mapping[str, Any] | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """No file is touched here.

        Args:
            text: how captions become tokens, see `CaptionTextOptions`.
            picture: how a picture is seen, see `PictureOptions`.
            grid: rows and columns of cells that networks look at.
            batches: `pictures` or `lengths`, see above.
            captions_per_image: of `pictures`: so many captions of each image, drawn anew in each epoch; None: all.
            split: shares of the splits that the corpus comes without, see `SplitOptions`.
            features: None, or the configuration of an encoder, such as `${model.encoder}`: batches then hold what it
                makes of the pictures, which is computed once; see `zoo.data.images.features`.
            loader: how batches are made, see `LoaderOptions`; `batch_size` counts images, and captions in the training
                batches of `lengths`, as does `max_tokens` their tokens.
        """
        super().__init__(loader=loader)
        one_of("data.batches", batches, ("pictures", "lengths"))
        hold("data.grid", list(grid), Grid)
        hold("data.captions_per_image", captions_per_image, Count | None)
        if batches == "lengths" and captions_per_image is not None:
            raise ConfigError(
                f"data.captions_per_image={captions_per_image} draws captions for data.batches=pictures; with "
                "data.batches=lengths an epoch has every caption once: leave it null"
            )
        if batches == "pictures" and self.loader.max_tokens is not None:
            raise ConfigError(
                f"data.loader.max_tokens={self.loader.max_tokens} counts tokens, and data.batches=pictures counts "
                "images: take data.loader.batch_size, or data.batches=lengths"
            )
        self.text, self.picture = text, picture
        self.grid = (int(grid[0]), int(grid[1]))
        self.batches: Batches = "pictures" if batches == "pictures" else "lengths"
        self.captions_per_image = captions_per_image
        self.split = split or SplitOptions()
        if features is not None and picture.varies:
            raise ConfigError(
                "data.features: features are computed once, and data.picture.random_crop and data.picture.flip would "
                "have each epoch see pictures another way: leave both false, or data.features=null"
            )
        self.features = None if features is None else dict(features)

    def pixels(self, folder: Path, about: Mapping[str, Any]) -> Pictures:
        """The pixels of the pictures of a prepared folder."""
        if about["picture_shape"]:
            channels, height, width = about["picture_shape"]
            return StoredPictures(folder / PIXELS, (channels, height, width))
        files = json.loads((folder / FILES).read_text("utf-8"))
        return PictureFiles(files, self.picture, self.loader.seed)

    # Preparing

    def prepare_data(self) -> None:
        super().prepare_data()
        if self.features is not None:
            folder = self._folder(self.open_source())
            pixels = self.pixels(folder, json.loads((folder / ABOUT).read_text("utf-8")))
            store_features(*self._features(pixels, self.features), pixels, self.loader.num_workers)

    def _features(self, pixels: Pictures, encoder: Mapping[str, Any]) -> tuple[Path, FrozenEncoder, dict[str, Any]]:
        """Where features are, what makes them, and what tells these pictures from others."""
        frozen = FrozenEncoder(encoder, (pixels.shape[1], pixels.shape[2]), self.grid)
        return cache_root(self.loader.cache_dir) / self.name, frozen, pixels.identity()

    def _facts(self, source: Source) -> dict[str, Any]:
        return {"family": "images", "format": FORMAT, "text": vars(self.text), "split": vars(self.split)}

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        with steps_beside(folder) as steps:
            return prepare_images(folder, steps, source, self.text, self.split, self.loader.on_bad_row)

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        known = json.loads((folder / TEXT).read_text("utf-8"))
        tokenizer = tokenizer_of(self.text, self.text.language, known["learned"])
        vocabulary = Vocabulary.from_state(known["vocabulary"], WRITTEN_SPECIAL)
        pictures, frozen, files = self.pixels(folder, about), None, None
        if self.features is not None:
            files = pictures.files if isinstance(pictures, PictureFiles) else None
            pictures, frozen = stored_features(*self._features(pictures, self.features))
        self.encoder = ImageCaptionEncoder(tokenizer, vocabulary, self.text, self.picture, self.grid, frozen)
        channels, height, width = pictures.shape
        self.spec = ImageSpec(
            channels=channels,
            height=height,
            width=width,
            target_size=about["target_size"],
            longest_target=about["longest_target"],
            grid=self.grid,
            encoded=pictures.encoded,
            padding=PADDING,
            unknown=UNKNOWN,
            begin=BEGIN,
            end=END,
        )
        captions, images = (datasets.load_from_disk(folder / name) for name in (CAPTIONS, IMAGES))
        return {
            # it evaluates what it trains on
            name: CaptionedPictures(
                part, images[name], pictures, evaluation=self.overfitting or name != "train", files=files
            )
            for name, part in captions.items()
        }

    # Serving

    def part(self, split: str) -> CaptionedPictures:
        part = super().part(split)
        assert isinstance(part, CaptionedPictures)
        return part

    @property
    def sizes(self) -> dict[str, int]:
        """Images of each split."""
        return {name: len(self.part(name).captions_of) for name in super().sizes}

    def training_order(self, part: StoredSplit) -> Order:
        assert isinstance(part, CaptionedPictures)
        shuffle, seed = not self.overfitting, self.loader.seed
        limits = {**self.loader.limit, **self.ranks}
        if self.batches == "lengths":
            return SameLength(part.lengths, shuffle=shuffle, seed=seed, **limits)
        ones = np.ones(len(part.captions_of))
        images = Bucketed(ones, shuffle=shuffle, seed=seed, pool=1, nouns=PICTURES, **limits)
        return OfPictures(images, part.captions_of, each=self.captions_per_image, shuffle=shuffle, seed=seed)

    def evaluation_order(self, part: StoredSplit) -> Order:
        assert isinstance(part, CaptionedPictures)
        longest, tokens = np.zeros((2, len(part.captions_of)), np.int64)
        np.maximum.at(longest, part.image_of, part.lengths)
        np.add.at(tokens, part.image_of, part.lengths)
        lengths = longest if self.loader.max_tokens is None else tokens
        images = Evaluation(lengths, **self.loader.limit, **self.ranks, nouns=PICTURES)
        return OfPictures(images, part.captions_of)

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return partial(collate_captions, grid=self.grid)

    def training_references(self) -> Iterator[list[list[int]]]:
        """All captions of each training image."""
        return self.part("train").ids()

    # Describing

    def describe(self) -> dict[str, Any]:
        about, spec = super().describe(), self.spec
        what = "features" if spec.encoded else "pixels"
        lines = [
            f"a vocabulary of {about['target_size']:,} tokens",
            f"{what} of {spec.channels} x {spec.height} x {spec.width}, cells of {spec.grid[0]} x {spec.grid[1]}",
        ]
        return about | {"contents": lines}

    def _summary(self, about: Mapping[str, Any]) -> list[str]:
        splits = about["splits"]
        sizes = ", ".join(f"{name} {part['images']:,}" for name, part in splits.items())
        captions, unknown = splits["train"]["captions"], splits["test"]["unknown_rate"]
        known = f"a vocabulary of {about['target_size']:,}, unknown tokens in test {unknown:.1%}"
        lines = [about["source"], f"{sizes} images, {captions:,} captions to train on, {known}"]
        for name, part in splits.items():
            if dropped := part["dropped"]:
                lines.append(f"{name}: dropped {counted(dropped)}")
        if skipped := about["skipped"]:
            lines.append(f"left out {sum(skipped.values()):,} rows: {counted(skipped)}")
        return lines
