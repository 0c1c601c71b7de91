"""Cornell NLVR: pictures of three boxes with coloured shapes, and sentences that people wrote about them.

Suhr, Lewis, Yeh and Artzi 2017, https://aclanthology.org/P17-2034, data of https://github.com/lil-lab/nlvr (CC BY 4.0).
A sentence is true or false of a picture; the true ones are its captions here. A sentence was checked against several
similar pictures, and some pictures occur under several identifiers or in two official splits. All records that belong
together are put into one split.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Required, Unpack

import datasets
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from zoo.arguments import Count
from zoo.data.captions.files import checked_splits, folders, images_identity
from zoo.data.captions.module import IMAGES, PictureArguments
from zoo.data.captions.options import PictureOptions
from zoo.data.captions.pictures import PictureFiles, PictureRow
from zoo.data.corpus import OwnFiles
from zoo.data.images.module import ImageData
from zoo.data.notes import key, repeated
from zoo.data.rows import BadRows, json_rows, line_of
from zoo.data.sources import SPLITS, Source, identity
from zoo.data.stored import values_of
from zoo.data.table_data import TextArguments
from zoo.errors import ConfigError, DataError
from zoo.values import hold

OFFICIAL = ("hidden", "test", "dev")
"""The official splits that are read. Half of `dev` is for validation and half for the test, the others for training."""
LAYOUT = (
    "the folder `nlvr` of the official repository, with dev/dev.json, test/test.json, hidden/hidden.json and the "
    "pictures as dev/images/0/dev-0-0-0.png and so on"
)
COLUMNS = ("sentence", "label", "identifier")
SIDES = (100, 400)  # Height and width of every picture
BOXES, BOX, STEP = 3, 100, 150
"""Boxes of a picture, pixels of a box, and pixels from one box to the next."""
SEED = 1
"""The seed that divides `dev`. It is fixed, so that scores can be compared."""


class Record(NamedTuple):
    """A sentence that is true of a picture."""

    official: str
    group: str  # The first half of the identifier, which pictures with the same sentences share
    sentence: str
    picture: Path
    contents: str  # Equal for pictures of the same boxes in any order
    place: str


class NlvrArguments(TextArguments, PictureArguments, total=False):
    """The arguments of `Nlvr` besides `shuffle_boxes`."""

    path: Required[str]
    captions_per_image: Count | None


class Nlvr(OwnFiles, ImageData):
    """True sentences of the pictures at `path`. The official splits `hidden` and `test` are for training, half of `dev`
    for validation and half for the test. The official `train` is not read."""

    name = "nlvr"
    layout = LAYOUT

    def __init__(self, *, shuffle_boxes: bool = True, **rest: Unpack[NlvrArguments]) -> None:
        """With `shuffle_boxes` training sees the three boxes of a picture in any order, which no sentence mentions. By
        default there are 4 x 16 cells, and `batches` is `pictures`."""
        hold("data.shuffle_boxes", shuffle_boxes, bool)
        picture = PictureOptions.of(rest.get("picture") or {"size": list(SIDES)})
        moved = picture.sides != SIDES or picture.resize not in (None, SIDES[0])
        if shuffle_boxes and (moved or rest.get("features") is not None):
            raise ConfigError(
                "data.shuffle_boxes=true moves the boxes of pictures of 100 by 400 pixels, each time anew: with "
                "data.features, data.picture.resize or another data.picture.size set data.shuffle_boxes=false"
            )
        rest["picture"] = picture
        rest.setdefault("grid", (4, 16))
        rest.setdefault("batches", "pictures")
        super().__init__(**rest)
        self.picture_files = ShuffledBoxes if shuffle_boxes else PictureFiles

    def open_files(self, path: Path) -> Source | None:
        inside = folders(path) if path.is_dir() else []
        root = next((folder for folder in inside if (folder / "dev" / "dev.json").is_file()), None)
        if root is None:
            return None
        files = {official: root / official / f"{official}.json" for official in OFFICIAL}
        if missing := [file for file in files.values() if not file.is_file()]:
            raise DataError(f"{missing[0]}: file not found; expected {LAYOUT}")

        def rows(bad: BadRows) -> Iterator[tuple[str, PictureRow]]:
            return _divided([one for official, file in files.items() for one in _records(official, file, bad)])

        return Source(
            place=str(root),
            description=f"path: {root}, {{count}} pictures with sentences that are true of them",
            identity={
                "files": [identity(file) for file in files.values()],
                **images_identity([file.parent for file in files.values()], self.picture),
            },
            splits=checked_splits(rows, SPLITS, self.picture),
        )

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        about = super()._write(folder, source)
        images = datasets.load_from_disk(folder / IMAGES)
        keys = {
            split: np.array([key([sentence]) for some in values_of(part, "captions") for sentence in some], np.int64)
            for split, part in images.items()
        }
        return about | {"notes": [*about["notes"], *repeated(keys, "sentences")]}


class ShuffledBoxes(PictureFiles):
    """Pictures whose boxes training sees in any order."""

    def changed(self, numbers: Sequence[int], epoch: int) -> Tensor:
        pictures = super().changed(numbers, epoch)
        parts = [slice(STEP * box, STEP * box + BOX) for box in range(BOXES)]
        draws = [np.random.default_rng((self.seed, epoch, number, BOXES)) for number in numbers]
        found = pictures.clone()
        for row, draw in enumerate(draws):
            for to, box in enumerate(draw.permutation(BOXES)):
                found[row, :, :, parts[to]] = pictures[row, :, :, parts[box]]
        return found


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
            contents = str(sorted(str(sorted(map(str, box))) for box in boxes))
            group = record["identifier"].partition("-")[0]
            yield Record(official, group, record["sentence"], pictures[name], contents, place)


def _divided(records: Sequence[Record]) -> Iterator[tuple[str, PictureRow]]:
    """(split, row) of each picture. Records that belong together are in one split, training if one of them is."""
    parts = _components(records)
    train = {part for part, one in zip(parts, records, strict=True) if one.official != OFFICIAL[-1]}
    rest = sorted(set(parts) - train)
    drawn = np.random.default_rng(SEED).permutation(len(rest))
    half = {rest[number] for number in drawn[: len(rest) // 2]}
    found: dict[tuple[str, str], PictureRow] = {}
    for part, one in zip(parts, records, strict=True):
        split = "train" if part in train else "val" if part in half else "test"
        picture = split, blake2b(one.picture.read_bytes()).hexdigest()
        row = found.setdefault(picture, PictureRow(one.picture.name, one.picture, (), one.place))
        if one.sentence not in row.captions:
            found[picture] = row._replace(captions=(*row.captions, one.sentence))
    return ((split, row) for (split, _), row in found.items())


def _components(records: Sequence[Record]) -> list[int]:
    """(N,) the number of the component of each record, in order of first records. Records of one group belong together,
    as do records of equal contents."""
    first: dict[str, int] = {}
    shared = [[f"group {one.group}", one.contents] for one in records]
    links = [(number, first.setdefault(name, number)) for number, names in enumerate(shared) for name in names]
    ends: NDArray[np.int64] = np.array(links, np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(links)), (ends[0], ends[1])), shape=(len(records), len(records)))
    return list(connected_components(graph, directed=False)[1].tolist())
