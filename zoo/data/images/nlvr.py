"""Cornell NLVR: three boxes with coloured shapes, and sentences that people wrote of them.

Suhr, Lewis, Yeh and Artzi 2017, https://aclanthology.org/P17-2034, data of https://github.com/lil-lab/nlvr (CC BY 4.0).
A sentence is true or false of a picture; the true ones are its captions here. Several sentences were checked against
several pictures that were made alike, and pictures occur under more than one identifier, some in two of the official
splits: what belongs together is put into one split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, Required, Unpack

import datasets
import numpy as np
from torch import Tensor

from zoo.arguments import Count
from zoo.data.corpus import OwnFiles
from zoo.data.images.files import folders, told_apart, usable
from zoo.data.images.module import IMAGES, ImageData
from zoo.data.images.options import PictureOptions
from zoo.data.images.pictures import PictureFiles, Pictures
from zoo.data.images.row import ImageRow
from zoo.data.notes import key, repeated
from zoo.data.rows import BadRows, json_rows, line_of
from zoo.data.sources import SPLITS, Source, identity
from zoo.data.stored import values_of
from zoo.data.table_data import TextArguments
from zoo.errors import ConfigError, DataError
from zoo.values import hold

OFFICIAL = ("hidden", "test", "dev")
"""The official splits that are read: those that are trained on, and `dev`, of which half validates and half tests."""
LAYOUT = (
    "the folder `nlvr` of the official repository, with dev/dev.json, test/test.json, hidden/hidden.json and the "
    "pictures as dev/images/0/dev-0-0-0.png and so on"
)
COLUMNS = ("sentence", "label", "identifier")
NOUN = "pictures"
SIDES = (100, 400)
"""Height and width of every picture."""
BOXES, BOX, STEP = 3, 100, 150
"""Boxes of a picture, pixels of one, and from one to the next."""
SEED = 1
"""By which `dev` is divided: fixed, so that numbers can be compared."""


class Record(NamedTuple):
    """A sentence that is true of a picture."""

    official: str
    group: str
    """The first half of the identifier: of pictures that share sentences."""
    sentence: str
    picture: Path
    likeness: str
    """The same for pictures of the same boxes in whatever order."""
    place: str


class NlvrArguments(TextArguments):
    """The arguments of `Nlvr` besides those of its own."""

    path: Required[str]
    captions_per_image: NotRequired[Count | None]


class Nlvr(OwnFiles, ImageData):
    """True sentences of the pictures at `path`: those of `hidden` and `test` are trained on, one half of `dev`
    validates and the other one tests. The official `train` is not read."""

    name = "nlvr"
    layout = LAYOUT

    def __init__(
        self,
        *,
        shuffle_boxes: bool = True,
        picture: Mapping[str, Any] | PictureOptions | None = None,
        grid: Sequence[int] = (4, 16),
        batches: str = "pictures",
        features: Mapping[str, Any] | None = None,
        **rest: Unpack[NlvrArguments],
    ) -> None:
        """With `shuffle_boxes` training sees the three boxes of a picture in any order, which no sentence mentions."""
        hold("data.shuffle_boxes", shuffle_boxes, bool)
        seen = PictureOptions.of({"size": list(SIDES)} if picture is None else picture)
        if shuffle_boxes and (features is not None or seen.sides != SIDES or seen.resize not in (None, SIDES[0])):
            raise ConfigError(
                "data.shuffle_boxes=true moves the boxes of pictures of 100 by 400 pixels, each time anew: with "
                "data.features, data.picture.resize or another data.picture.size set data.shuffle_boxes=false"
            )
        super().__init__(picture=seen, grid=grid, batches=batches, features=features, **rest)
        self.shuffle_boxes = shuffle_boxes

    def open_files(self, path: Path) -> Source | None:
        inside = folders(path) if path.is_dir() else []
        root = next((folder for folder in inside if (folder / "dev" / "dev.json").is_file()), None)
        if root is None:
            return None
        files = {official: root / official / f"{official}.json" for official in OFFICIAL}
        if missing := [file for file in files.values() if not file.is_file()]:
            raise DataError(f"{missing[0]}: there is no such file; expected {LAYOUT}")
        rows = _Rows(files, self.picture)
        return Source(
            place=str(root),
            description=f"path: {root}, {{count}} {NOUN} with sentences that are true of them",
            identity={
                "files": [identity(file) for file in files.values()],
                **told_apart([file.parent for file in files.values()], self.picture),
            },
            splits={split: partial(rows.of, split) for split in SPLITS},
        )

    def pixels(self, folder: Path, about: Mapping[str, Any]) -> Pictures:
        pictures = super().pixels(folder, about)
        assert isinstance(pictures, PictureFiles)
        return Shuffled(pictures.files, pictures.options, pictures.seed) if self.shuffle_boxes else pictures

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        about = super()._write(folder, source)
        images = datasets.load_from_disk(folder / IMAGES)
        told = {
            split: np.array([key([sentence]) for one in values_of(part, "captions") for sentence in one], np.int64)
            for split, part in images.items()
        }
        return about | {"notes": [*about["notes"], *repeated(told, "sentences")]}


class Shuffled(PictureFiles):
    """The same pictures, of which training sees the boxes in any order."""

    def changed(self, numbers: Sequence[int], epoch: int) -> Tensor:
        pictures = super().changed(numbers, epoch)
        parts = [slice(STEP * box, STEP * box + BOX) for box in range(BOXES)]
        draws = [np.random.default_rng((self.seed, epoch, number, BOXES)) for number in numbers]
        found = pictures.clone()
        for row, draw in enumerate(draws):
            for to, box in enumerate(draw.permutation(BOXES)):
                found[row, :, :, parts[to]] = pictures[row, :, :, parts[box]]
        return found


class _Rows:
    """Reads all splits when the first is asked for."""

    def __init__(self, files: Mapping[str, Path], picture: PictureOptions) -> None:
        self.files, self.picture = files, picture
        self._rows: dict[str, list[ImageRow]] | None = None

    def of(self, split: str, bad: BadRows) -> Iterator[ImageRow]:
        """The rows of a split, whose pictures are opened."""
        if self._rows is None:
            records = [one for official, file in self.files.items() for one in _records(official, file, bad)]
            self._rows = _divided(records)
        return usable(self._rows[split], self.picture, bad)


def _records(official: str, file: Path, bad: BadRows) -> Iterator[Record]:
    """The true sentences of an official split."""
    pictures = {picture.name: picture for picture in sorted(file.parent.glob("images/*/*-0.png"))}
    for number, record in json_rows(file, (*COLUMNS, "structured_rep"), "", bad):
        place = line_of(file, number)
        wrong = [(column, record[column]) for column in COLUMNS if not isinstance(record[column], str)]
        name = f"{official}-{record['identifier']}-0.png"
        if wrong:
            bad(place, "no text", "{!r} is {!r}".format(*wrong[0]))
        elif record["label"] not in ("true", "false"):
            bad(place, "unknown label", f"found {record['label']!r}, expected 'true' or 'false'")
        elif name not in pictures:
            bad(place, "missing picture", f"there is no {name} in {file.parent / 'images'} or a folder of it")
        elif record["label"] == "true":
            try:
                boxes = [[sorted(thing.items()) for thing in box] for box in record["structured_rep"]]
            except (TypeError, AttributeError):
                bad(place, "no boxes", f"'structured_rep' is {str(record['structured_rep'])[:60]}, expected 3 lists")
                continue
            likeness = str(sorted(str(sorted(map(str, box))) for box in boxes))
            group = record["identifier"].partition("-")[0]
            yield Record(official, group, record["sentence"], pictures[name], likeness, place)


def _divided(records: Sequence[Record]) -> dict[str, list[ImageRow]]:
    """The rows of each split. Records of one group, and those of pictures alike, are of one split: training, where some
    of them are."""
    parts = _together(records)
    train = {part for part, one in zip(parts, records, strict=True) if one.official != OFFICIAL[-1]}
    rest = sorted(set(parts) - train)
    drawn = np.random.default_rng(SEED).permutation(len(rest))
    half = {rest[number] for number in drawn[: len(rest) // 2]}
    found: dict[str, dict[str, ImageRow]] = {split: {} for split in SPLITS}
    for part, one in zip(parts, records, strict=True):
        rows = found["train" if part in train else "val" if part in half else "test"]
        picture = blake2b(one.picture.read_bytes()).hexdigest()
        row = rows.setdefault(picture, ImageRow(one.picture.name, one.picture, (), one.place))
        if one.sentence not in row.captions:
            rows[picture] = row._replace(captions=(*row.captions, one.sentence))
    return {split: list(rows.values()) for split, rows in found.items()}


def _together(records: Sequence[Record]) -> list[int]:
    """(N,) the number of the first record that each belongs together with, over any number of steps."""
    first: dict[str, int] = {}
    of = list(range(len(records)))

    def root(number: int) -> int:
        while of[number] != number:
            number = of[number]
        return number

    for number, one in enumerate(records):
        for shared in (f"group {one.group}", one.likeness):
            other = root(first.setdefault(shared, number))
            low, high = sorted((root(number), other))
            of[high] = low
    return [root(number) for number in range(len(records))]
