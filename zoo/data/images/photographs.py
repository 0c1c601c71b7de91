"""Photographs with captions in the files in which they are passed on: what Flickr8k, Flickr30k and COCO share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Unpack

from zoo.arguments import Count
from zoo.data.corpus import Corpus
from zoo.data.images.files import FileSource, folders
from zoo.data.images.module import ImageData
from zoo.data.images.options import PictureOptions
from zoo.data.images.readers import Described, listed, read_coco, read_karpathy, read_tokens
from zoo.data.images.samples.scenes import SIDE
from zoo.data.images.scenes import scene_source
from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows, visible
from zoo.data.sources import SPLITS, Source
from zoo.data.table_data import TableArguments
from zoo.errors import ConfigError, DataError

KARPATHY = "https://cs.stanford.edu/people/karpathy/deepimagesent/caption_datasets.zip"
LISTS = {"train": re.compile("train"), "val": re.compile("dev|val"), "test": re.compile("test")}
"""What the names of lists of images say, such as Flickr_8k.trainImages.txt."""
SAMPLE_GRID = (8, 8)


class Texts(NamedTuple):
    """Files that tell captions, and how they are read."""

    files: Sequence[Path]
    read: Callable[[BadRows], Iterator[Described]]
    splits: Sequence[str]


class PhotographArguments(TableArguments, total=False):
    """The arguments of `Photographs` besides those of its own."""

    sample: Mapping[str, Any] | SampleOptions | None
    batches: str
    captions_per_image: Count | None
    features: Mapping[str, Any] | None


class Photographs(Corpus, ImageData):
    """Captions of photographs. `source`: `sample`, generated scenes, or a path: a file of captions, or a folder that
    holds one and the photographs."""

    texts: ClassVar[tuple[str, ...]]
    """Names of files with captions, those that are taken first first; letters may be of any case."""
    photographs: ClassVar[str]
    """Where the photographs can be had."""
    on_hub = False
    restval: bool = False
    """The images that Karpathy left over are trained on."""

    def __init__(
        self,
        *,
        source: str | None = "sample",
        images: str | None = None,
        picture: Mapping[str, Any] | PictureOptions | None = None,
        grid: Sequence[int] = (14, 14),
        **rest: Unpack[PhotographArguments],
    ) -> None:
        """`images` is the folder of the photographs, or one above it; None: beside the captions. `sample` gives the
        number of scenes, which have SIDE by SIDE pixels and cells of SAMPLE_GRID whatever `picture` and `grid` are."""
        sampled, seen = source == "sample", PictureOptions.of(picture)
        super().__init__(
            source=source,
            picture=PictureOptions(size=SIDE) if sampled else seen,
            grid=SAMPLE_GRID if sampled else grid,
            **rest,
        )
        self.images = images

    @property
    def layout(self) -> str:  # type: ignore[override]
        """The official files, for messages."""
        return f"{' or '.join(self.texts[:2])}, or a folder with it, and the photographs beside it or in data.images"

    def open_sample(self) -> Source:
        return scene_source(self.sample, SIDE)

    def open_hub(self) -> Source:
        raise ConfigError(
            f"data.source=hub: {self.name} is not freely available there; expected: {self.sources}. The captions: "
            f"{KARPATHY}; the photographs: {self.photographs}"
        )

    def open_files(self, path: Path) -> Source:
        found = self._texts(path if path.is_file() else self._text_in(path))
        facts = {"restval": self.restval, "split": [file.name for file in found.files]}
        return FileSource(
            path, found.files, found.read, found.splits, self.picture, self.images, facts, "photographs"
        ).source()

    def _text_in(self, folder: Path) -> Path:
        """The file of captions in a folder or below it."""
        inside = [file for part in folders(folder) for file in visible(part) if _is_text(file)]
        for name in self.texts:
            for file in inside:
                if file.name.lower() == name.lower():
                    return file
        found = ", ".join(str(file.relative_to(folder)) for file in inside[:8]) or "no file of text"
        raise DataError(
            f"{folder}: found {found}; expected {self.layout}. The captions: {KARPATHY}; the photographs: "
            f"{self.photographs}; or use data.source=sample"
        )

    def _texts(self, file: Path) -> Texts:
        """How a file of captions is read, and the files that go with it."""
        if file.suffix.lower() == ".json":
            return _coco(file) if "captions" in file.name else _karpathy(file, self.restval)
        return _tokens(file)


def _is_text(file: Path) -> bool:
    return file.suffix.lower() in (".json", ".txt", ".token", ".csv")


def _karpathy(file: Path, restval: bool) -> Texts:
    return Texts([file], partial(read_karpathy, file, restval), SPLITS)


def _coco(file: Path) -> Texts:
    """`captions_train2014.json` for training and, where it is there, `captions_val2014.json` as the test; what is
    lacking is drawn from the images to train on."""
    if "train" not in file.name:
        raise DataError(f"{file}: expected captions_train2014.json or captions_train2017.json, to train on")
    parts = {"train": file, "test": file.with_name(file.name.replace("train", "val"))}
    parts = {split: part for split, part in parts.items() if part.is_file()}

    def read(bad: BadRows) -> Iterator[Described]:
        return chain.from_iterable(
            (one._replace(split=split) for one in read_coco(part, bad)) for split, part in parts.items()
        )

    return Texts(list(parts.values()), read, list(parts))


def _tokens(file: Path) -> Texts:
    """Lines of captions, and the lists of images beside them; without lists the splits are drawn by image."""
    lists: dict[str, Path] = {}
    for other in visible(file.parent, "*.txt"):
        for split, said in LISTS.items():
            if other != file and said.search(other.name.lower()):
                if split in lists:
                    raise DataError(f"{other}: a second list of images for {split}, beside {lists[split].name}")
                lists[split] = other
    if lists and "train" not in lists:
        listing = ", ".join(part.name for part in lists.values())
        raise DataError(f"{file.parent}: found {listing}, and no list of images to train on, such as *train*.txt")

    def read(bad: BadRows) -> Iterator[Described]:
        return listed(read_tokens(file, bad), lists, bad) if lists else read_tokens(file, bad)

    return Texts([file, *lists.values()], read, list(lists) or ["train"])
