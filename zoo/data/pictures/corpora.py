"""MNIST, binarised MNIST, Fashion-MNIST and CIFAR-10, in the files in which they are distributed.

MNIST: LeCun, Cortes, Burges 1998, http://yann.lecun.com/exdb/mnist: 60,000 digits for training and 10,000 for the test.
The last 10,000 training pictures validate, as in Larochelle and Murray 2011,
https://proceedings.mlr.press/v15/larochelle11a.

Fashion-MNIST: Xiao, Rasul, Vollgraf 2017, https://arxiv.org/abs/1708.07747: clothes in the same form.

CIFAR-10: Krizhevsky 2009, https://www.cs.toronto.edu/~kriz/cifar.html: 50,000 and 10,000 pictures of 32 x 32 in
colours.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Unpack

import numpy as np

from zoo.arguments import Count
from zoo.data.cache import cache_root
from zoo.data.corpus import Corpus
from zoo.data.options import SampleOptions
from zoo.data.pictures.files import (
    AMAT,
    IDX,
    SPLITS_OF_IDX,
    Arrays,
    cifar_files,
    named,
    read_amat,
    read_cifar,
    read_idx,
)
from zoo.data.pictures.glyphs import glyph_source
from zoo.data.pictures.module import PictureArguments, PictureData
from zoo.data.pictures.reading import Picture
from zoo.data.pictures.samples import glyphs
from zoo.data.rows import BadRows
from zoo.data.sources import Source, download, identity, path_source
from zoo.errors import ConfigError, DataError, one_of
from zoo.values import hold

LAROCHELLE = "http://www.cs.toronto.edu/~larocheh/public/datasets/binarized_mnist/"
Read = Callable[[], Arrays]


class PictureCorpusArguments(PictureArguments, total=False):
    """The arguments of every published set of pictures."""

    source: str | None
    sample: Mapping[str, Any] | SampleOptions | None


class CutArguments(PictureCorpusArguments, total=False):
    """The arguments of sets whose validation is cut from their training pictures."""

    validation: int


class PictureCorpus(Corpus, PictureData):
    """Published pictures. `source` is `sample` (glyphs of the same size), `torchvision`, `hub`, or the path of the
    official files."""

    classes: ClassVar[tuple[str, ...]]
    side: ClassVar[int]
    channels: ClassVar[int] = 1
    repository: ClassVar[tuple[str, str]]
    """The name on the Hugging Face hub, and its column of pictures."""
    library: ClassVar[str]
    """The class of torchvision.datasets that downloads them."""

    def __init__(self, *, validation: int = 10_000, **rest: Unpack[PictureCorpusArguments]) -> None:
        """`validation` is the number of training pictures, the last ones, that validate; `rest` is as in `Corpus` and
        `PictureData`."""
        hold("data.validation", validation, Count)
        super().__init__(**rest)
        self.validation = validation

    @abstractmethod
    def arrays(self, path: Path) -> tuple[dict[str, Read], list[Path]] | None:
        """The readers of `train`, `test` and, if it has files of its own, `val`, and the files; None if the path has
        none of the layouts."""

    @property
    def sources(self) -> str:
        return f"sample, torchvision, hub, or the path of {self.layout}"

    def open_source(self) -> Any:
        return self.open_torchvision() if self.source == "torchvision" else super().open_source()

    def open_sample(self) -> Source:
        characters = glyphs.CHARACTERS[: len(self.classes)]
        classes = dict(zip(characters, self.classes, strict=True))
        return glyph_source(self.sample, self.side, characters, self.channels, classes)

    def entropy(self, given: str | None = None) -> float | None:
        """The entropy of the sample; None for pictures whose distribution is not known."""
        if self.source != "sample" or self.binarised or given == "factors":
            return None
        characters = glyphs.CHARACTERS[: len(self.classes)]
        return glyphs.entropy(self.side, characters, self.channels == 3, self.bits, given)

    def open_hub(self) -> Source:
        repository, column = self.repository

        def read(split: str) -> Arrays:
            found = download(repository, split, (column, "label"))
            rows = [(np.asarray(row[column]), row["label"]) for row in found]
            pixels = np.stack([picture for picture, _ in rows]).astype(np.uint8)
            labels = np.array([label for _, label in rows], np.int64)
            return Arrays(pixels.reshape(*pixels.shape[:3], -1), labels, f"{repository}, {split}")

        splits = self._cut({split: partial(read, split) for split in ("train", "test")})
        facts = {"hub": repository, "validation": self.validation}
        return Source(repository, f"hub: {repository}, {{count}} pictures", facts, splits, self.classes)

    def open_torchvision(self) -> Source:
        """The pictures as torchvision downloads them, with its checksums, into the cache."""
        folder = cache_root(self.loader.cache_dir) / "torchvision"

        def read(train: bool) -> Arrays:
            from torchvision import datasets

            try:
                found = getattr(datasets, self.library)(str(folder), train=train, download=True)
            except Exception as error:  # errors of the network and the disk have many classes
                reason = " ".join(str(error).split()) or type(error).__name__
                raise DataError(
                    f"data.source=torchvision: {self.library} cannot be downloaded ({reason}); go online, or use "
                    f"data.source=sample or data.source=PATH of {self.layout}"
                ) from error
            pixels = np.asarray(found.data, np.uint8)
            labels = np.asarray(found.targets, np.int64)
            return Arrays(pixels.reshape(*pixels.shape[:3], -1), labels, f"{folder}, {self.library}")

        splits = self._cut({"train": partial(read, True), "test": partial(read, False)})
        description = f"torchvision: {self.library} in {folder}, {{count}} pictures"
        facts = {"torchvision": self.library, "validation": self.validation}
        return Source(str(folder), description, facts, splits, self.classes)

    def open_files(self, path: Path) -> Source | None:
        found = self.arrays(path)
        if found is None:
            return None
        reads, files = found
        facts = {"files": [identity(file) for file in files], "validation": self.validation}
        source = path_source(path, "pictures", self._cut(reads), **facts)
        return Source(source.place, source.description, source.identity, source.splits, self._class_names(reads))

    def _class_names(self, reads: Mapping[str, Read]) -> tuple[str, ...] | None:
        return self.classes

    def _cut(self, reads: Mapping[str, Read]) -> dict[str, Callable[[BadRows], Iterator[Picture]]]:
        """The readers of the three splits. Without one of its own, the validation has the last training pictures."""
        once = {split: cache(read) for split, read in reads.items()}

        def rows(split: str, bad: BadRows) -> Iterator[Picture]:
            own = split in once
            arrays = once[split if own else "train"]()
            count = len(arrays.pixels)
            if not count:
                raise DataError(f"{arrays.place}: no picture in it; copy the files again")
            last = count if "val" in once or split == "test" else count - self.validation
            if last <= 0:
                raise DataError(
                    f"{arrays.place}: found {count:,} training pictures, and data.validation={self.validation} takes "
                    "all of them; set data.validation to fewer"
                )
            for number in range(last) if own else range(last, count):
                yield self._picture(arrays, number, split)

        return {split: partial(rows, split) for split in ("train", "val", "test")}

    def _picture(self, arrays: Arrays, number: int, split: str) -> Picture:
        place = f"{arrays.place}, picture {number + 1}"
        pixels = arrays.pixels[number]
        if pixels.shape != (self.side, self.side, self.channels):
            found = " x ".join(map(str, pixels.shape))
            raise DataError(f"{place}: found {found} values, expected {self.side} x {self.side} x {self.channels}")
        label = None if arrays.labels is None else int(arrays.labels[number])
        if label is not None and not 0 <= label < len(self.classes):
            raise DataError(f"{place}: its label is {label}, expected 0 to {len(self.classes) - 1}")
        return Picture(f"{split} {number + 1}", pixels, None if label is None else self.classes[label], place)


class Mnist(PictureCorpus):
    """`train-images-idx3-ubyte`, packed by gzip or not, and the three others, or a folder with `MNIST/raw`."""

    name = "mnist"
    layout = "the folder with train-images-idx3-ubyte(.gz), its labels, and those of t10k"
    classes = tuple("0123456789")
    side = 28
    repository = ("ylecun/mnist", "image")
    library = "MNIST"

    def arrays(self, path: Path) -> tuple[dict[str, Read], list[Path]] | None:
        for folder in (path, path / "raw", path / self.library / "raw"):
            found = named(folder, IDX, "split", "kind") if folder.is_dir() else {}
            if len(found) == 4:
                reads: dict[str, Read] = {
                    split: partial(read_idx, found[name, "images"], found[name, "labels"])
                    for split, name in SPLITS_OF_IDX.items()
                }
                return reads, sorted(found.values())
        return None


class FashionMnist(Mnist):
    """The files of MNIST, with clothes."""

    name = "fashion_mnist"
    classes = (
        "t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot",
    )  # fmt: skip
    repository = ("zalando-datasets/fashion_mnist", "image")
    library = "FashionMNIST"


class BinarizedMnist(Mnist):
    """Digits in black and white.

    `fixed` reads the files of Larochelle and Murray (2011), in which the black and white of each pixel was drawn once,
    with the grey as its probability, and which have no classes. `redrawn` draws from the grey digits of MNIST, anew for
    each training epoch, and once for evaluation.
    """

    name = "binarized_mnist"

    def __init__(self, *, binarisation: Literal["fixed", "redrawn"] = "fixed", **rest: Unpack[CutArguments]) -> None:
        """`binarisation` is `fixed` or `redrawn`; `rest` is as in `Mnist`, without `bits`, which are 1."""
        one_of("data.binarisation", binarisation, ("fixed", "redrawn"))
        if rest.pop("bits", 1) != 1:
            raise ConfigError("data.bits: these pictures are black and white; remove it, or use data=mnist")
        rest["bits"] = 1
        super().__init__(**rest)
        self.binarised = binarisation
        if binarisation == "fixed" and self.source in ("hub", "torchvision"):
            raise ConfigError(
                f"data.source={self.source}: it has grey digits; use data.binarisation=redrawn, or data.source=PATH of "
                f"the files of {LAROCHELLE}"
            )

    @property
    def layout(self) -> str:  # type: ignore[override]
        """The official files, for messages."""
        if self.binarised == "redrawn":
            return Mnist.layout
        return f"the folder with binarized_mnist_train.amat, _valid.amat and _test.amat ({LAROCHELLE})"

    def arrays(self, path: Path) -> tuple[dict[str, Read], list[Path]] | None:
        if self.binarised == "redrawn":
            return super().arrays(path)
        found = named(path, AMAT, "split") if path.is_dir() else {}
        if len(found) == 3:
            reads = {name.replace("valid", "val"): partial(read_amat, file) for (name,), file in found.items()}
            return {split: reads[split] for split in ("train", "val", "test")}, sorted(found.values())
        if super().arrays(path) is not None:
            raise DataError(f"{path}: these digits are grey; use data.binarisation=redrawn, or give {self.layout}")
        return None

    def _class_names(self, reads: Mapping[str, Read]) -> tuple[str, ...] | None:
        return None if "val" in reads else self.classes

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"binarised": self.binarised}


class Cifar10(PictureCorpus):
    """`data_batch_1` to `data_batch_5` and `test_batch`, or the same with `.bin`."""

    name = "cifar10"
    layout = "the folder cifar-10-batches-py or cifar-10-batches-bin, or its parent"
    classes = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
    side, channels = 32, 3
    repository = ("uoft-cs/cifar10", "img")
    library = "CIFAR10"

    def __init__(self, *, validation: int = 5_000, **rest: Unpack[PictureCorpusArguments]) -> None:
        """As in `PictureCorpus`; the last 5,000 training pictures validate."""
        super().__init__(validation=validation, **rest)

    def arrays(self, path: Path) -> tuple[dict[str, Read], list[Path]] | None:
        for folder in (path, path / "cifar-10-batches-py", path / "cifar-10-batches-bin"):
            if (found := cifar_files(folder)) is not None:
                reads: dict[str, Read] = {split: partial(read_cifar, paths) for split, paths in found.items()}
                return reads, [path for paths in found.values() for path in paths]
        return None
