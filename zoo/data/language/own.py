"""A text of your own, or else the sample: `data=text`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from zoo.data.corpus import OwnFiles
from zoo.data.language.corpus import from_files, sample
from zoo.data.language.module import LanguageArguments, LanguageData
from zoo.data.options import OwnSplitOptions, SampleOptions
from zoo.data.rows import visible
from zoo.data.sources import SPLITS, Source, existing, find_splits
from zoo.errors import ConfigError

SUFFIXES = (".txt", ".text", ".tokens", ".raw", ".md")
LAYOUT = (
    f"a text file, .gz or not, or a folder with texts ({', '.join(SUFFIXES)}, .gz or not) called train, test and "
    "perhaps val, or of any names"
)


class Text(OwnFiles, LanguageData):
    """A text from `path`, or the sample without one.

    A file is cut: the last shares of it are validation and test. Of a folder whose files are not named after splits,
    whole files are drawn for validation and test by `split.seed`.
    """

    name = "text"
    layout = LAYOUT
    split_options = OwnSplitOptions

    def __init__(
        self,
        *,
        path: str | None = None,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[LanguageArguments],
    ) -> None:
        """`path` is a file or a folder, and `sample` the size of the sample in lines."""
        super().__init__(path=path or "", **rest)
        self.sample = SampleOptions.of(sample)

    def open_sample(self) -> Source:
        return sample(self.sample)

    def open_files(self, path: Path) -> Source | None:
        files = {"train": [path]} if path.is_file() else self._in_folder(path)
        if not files:
            return None
        for split, other in self.split.named().items():
            files[split] = [existing(other, f"data.split.{split}", "a share between 0 and 1, or a text file")]
        return from_files(path, files, self.text, self.loader.encoding)

    def _in_folder(self, folder: Path) -> dict[str, list[Path]]:
        if named := find_splits(folder, SUFFIXES):
            return named
        every = [file for file in visible(folder) if file.name.removesuffix(".gz").lower().endswith(SUFFIXES)]
        if len(every) < len(SPLITS):
            return {"train": every} if every else {}
        return dict(zip(SPLITS, self._drawn(every), strict=True))

    def _drawn(self, files: Sequence[Path]) -> Iterator[list[Path]]:
        """Whole files for train, validation and test, with about the shares of their bytes."""
        order = np.random.default_rng(self.split.seed).permutation(len(files))
        sizes = np.array([files[number].stat().st_size for number in order])
        shares = [getattr(self.split, split) for split in SPLITS[1:]]
        if not all(isinstance(share, float) for share in shares):
            raise ConfigError(
                "data.split: a file for one split needs a file for the training too: data.path=FILE, or a folder with "
                "files called train, val and test"
            )
        before = (sizes.cumsum() - sizes) / sizes.sum()
        bounds = np.cumsum([0.0, *shares[::-1]])  # test first, then validation
        part = np.searchsorted(bounds, before, "right")  # 1: test, 2: validation, 3: train
        part[:2] = [1, 2] if len(set(part)) < len(SPLITS) else part[:2]
        for number in (3, 2, 1):
            yield sorted(files[place] for place, one in zip(order, part, strict=True) if one == number)
