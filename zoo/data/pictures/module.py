"""The base class of all data sets of pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Unpack

import datasets
import numpy as np
from numpy.typing import NDArray

from zoo.data.captions.pictures import PIXELS, PictureStore, StoredPictures
from zoo.data.order import EpochOrder, Nouns, Order
from zoo.data.pictures.batch import PictureSpec
from zoo.data.pictures.encoding import PictureEncoder, PixelRows
from zoo.data.pictures.options import Bits, ShapeOptions
from zoo.data.pictures.reading import Picture
from zoo.data.sources import Reading, Source
from zoo.data.stored import StoredSplit, numbers_of, values_of
from zoo.data.table_data import TableArguments, TableData
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.options import NoText
from zoo.values import hold

FIXED = 1  # The seed of pixels that are drawn once


class PictureArguments(TableArguments, total=False):
    """The arguments of `PictureData`."""

    bits: int


class PictureData(TableData):
    """Pictures of one size, with or without classes, as bytes in one file. `bits` act when a batch is made."""

    tasks: ClassVar[tuple[str, ...]] = ("density", "adversarial")
    nouns: ClassVar[Nouns] = Nouns("pictures", "pixels")
    encoding: ClassVar[type[TableEncoder]] = PictureEncoder
    text_options = NoText
    factors: ClassVar[Sequence[str]] = ()
    """The names of the numbers that describe a picture."""
    binarised: str = ""
    """How grey becomes black and white: `fixed` or `redrawn`; empty: by its upper bits."""
    shape_options = ShapeOptions()
    encoder: PictureEncoder
    spec: PictureSpec

    def __init__(self, *, bits: int = 8, **rest: Unpack[TableArguments]) -> None:
        """Reads no file.

        Args:
            bits: of the value of a pixel, 1, 2, 5 or 8.
            rest: the arguments of `TableData`.
        """
        hold("data.bits", bits, Bits)
        super().__init__(**rest)
        self.bits = bits

    def entropy(self, given: str | None = None) -> float | None:
        """The entropy of a picture in nats, given its `label`, its `factors` or nothing; None where it is unknown."""
        return None

    def new_encoder(self) -> PictureEncoder:
        sizing = asdict(self.shape_options)
        return PictureEncoder(bits=self.bits, binarised=self.binarised, sizing=sizing, factors=self.factors)

    # Preparing

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"picture": asdict(self.shape_options)}

    @contextmanager
    def storing(self, folder: Path) -> Iterator[None]:
        with closing(PictureStore(folder)) as self._store:
            yield

    def examples(self, rows: Iterator[Picture], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        for row in rows:
            if row.label is not None and not reading.knows(row.label, row.place, "pictures"):
                continue
            stored = self._store.add(row)  # type: ignore[arg-type]
            label = {} if row.label is None else {"label": row.label}
            yield {**stored, **label, **({"factors": row.factors} if row.factors else {})}

    def strata(self, train: datasets.Dataset) -> NDArray[Any] | None:
        if "label" not in train.column_names:
            return None
        return np.unique(np.array([*values_of(train, "label")]), return_inverse=True)[1]

    def learn(self, encoder: TableEncoder, source: Source, splits: dict[str, datasets.Dataset]) -> None:
        """Learn nothing, because pictures have no vocabulary."""

    def finish(self, encoder: TableEncoder, source: Source, splits: Mapping[str, datasets.Dataset]) -> None:
        assert isinstance(encoder, PictureEncoder) and self._store.shape is not None
        channels, height, width = self._store.shape
        encoder.shape = (height, width, channels)
        if "label" in splits["train"].column_names:
            encoder.classes = list(source.classes or sorted({*values_of(splits["train"], "label")}))

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"picture": f"number {row['stored'] + 1}", **({"class": row["label"]} if "label" in row else {})}

    # Serving

    def _stored_encoder(self, folder: Path) -> PictureEncoder:
        state = self.encoder_state(folder)
        return PictureEncoder.from_state(state | {"bits": self.bits, "binarised": self.binarised})

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        height, width, channels = self.encoder_state(folder)["shape"]
        self._pictures = StoredPictures(folder / PIXELS, (channels, height, width))
        return super()._read(folder, about)

    def set_spec(self, about: Mapping[str, Any]) -> None:
        height, width, channels = self.encoder.shape
        self.spec = PictureSpec(
            channels=channels,
            height=height,
            width=width,
            levels=2**self.bits,
            classes=tuple(self.encoder.classes),
            factors=len(self.factors),
            binarised=self.binarised,
        )

    def stored_split(self, split: datasets.Dataset, evaluated: bool) -> StoredSplit:
        columns = [part.name for part in self.encoding.parts if part.read(evaluated)]
        seed = None if evaluated or self.binarised == "fixed" else self.loader.seed
        return PictureSplit(split, columns, self._pictures, binary=bool(self.binarised), seed=seed)

    def training_order(self, part: StoredSplit) -> Order:
        limits: dict[str, Any] = {**self.loader.limit, **self.ranks}
        shuffle, seed = not self.overfitting, self.loader.seed
        return EpochOrder(part.lengths, shuffle=shuffle, seed=seed, pool=1, nouns=self.nouns, **limits)

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        height, width, channels = self.encoder.shape
        colours = "grey" if channels == 1 else "red, green and blue"
        found = [f"{height} x {width} pixels, {colours}, {2**self.bits} levels"]
        if self.binarised:
            found.append(f"black and white drawn from grey, {self.binarised}")
        if classes := about["classes"]:
            names = ", ".join(classes[:20]) + ", ..." * (len(classes) > 20)
            found.append(f"{len(classes)} {'class' if len(classes) == 1 else 'classes'}: {names}")
        if (entropy := self.entropy()) is not None:
            found.append(f"entropy {entropy:.4f} nats a picture")
        return found


class PictureSplit(StoredSplit):
    """The pictures of a prepared split, indexed by the numbers of `EpochOrder`: number % N is the picture, number // N
    the epoch."""

    def __init__(
        self,
        examples: datasets.Dataset,
        columns: Sequence[str],
        pictures: StoredPictures,
        *,
        binary: bool = False,
        seed: int | None = None,
    ) -> None:
        """With `binary` grey is the probability of white. Black and white are drawn anew in each epoch by `seed`, or
        once without one."""
        super().__init__(examples, columns, np.ones(len(examples)))
        self.pictures, self.binary, self.seed = pictures, binary, seed
        self._stored: NDArray[np.int64] = numbers_of(examples, "stored").astype(np.int64)

    def __getitem__(self, index: int) -> PixelRows:  # type: ignore[override]
        return self.__getitems__([index])

    def __getitems__(self, index: list[int]) -> PixelRows:  # type: ignore[override]
        epochs, numbers = np.divmod(np.asarray(index, np.int64), len(self))
        pixels = self.pictures[self._stored[numbers].tolist()].numpy()
        if self.binary:
            seeds = [FIXED, 0] if self.seed is None else [self.seed, int(epochs[0])]
            each = zip(pixels, numbers.tolist(), strict=True)
            pixels = np.stack([drawn(one, (*seeds, number)) for one, number in each])
        return PixelRows(self._examples[numbers.tolist()], numbers.tolist(), pixels)


def drawn(pixels: NDArray[np.uint8], seed: Sequence[int]) -> NDArray[np.uint8]:
    """Bytes 0 or 255, drawn with a probability of white of `pixels` / 255."""
    random = np.random.default_rng(seed).random(pixels.shape)
    return np.where(random * 255 < pixels, np.uint8(255), np.uint8(0))
