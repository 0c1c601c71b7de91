"""Multi30k: captions of photographs in English, German, French and Czech.

Elliott, Frank, Sima'an and Specia 2016, https://aclanthology.org/W16-3210: 29,000 pairs for training, 1,014 to validate
and test sets of 1,000 or fewer. The official text is that of task 1, https://github.com/multi30k/dataset.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Unpack

from zoo.data.corpus import Corpus
from zoo.data.options import SampleOptions
from zoo.data.pairs.module import PairData
from zoo.data.pairs.samples import translations
from zoo.data.pairs.sources import NOUN, PairRow, generated_pairs, line_source
from zoo.data.rows import BadRows
from zoo.data.sources import HUB_SPLITS, SPLITS, Source, hub_source
from zoo.data.table_data import TextArguments
from zoo.data.text.tokenization import RuleTokenizer
from zoo.errors import ConfigError, DataError, one_of

LANGUAGES = ("en", "de", "fr", "cs")
HUB = "bentrevett/multi30k"
HUB_LANGUAGES = ("en", "de")
HUB_TEST = "test_2016_flickr"
FOLDERS = (".", "data/task1/raw", "task1/raw", "data/raw", "raw")
LAYOUT = "the folder of the official repository, with data/task1/raw/train.de.gz, train.en.gz, val.de.gz and so on"


class Multi30kArguments(TextArguments, total=False):
    """The arguments of `Multi30k` besides those of its own."""

    source: str | None
    sample: Mapping[str, Any] | SampleOptions | None


class Multi30k(Corpus, PairData):
    """Captions and their translations. A path is the official repository or its folder data/task1/raw, .gz or not."""

    name = "multi30k"
    layout = LAYOUT

    def __init__(
        self,
        *,
        source_language: str = "de",
        target_language: str = "en",
        test: str = HUB_TEST,
        **rest: Unpack[Multi30kArguments],
    ) -> None:
        """The languages are two of en, de, fr and cs. The sample is German and English. `test` is the name of a test
        set, as in the official files."""
        languages = source_language, target_language
        for key, language in zip(("source_language", "target_language"), languages, strict=True):
            one_of(f"data.{key}", language, LANGUAGES)
        if source_language == target_language:
            raise ConfigError(f"data.source_language and data.target_language are both {source_language!r}")
        super().__init__(languages=languages, **rest)
        self.test = test

    def open_sample(self) -> Source:
        if set(self.languages) != {"de", "en"}:
            raise ConfigError(
                f"data.source=sample: its languages are German and English; for {'-'.join(self.languages)} use "
                f"data.source=PATH of {LAYOUT}"
            )
        source, target = (RuleTokenizer("words", language, False).join for language in self.languages)
        back = {"back": True} if self.languages[0] == "en" else {}
        return generated_pairs(translations.generate, self.sample, f"{NOUN} of sentences", (source, target), **back)

    def open_hub(self) -> Source:
        if not set(self.languages) <= set(HUB_LANGUAGES) or self.test != HUB_TEST:
            raise ConfigError(
                f"data.source=hub: {HUB} holds {' and '.join(HUB_LANGUAGES)} with {HUB_TEST} only; for "
                f"{'-'.join(self.languages)} and {self.test} use data.source=PATH of {LAYOUT}"
            )

        def read(record: Mapping[str, Any], place: str, bad: BadRows) -> Iterator[PairRow]:
            source, target = (record[language] or "" for language in self.languages)
            yield PairRow(source, target, (place, place))

        return hub_source(HUB, HUB_SPLITS, self.languages, read, f"{NOUN} {'-'.join(self.languages)}")

    def open_files(self, path: Path) -> Source | None:
        folder = next((path / part for part in FOLDERS if any((path / part).glob("train.*"))), None)
        if folder is None:
            return None
        names = dict(zip(SPLITS, ("train", "val", self.test), strict=True))
        files = {split: (self._file(folder, name, 0), self._file(folder, name, 1)) for split, name in names.items()}
        return line_source(f"{path}, {'-'.join(self.languages)}, {self.test}", files)

    def _file(self, folder: Path, name: str, side: int) -> Path:
        name = f"{name}.{self.languages[side]}"
        for file in (folder / name, folder / f"{name}.gz"):
            if file.is_file():
                return file
        there = sorted({file.name.removesuffix(".gz") for file in folder.glob("*.*") if file.is_file()})
        raise DataError(
            f"{folder / name}: file not found, nor {name}.gz; found: {', '.join(there)} (the keys are "
            "data.source_language, data.target_language and data.test)"
        )
