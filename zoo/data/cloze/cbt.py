"""The Children's Book Test: twenty sentences of a book, and the next one with a word removed.

Hill, Bordes, Chopra and Weston 2016, https://arxiv.org/abs/1511.02301: named entities (NE) 108,719 for training, common
nouns (CN) 120,769, verbs (V) 105,825, prepositions (P) 334,030; of each kind 2,000 to validate and 2,500 for the test.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

from zoo.data.cloze.books import BookSplitOptions, cut_source
from zoo.data.cloze.cutting import KINDS as CUT_KINDS
from zoo.data.cloze.module import ClozeData
from zoo.data.cloze.readers import HUB_COLUMNS, hub_question, read_cbt, write_cbt
from zoo.data.cloze.samples import stories
from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.sources import (
    HUB_SPLITS,
    SPLITS,
    Source,
    existing,
    file_source,
    find_splits,
    hub_source,
    sample_source,
    split_of,
)
from zoo.errors import ConfigError, DataError, one_of

KINDS = {"NE": "named entities", "CN": "common nouns", "V": "verbs", "P": "prepositions"}
HUB = "cam-cst/cbt"
LAYOUT = (
    "a folder with cbtest_NE_train.txt, cbtest_NE_valid_2000ex.txt and cbtest_NE_test_2500ex.txt, or a file of that "
    "form, from which validation and test are drawn"
)


class ChildrensBookTest(Corpus, ClozeData):
    """Questions of one kind. A path is CBTest/data, another folder with files of that form whose names contain train,
    valid and test, or one file."""

    name = "cbt"
    layout = LAYOUT

    def __init__(self, *, kind: Literal["NE", "CN", "V", "P"] = "NE", **rest: Unpack[CorpusArguments]) -> None:
        """`kind` selects the words that are removed."""
        one_of("data.kind", kind, KINDS)
        super().__init__(**rest)
        self.kind = kind
        self._texts: list[Path] = []

    def open_source(self) -> Any:
        if not self._texts:
            return super().open_source()
        val, test = (max(1, round(len(self._texts) * float(share))) for share in (self.split.val, self.split.test))
        kept = BookSplitOptions(val=val, test=test, seed=self.split.seed)
        return cut_source(self._texts, ", ".join(map(str, self._texts)), self.kind, 1, kept)

    def open_sample(self) -> Source:
        if self.kind not in stories.KINDS:
            raise ConfigError(
                f"data.kind={self.kind}: the sample removes only {' or '.join(stories.KINDS)}; use one of these, "
                f"data.source=hub, or data.source=PATH of {LAYOUT}"
            )
        return sample_source(stories.generate, self.sample, f"{self.kind} questions", kind=self.kind)

    def open_hub(self) -> Source:
        return hub_source(HUB, HUB_SPLITS, HUB_COLUMNS, hub_question, "questions", name=self.kind)

    def write(self, folder: Path) -> list[Path]:
        return write_cbt(self.open_source(), folder, self.kind, self.bad_rows())

    def from_text(self, files: Sequence[Path]) -> None:
        if self.kind not in CUT_KINDS:
            raise ConfigError(
                f"--from-text: data.kind={self.kind}: {' and '.join(CUT_KINDS)} can be found in plain text"
            )
        self._texts = [existing(file, "--from-text", "a plain text, UTF-8") for file in files]

    def open_files(self, path: Path) -> Source | None:
        files = {"train": [path]} if path.is_file() else self._official(path) or find_splits(path, [".txt"])
        return file_source(path, files, read_cbt, f"{self.kind} questions") if files else None

    def _official(self, path: Path) -> dict[str, list[Path]]:
        """The files of this kind by split, if the folder has any with the names of CBT. Raises DataError if it has only
        those of other kinds."""
        folder = next((part for part in (path, path / "data") if any(part.glob("cbtest_*.txt"))), None)
        if folder is None:
            return {}
        found: dict[str, list[Path]] = {}
        for file in sorted(folder.glob(f"cbtest_{self.kind}_*.txt")):
            if split := split_of(file.name):
                found.setdefault(split, []).append(file)
        if "train" not in found:
            kinds = sorted({file.name.split("_")[1] for file in folder.glob("cbtest_*_train*.txt")})
            raise DataError(
                f"{folder}: no cbtest_{self.kind}_train.txt; there are training questions of the kinds "
                f"{', '.join(kinds) or '(none)'} (the key is data.kind)"
            )
        return {split: found[split] for split in SPLITS if split in found}
