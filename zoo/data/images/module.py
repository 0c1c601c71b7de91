"""Images with captions: what every corpus of them shares."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Unpack

import datasets
import numpy as np
from numpy.typing import NDArray

from zoo.arguments import Count
from zoo.data.cache import cache_root
from zoo.data.images.encoding import WORDS, ImageCaptionEncoder
from zoo.data.images.features import FrozenEncoder, store_features, stored_features
from zoo.data.images.options import Batches, CaptionTextOptions, Grid, PictureOptions
from zoo.data.images.order import CAPTIONS as CAPTION_NOUNS
from zoo.data.images.order import PICTURES, OfPictures, SameLength
from zoo.data.images.pictures import PictureFiles, Pictures, StoredPictures
from zoo.data.images.row import ImageRow
from zoo.data.images.spec import ImageSpec
from zoo.data.images.stored import CaptionedPictures
from zoo.data.images.storing import FILES, PIXELS, PictureStore
from zoo.data.order import Bucketed, Evaluation, Nouns, Order
from zoo.data.prepared import ABOUT
from zoo.data.sources import Reading, Source
from zoo.data.stored import StoredSplit, numbers_of, save, values_of
from zoo.data.table_data import EXAMPLES, TableArguments, TableData
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.vocabulary import BEGIN, END, PADDING, UNKNOWN
from zoo.errors import ConfigError, one_of
from zoo.values import hold

IMAGES = "images"
"""The folder with a row for each image."""


class PictureArguments(TableArguments, total=False):
    """The arguments of images whose grid and batches have defaults of their own."""

    picture: Mapping[str, Any] | PictureOptions | None
    captions_per_image: Count | None
    features: Mapping[str, Any] | None


class ImageArguments(PictureArguments, total=False):
    """The arguments of every family of images."""

    grid: Sequence[int]
    batches: str


class ImageData(TableData):
    """Images, each with some captions.

    In training a batch is of so many images and some captions of each (`batches=pictures`), or of so many captions of
    one length (`lengths`). In evaluation it is of so many images with all their captions. An image stands in a batch
    once, whatever the number of its captions there, and is read once. `spec.longest_target` is that of all three
    splits, the end included: training captions are filtered, those of evaluation never are.
    """

    tasks: ClassVar[tuple[str, ...]] = ("captioning",)
    nouns: ClassVar[Nouns] = CAPTION_NOUNS
    encoding = ImageCaptionEncoder
    text_options = CaptionTextOptions
    picture_options = PictureOptions
    length_parts = (WORDS,)
    filter_keys = "data.text.max_length"
    row_noun = "images"
    text: CaptionTextOptions
    spec: ImageSpec
    encoder: ImageCaptionEncoder

    def __init__(
        self,
        *,
        picture: Mapping[str, Any] | PictureOptions | None = None,
        grid: Sequence[int] = (14, 14),
        batches: str = "lengths",
        captions_per_image: Count | None = None,
        features: Mapping[str, Any] | None = None,
        **rest: Unpack[TableArguments],
    ) -> None:
        """No file is touched here.

        Args:
            picture: how a picture is seen, see `PictureOptions`.
            grid: rows and columns of cells that networks look at.
            batches: `pictures` or `lengths`, see above.
            captions_per_image: with `pictures`, so many captions of each image are drawn anew in each epoch; None: all.
            features: None, or the configuration of an encoder, such as `${model.encoder}`. Batches then hold the
                features of the pictures, which are computed once; see `zoo.data.images.features`.
            rest: the arguments of `TableData`. `loader.batch_size` counts images, and captions in the training batches
                of `lengths`, as `loader.max_tokens` counts their tokens.
        """
        super().__init__(**rest)
        one_of("data.batches", batches, ("pictures", "lengths"))
        hold("data.grid", list(grid), Grid)
        hold("data.captions_per_image", captions_per_image, Count | None)
        if batches == "lengths" and captions_per_image is not None:
            raise ConfigError(
                f"data.captions_per_image={captions_per_image} draws captions for data.batches=pictures; with "
                "data.batches=lengths an epoch has every caption once: set it to null"
            )
        if batches == "pictures" and self.loader.max_tokens is not None:
            raise ConfigError(
                f"data.loader.max_tokens={self.loader.max_tokens} counts tokens, and data.batches=pictures counts "
                "images: use data.loader.batch_size, or data.batches=lengths"
            )
        self.picture = PictureOptions.of(picture)
        self.grid = (int(grid[0]), int(grid[1]))
        self.batches: Batches = "pictures" if batches == "pictures" else "lengths"
        self.captions_per_image = captions_per_image
        if features is not None and self.picture.varies:
            raise ConfigError(
                "data.features: features are computed once, and data.picture.random_crop and data.picture.flip change "
                "the pictures in each epoch: set both to false, or data.features=null"
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

    def new_encoder(self) -> ImageCaptionEncoder:
        return ImageCaptionEncoder(self.text, picture=self.picture, grid=self.grid)

    @contextmanager
    def storing(self, folder: Path) -> Iterator[None]:
        with PictureStore(folder) as self._pictures:
            yield

    def examples(self, rows: Iterator[ImageRow], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        """The images with at least one caption that says something. Blank captions are usual in training files, and
        counted; elsewhere they are bad rows, as is a NUL byte in any split."""
        for row in rows:
            if any("\0" in caption for caption in row.captions):
                reading.bad(row.place, "NUL byte", "the file is binary or damaged")
                continue
            kept = [number for number, caption in enumerate(row.captions) if caption.strip()]
            if len(kept) < len(row.captions) and not reading.training:
                reading.bad(row.place, "no text", f"a caption of {row.name} is empty")
            elif len(kept) < len(row.captions):
                reading.dropped["empty captions"] += len(row.captions) - len(kept)
            if kept:
                boxes = row.boxes and tuple(row.boxes[number] for number in kept)
                captions = tuple(row.captions[number] for number in kept)
                yield self._pictures.columns(row._replace(captions=captions, boxes=boxes))
            elif reading.training:
                reading.dropped["images without captions"] += 1
            elif not row.captions:
                reading.bad(row.place, "no caption", f"{row.name} has none")

    def left_out(self, train: datasets.Dataset, lengths: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.bool_]]:
        found = {"captions without words": lengths[WORDS] == 0}
        if (most := self.text.max_length) is not None:
            found[f"captions longer than {most} tokens"] = lengths[WORDS] > most
        return found

    def store(
        self,
        folder: Path,
        raw: dict[str, datasets.Dataset],
        tokens: Mapping[str, datasets.Dataset],
        readings: Mapping[str, Reading],
    ) -> None:
        """Write a row for each image that has a caption left."""
        images, captions = (np.fromiter(values_of(part["train"], "stored"), np.int64) for part in (raw, tokens))
        keep = np.isin(images, captions)
        if not keep.all():
            readings["train"].dropped["images without captions"] += int((~keep).sum())
            raw["train"] = raw["train"].select(np.flatnonzero(keep))
        more = {"key", "named"} & set(raw["train"].column_names)
        save({name: part.remove_columns(sorted(more)) for name, part in raw.items()}, folder / IMAGES)

    def with_keys(
        self, raw: Mapping[str, datasets.Dataset], stored: Mapping[str, datasets.Dataset]
    ) -> Mapping[str, datasets.Dataset]:
        return raw

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        return {"images": len(np.unique(numbers_of(split, "stored")))}

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        longest = max(int(numbers_of(part, f"num_{WORDS}").max()) for part in splits.values())
        return {"picture_shape": self._pictures.shape, "longest_target": longest + 1}  # the end

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"image": row["name"], "captions": " | ".join(row["captions"])}

    def shown_rows(self, raw: datasets.Dataset, tokens: datasets.Dataset) -> datasets.Dataset:
        return raw

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        pictures, frozen, files = self.pixels(folder, about), None, None
        if self.features is not None:
            files = pictures.files if isinstance(pictures, PictureFiles) else None
            pictures, frozen = stored_features(*self._features(pictures, self.features))
        self.encoder = self._stored_encoder(folder)
        self.encoder.features = frozen
        channels, height, width = pictures.shape
        self.spec = ImageSpec(
            channels=channels,
            height=height,
            width=width,
            target_size=about["vocabulary_size"],
            longest_target=about["longest_target"],
            grid=self.grid,
            encoded=pictures.encoded,
            padding=PADDING,
            unknown=UNKNOWN,
            begin=BEGIN,
            end=END,
        )
        captions, images = (datasets.load_from_disk(folder / name) for name in (EXAMPLES, IMAGES))
        return {
            # it evaluates what it trains on
            name: CaptionedPictures(
                part, images[name], pictures, evaluation=self.overfitting or name != "train", files=files
            )
            for name, part in captions.items()
        }

    def _stored_encoder(self, folder: Path) -> ImageCaptionEncoder:
        state = self.encoder_state(folder)
        return ImageCaptionEncoder.from_state(state | {"picture": asdict(self.picture), "grid": list(self.grid)})

    def set_spec(self, about: Mapping[str, Any]) -> None:
        """`_read` sets it, since it depends on the pictures, too."""

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

    def training_references(self) -> Iterator[list[list[int]]]:
        """All captions of each training image."""
        return self.part("train").ids()

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        what, spec = "features" if self.spec.encoded else "pixels", self.spec
        return [
            f"a vocabulary of {about['vocabulary_size']:,} tokens",
            f"{what} of {spec.channels} x {spec.height} x {spec.width}, cells of {spec.grid[0]} x {spec.grid[1]}",
        ]
