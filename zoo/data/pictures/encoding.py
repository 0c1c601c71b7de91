"""Encodes pictures as batches of levels; stored pictures and those of a user by the same rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.parts import Class, Numbers, Stored
from zoo.data.pictures.batch import PictureBatch
from zoo.data.pictures.options import ShapeOptions
from zoo.data.pictures.reading import Shape, place_of, read
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.options import NoText
from zoo.errors import UnusableInput, or_nearest


@dataclass(frozen=True)
class Canvas:
    """A picture to score or to complete, or an empty one to draw into, and what is known about it."""

    picture: Any = None
    """A path, a PIL image or an array of bytes; None: nothing is drawn yet."""
    label: str | None = None
    """The name of the class."""
    factors: Sequence[float] = ()
    """Numbers that describe the picture."""
    number: int = 0
    """Its number among the pictures to draw: each number has random values of its own."""

    @classmethod
    def of(cls, one: Any) -> Canvas:
        """A canvas, a mapping of its fields, or a picture."""
        if isinstance(one, Mapping):
            return cls(**one)
        return one if isinstance(one, Canvas) else cls(one)


class PixelRows(NamedTuple):
    """Some examples of a prepared split with their pixels."""

    table: pa.Table
    numbers: list[int]  # Their numbers in the split
    pixels: NDArray[np.uint8]  # (B, C, H, W)


class PictureEncoder(TableEncoder):
    """Pictures to levels. A picture of a user is scaled as the training pictures were, or must have their size."""

    takes = "a picture: a path, a PIL image or an array of bytes; or a Canvas with the class to draw"
    options = NoText
    raw = pa.schema({"stored": pa.int64(), "key": pa.int64(), "label": pa.string(), "factors": pa.list_(pa.float32())})
    parts = (Stored("stored"), Class("label"), Numbers("factors"))
    cuts = False

    def __init__(
        self,
        *,
        bits: int = 8,
        binarised: str = "",
        shape: Sequence[int] = (),
        sizing: Mapping[str, Any] | None = None,
        classes: Sequence[str] = (),
        factors: Sequence[str] = (),
    ) -> None:
        """
        Args:
            bits: of a level.
            binarised: how grey became black and white, as in `PictureSpec`.
            shape: (H, W, C) of the prepared pictures.
            sizing: the `ShapeOptions` by which they were prepared.
            classes: their names.
            factors: the names of the numbers that describe a picture.
        """
        super().__init__(NoText())
        self.bits, self.binarised, self.shape = bits, binarised, tuple(shape)
        self.sizing = ShapeOptions.of(sizing)
        self.classes, self.factors = list(classes), tuple(factors)

    def minimum_frequency(self, count: int) -> int:
        return 1  # it is asked for, but pictures have no vocabulary

    def collate(self, rows: PixelRows) -> PictureBatch:  # type: ignore[override]
        """A batch of stored pictures."""
        parts = self.collated(rows.table)
        factors = parts["factors"].values.reshape(-1, len(self.factors)) if self.factors else None
        return PictureBatch(
            self.levels(torch.from_numpy(rows.pixels)),
            parts.get("label"),
            None if factors is None else torch.from_numpy(factors.copy()),
            index=torch.tensor(rows.numbers),
        )

    def levels(self, pixels: Tensor) -> Tensor:
        """Bytes as levels, the upper bits of each."""
        return torch.bitwise_right_shift(pixels, 8 - self.bits)

    def __call__(self, inputs: Sequence[Any]) -> PictureBatch:
        """A batch of pictures, or of canvases, which may be mappings of their fields. Raises UnusableInput for a
        picture of another size, and for an unknown class."""
        canvases = list(map(Canvas.of, inputs))
        pixels = [self._pixels(one.picture) for one in canvases]
        known = [0 if one.picture is None else self.shape[0] for one in canvases]
        labels = [self._label(one.label) for one in canvases if one.label is not None]
        factors = [self._factors(one.factors) for one in canvases if one.factors]
        for name, found in (("a class", labels), ("factors", factors)):
            if 0 < len(found) < len(canvases):
                raise UnusableInput(f"{len(found)} of {len(canvases)} pictures have {name}; give all of them or none")
        return PictureBatch(
            self.levels(torch.stack(pixels)),
            torch.tensor(labels) if labels else None,
            torch.tensor(factors) if factors else None,
            torch.tensor(known),
            index=torch.tensor([one.number for one in canvases]),
        )

    def _pixels(self, picture: Any) -> Tensor:
        """(C, H, W) bytes."""
        shape = Shape(*self.shape)
        if picture is None:
            return torch.zeros(shape.channels, shape.height, shape.width, dtype=torch.uint8)
        sizing = replace(self.sizing, channels=shape.channels)  # type: ignore[arg-type]
        return torch.from_numpy(read(picture, sizing, shape)).permute(2, 0, 1)

    def _label(self, name: str) -> int:
        if name not in self.classes:
            known = f"expected one of {', '.join(self.classes)}" if self.classes else "these pictures have no classes"
            raise UnusableInput(f"class {name!r}: {known}{or_nearest(name, self.classes)}")
        return self.classes.index(name)

    def _factors(self, given: Sequence[float]) -> list[float]:
        if len(given) != len(self.factors):
            names = ", ".join(self.factors) or "none"
            raise UnusableInput(f"found {len(given)} factors, expected {len(self.factors)}: {names}")
        return [float(one) for one in given]

    def display(self, one: Any) -> str:
        """The name of a file, or the class to draw."""
        canvas = Canvas.of(one)
        if isinstance(canvas.picture, str | Path):
            return Path(canvas.picture).name
        if canvas.picture is not None:
            return place_of(canvas.picture)
        return canvas.label or f"sample {canvas.number + 1}"

    def state(self) -> dict[str, Any]:
        return {
            "bits": self.bits,
            "binarised": self.binarised,
            "shape": list(self.shape),
            "sizing": asdict(self.sizing),
            "classes": self.classes,
            "factors": list(self.factors),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        return cls(**state)
