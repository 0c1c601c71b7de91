"""Flickr8k, Flickr30k and COCO: captions of photographs, in the files in which they are distributed.

Flickr8k: Hodosh, Young and Hockenmaier 2013, https://doi.org/10.1613/jair.3994, people and dogs in action: 6,000 images
for training, 1,000 for validation and 1,000 for the test, in the authors' lists and in Karpathy's.

Flickr30k: Young, Lai, Hodosh and Hockenmaier 2014, https://doi.org/10.1162/tacl_a_00166, everyday activities: 31,783
images without splits. Karpathy's splits have 29,000 for training, 1,014 for validation and 1,000 for the test.

COCO: Lin et al. 2014, https://arxiv.org/abs/1405.0312, captions by Chen et al. 2015, https://arxiv.org/abs/1504.00325:
82,783 images for training and 40,504 for validation. The split of Karpathy and Fei-Fei 2015 divides the latter: 5,000
are for validation, 5,000 for the test, and 30,504 are left over as `restval`.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar, Unpack

from zoo.data.captions.files import captioned_files, folders
from zoo.data.captions.options import PictureOptions
from zoo.data.captions.readers import CaptionedFile
from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.images.module import ImageArguments, ImageData
from zoo.data.images.readers import read_coco, read_karpathy, read_listed
from zoo.data.images.samples.scenes import SIDE
from zoo.data.images.scenes import scene_source
from zoo.data.rows import BadRows, visible
from zoo.data.sources import SPLITS, Source
from zoo.errors import ConfigError, DataError
from zoo.values import hold

KARPATHY = "https://cs.stanford.edu/people/karpathy/deepimagesent/caption_datasets.zip"
LISTS = {"train": re.compile("train"), "val": re.compile("dev|val"), "test": re.compile("test")}
"""The words in the names of lists of images, such as Flickr_8k.trainImages.txt."""
SAMPLE_GRID = (8, 8)


class PhotographArguments(ImageArguments, CorpusArguments, total=False):
    """The arguments of every corpus of photographs besides `images`."""


class Photographs(Corpus, ImageData):
    """Captions of photographs. `source` is `sample` (generated scenes), or the path of a file of captions or of a
    folder with one and with the photographs."""

    texts: ClassVar[tuple[str, ...]]
    """Names of files with captions, in order of preference; case is ignored."""
    photographs: ClassVar[str]
    """The address of the photographs."""
    on_hub = False
    restval: bool = False
    """Whether the split `restval` is trained on."""

    def __init__(self, *, images: str | None = None, **rest: Unpack[PhotographArguments]) -> None:
        """`images` is the folder of the photographs, or its parent; None: the folder of the captions. Scenes always
        have SIDE by SIDE pixels and SAMPLE_GRID cells."""
        rest["picture"] = PictureOptions.of(rest.get("picture"))
        if rest.get("source", "sample") == "sample":
            rest["picture"], rest["grid"] = PictureOptions(size=SIDE), SAMPLE_GRID
        super().__init__(**rest)
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
        file = path if path.is_file() else self._text_in(path)
        if file.suffix.lower() != ".json":
            parts = _lists(file)
            read, texts, splits = partial(read_listed, file, parts), [file, *parts.values()], list(parts) or ["train"]
        elif "captions" in file.name:
            parts = _parts(file)
            read, texts, splits = partial(_annotations, parts), list(parts.values()), list(parts)
        else:
            read, texts, splits = partial(read_karpathy, file, self.restval), [file], list(SPLITS)
        facts = {"restval": self.restval, "split": [text.name for text in texts]}
        return captioned_files(path, texts, read, splits, self.picture, facts, images=self.images, noun="photographs")

    def _text_in(self, folder: Path) -> Path:
        suffixes = (".json", ".txt", ".token", ".csv")
        inside = [file for part in folders(folder) for file in visible(part) if file.suffix.lower() in suffixes]
        for name in self.texts:
            for file in inside:
                if file.name.lower() == name.lower():
                    return file
        found = ", ".join(str(file.relative_to(folder)) for file in inside[:8]) or "no file of text"
        raise DataError(
            f"{folder}: found {found}; expected {self.layout}. The captions: {KARPATHY}; the photographs: "
            f"{self.photographs}; or use data.source=sample"
        )


class Flickr8k(Photographs):
    """`dataset_flickr8k.json`, or the authors' `Flickr8k.token.txt` with `Flickr_8k.trainImages.txt` and so on."""

    name = "flickr8k"
    texts = ("dataset_flickr8k.json", "Flickr8k.token.txt", "captions.txt")
    photographs = "https://forms.illinois.edu/sec/1713398, a form (Flickr8k_Dataset.zip)"


class Flickr30k(Photographs):
    """`dataset_flickr30k.json`, or the authors' `results_20130124.token`. Without lists such as `train.txt`, `val.txt`
    and `test.txt` the splits are drawn, by image."""

    name = "flickr30k"
    texts = ("dataset_flickr30k.json", "results_20130124.token", "results.csv")
    photographs = "https://shannon.cs.illinois.edu/DenotationGraph, a form"


class CocoArguments(PhotographArguments, total=False):
    """The arguments of `Coco` besides `restval`."""

    images: str | None


class Coco(Photographs):
    """`dataset_coco.json`, or the authors' `captions_train2014.json` with `captions_val2014.json` as the test."""

    name = "coco"
    texts = ("dataset_coco.json", "captions_train2014.json", "captions_train2017.json")
    photographs = "http://images.cocodataset.org/zips/train2014.zip and val2014.zip"

    def __init__(self, *, restval: bool = True, **rest: Unpack[CocoArguments]) -> None:
        """`restval` trains on the images of this split, too, which is usual today; Xu et al. 2015 did not."""
        hold("data.restval", restval, bool)
        super().__init__(**rest)
        self.restval = restval


def _parts(file: Path) -> dict[str, Path]:
    """`captions_train2014.json` for training and, if it exists, `captions_val2014.json` for the test."""
    if "train" not in file.name:
        raise DataError(f"{file}: expected captions_train2014.json or captions_train2017.json, to train on")
    parts = {"train": file, "test": file.with_name(file.name.replace("train", "val"))}
    return {split: part for split, part in parts.items() if part.is_file()}


def _annotations(parts: dict[str, Path], bad: BadRows) -> Iterator[CaptionedFile]:
    for split, part in parts.items():
        yield from (one._replace(split=split) for one in read_coco(part, bad))


def _lists(file: Path) -> dict[str, Path]:
    """The lists of images beside a file of captions, by split. Without lists the splits are drawn, by image."""
    lists: dict[str, Path] = {}
    for other in visible(file.parent, "*.txt"):
        for split, words in LISTS.items():
            if other != file and words.search(other.name.lower()):
                if split in lists:
                    raise DataError(f"{other}: a second list of images for {split}, beside {lists[split].name}")
                lists[split] = other
    if lists and "train" not in lists:
        listing = ", ".join(part.name for part in lists.values())
        raise DataError(f"{file.parent}: found {listing}, and no list of images to train on, such as *train*.txt")
    return lists
