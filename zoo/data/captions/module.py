"""The base class of all data sets of images, or of clips, with captions."""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, TypedDict, Unpack

import datasets
import numpy as np
from numpy.typing import NDArray

from zoo.arguments import Count
from zoo.data.cache import cache_root
from zoo.data.captions.batch import CaptionSpec
from zoo.data.captions.encoding import WORDS, CaptionEncoder
from zoo.data.captions.features import FrozenEncoder, store_features, stored_features
from zoo.data.captions.options import CaptionTextOptions, Grid, PictureOptions
from zoo.data.captions.order import CAPTIONS, PICTURES, LengthOrder, PictureOrder
from zoo.data.captions.pictures import CaptionedPictures, PictureRow, Pictures, PictureStore
from zoo.data.order import Bucketed, Evaluation, Nouns, Order
from zoo.data.prepared import ABOUT
from zoo.data.sources import Reading, Source
from zoo.data.stored import StoredSplit, numbers_of, save, values_of
from zoo.data.table_data import EXAMPLES, TableArguments, TableData
from zoo.data.table_encoder import TableEncoder
from zoo.errors import ConfigError, one_of
from zoo.values import hold

IMAGES = "images"  # The folder with a row for each image


class PictureArguments(TypedDict, total=False):
    """The arguments of every data set of pictures or clips."""

    picture: Mapping[str, Any] | PictureOptions | None
    grid: Sequence[int]
    batches: str
    features: Mapping[str, Any] | None


class CaptionArguments(PictureArguments, TableArguments, total=False):
    """The arguments of `CaptionData` besides the number of captions that are drawn."""


class CaptionData(TableData):
    """Images or clips, each with some captions.

    In training a batch has a number of images and some captions of each (`batches=pictures`), or a number of captions
    of one length (`lengths`). In evaluation it has a number of images with all their captions. A batch holds each image
    once, for any number of its captions. `spec.longest_target` is the maximum over all three splits, with the end: only
    training captions are filtered. A family of clips reads clips for images here.
    """

    nouns: ClassVar[Nouns] = CAPTIONS
    encoding: ClassVar[type[CaptionEncoder]]
    text_options = CaptionTextOptions
    store_of: ClassVar[type[PictureStore]] = PictureStore
    length_parts = (WORDS,)
    filter_keys = "data.text.max_length"
    each: ClassVar[str] = "captions_per_image"  # The key of the captions that are drawn
    text: CaptionTextOptions
    spec: CaptionSpec
    encoder: CaptionEncoder

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
        """Reads no file.

        Args:
            picture: how a picture is prepared, see `PictureOptions`.
            grid: rows and columns of cells that can be attended.
            batches: `pictures` or `lengths`, see above.
            captions_per_image: with `pictures`, the number of captions of each image that are drawn in each epoch;
                None: all.
            features: the configuration of an encoder, such as `${model.encoder}`. Batches then hold its features, which
                are computed once, see `zoo.data.captions.features`. None: batches hold pixels.
            rest: the arguments of `TableData`. `loader.batch_size` counts images, or captions in the training batches
                of `lengths`, in which `loader.max_tokens` counts their tokens.
        """
        super().__init__(**rest)
        one_of("data.batches", batches, ("pictures", "lengths"))
        hold("data.grid", list(grid), Grid)
        hold(f"data.{self.each}", captions_per_image, Count | None)
        if batches == "lengths" and captions_per_image is not None:
            raise ConfigError(
                f"data.{self.each}={captions_per_image} draws captions for data.batches=pictures; with "
                "data.batches=lengths an epoch has every caption once: set it to null"
            )
        if batches == "pictures" and self.loader.max_tokens is not None:
            raise ConfigError(
                f"data.loader.max_tokens={self.loader.max_tokens} counts tokens, and data.batches=pictures counts "
                f"{self.row_noun}: use data.loader.batch_size, or data.batches=lengths"
            )
        self.picture = PictureOptions.of(picture)
        self.grid = (int(grid[0]), int(grid[1]))
        self.batches, self.captions_per_image = batches, captions_per_image
        if features is not None and self.picture.varies:
            raise ConfigError(
                "data.features: features are computed once, and data.picture.random_crop and data.picture.flip change "
                "the pictures in each epoch: set both to false, or data.features=null"
            )
        self.features = None if features is None else dict(features)

    # What a family defines

    row_noun: str = "images"

    @abstractmethod
    def pixels(self, folder: Path, about: Mapping[str, Any]) -> Pictures:
        """The pixels of all pictures of a prepared folder; those of a clip are consecutive."""

    @abstractmethod
    def spec_of(self, about: Mapping[str, Any], **facts: Any) -> CaptionSpec:
        """The spec, from the description of the prepared data, and the `facts` that every spec has."""

    def own_options(self) -> dict[str, Any]:
        """The arguments of the encoder besides its vocabularies, as plain data."""
        return {"picture": asdict(self.picture), "grid": list(self.grid)}

    def served(self, folder: Path, pictures: Pictures) -> Pictures:
        """The pictures or features as batches need them, by the numbers of the images: the pictures themselves."""
        return pictures

    # Preparing

    def prepare_data(self) -> None:
        super().prepare_data()
        if self.features is not None:
            folder = self._folder(self.open_source())
            pixels = self.pixels(folder, json.loads((folder / ABOUT).read_text("utf-8")))
            store_features(*self._frozen(pixels, self.features), pixels, self.loader.num_workers)

    def _frozen(self, pixels: Pictures, encoder: Mapping[str, Any]) -> tuple[Path, FrozenEncoder]:
        frozen = FrozenEncoder(encoder, (pixels.shape[1], pixels.shape[2]), self.grid)
        return cache_root(self.loader.cache_dir) / self.name, frozen

    def new_encoder(self) -> CaptionEncoder:
        return self.encoding(self.text, **self.own_options())

    @contextmanager
    def storing(self, folder: Path) -> Iterator[None]:
        with closing(self.store_of(folder)) as self._pictures:
            yield

    def examples(self, rows: Iterator[PictureRow], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        """The images with captions. Blank captions are common in training files, and counted there; in other splits
        they are bad rows, as is a NUL byte in any split."""
        for row in rows:
            if any("\0" in caption for caption in row.captions):
                reading.bad(row.place, "NUL byte", "the file is binary or damaged")
                continue
            kept = [caption for caption in row.captions if caption.strip()]
            if len(kept) < len(row.captions) and not reading.training:
                reading.bad(row.place, "no text", f"a caption of {row.name} is empty")
            elif len(kept) < len(row.captions):
                reading.dropped["empty captions"] += len(row.captions) - len(kept)
            if kept:
                facts = {} if row.facts is None else {"facts": json.dumps(row.facts, ensure_ascii=False)}
                yield {"name": row.name, **self._pictures.add(row), "captions": kept, **facts}
            elif reading.training:
                reading.dropped[f"{self.row_noun} without captions"] += 1
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
        """Write a row for each image with captions that are not filtered."""
        images, captions = (np.fromiter(values_of(part["train"], "stored"), np.int64) for part in (raw, tokens))
        keep = np.isin(images, captions)
        if not keep.all():
            readings["train"].dropped[f"{self.row_noun} without captions"] += int((~keep).sum())
            raw["train"] = raw["train"].select(np.flatnonzero(keep))
        save({name: part.remove_columns("key") for name, part in raw.items()}, folder / IMAGES)

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        return {self.row_noun: len(np.unique(numbers_of(split, "stored")))}

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        longest = max(int(numbers_of(part, f"num_{WORDS}").max()) for part in splits.values())
        return {"picture_shape": self._pictures.shape, "longest_target": longest + 1}  # the end

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {self.row_noun.removesuffix("s"): row["name"], "captions": " | ".join(row["captions"])}

    def shown_rows(self, raw: datasets.Dataset, tokens: datasets.Dataset) -> datasets.Dataset:
        return raw

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        pictures, frozen = self.pixels(folder, about), None
        files = pictures.files if self.features is not None else None
        if self.features is not None:
            pictures, frozen = stored_features(*self._frozen(pictures, self.features), pictures)
        self.encoder = self.encoding.from_state(self.encoder_state(folder) | self.own_options())
        self.encoder.features = frozen
        channels, height, width = pictures.shape
        self.spec = self.spec_of(
            about,
            channels=channels,
            height=height,
            width=width,
            target_size=about["vocabulary_size"],
            longest_target=about["longest_target"],
            grid=self.grid,
            encoded=pictures.encoded,
        )
        captions, images = (datasets.load_from_disk(folder / name) for name in (EXAMPLES, IMAGES))
        words: dict[str, Any] = {"places": self.encoding.places, "description": self.encoding.description}
        served = self.served(folder, pictures)
        return {
            name: CaptionedPictures(
                part, images[name], served, evaluation=self.overfitting or name != "train", files=files, **words
            )
            for name, part in captions.items()
        }

    def set_spec(self, about: Mapping[str, Any]) -> None:
        """`_read` sets it, because it also depends on the pictures."""

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
            return LengthOrder(part.lengths, shuffle=shuffle, seed=seed, **limits)
        ones = np.ones(len(part.captions_of))
        images = Bucketed(ones, shuffle=shuffle, seed=seed, pool=1, nouns=PICTURES, **limits)
        return PictureOrder(images, part.captions_of, each=self.captions_per_image, shuffle=shuffle, seed=seed)

    def evaluation_order(self, part: StoredSplit) -> Order:
        assert isinstance(part, CaptionedPictures)
        longest, tokens = np.zeros((2, len(part.captions_of)), np.int64)
        np.maximum.at(longest, part.image_of, part.lengths)
        np.add.at(tokens, part.image_of, part.lengths)
        lengths = longest if self.loader.max_tokens is None else tokens
        images = Evaluation(lengths, **self.loader.limit, **self.ranks, nouns=PICTURES)
        return PictureOrder(images, part.captions_of)

    def training_references(self) -> Iterator[list[list[int]]]:
        """The ids of all captions of each training image, without their ends."""
        part = self.part("train")
        captions = values_of(part.stored, "ids")
        return (list(islice(captions, count)) for count in part.captions_of.tolist())

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        what, spec = "features" if self.spec.encoded else "pixels", self.spec
        return [
            f"a vocabulary of {about['vocabulary_size']:,} tokens",
            f"{what} of {spec.channels} x {spec.height} x {spec.width}, cells of {spec.grid[0]} x {spec.grid[1]}",
        ]
