"""The Children's Book Test: twenty sentences of a book, and the next one with a word taken out.

Hill, Bordes, Chopra and Weston 2016, https://arxiv.org/abs/1511.02301: named entities (NE) 108,719 for training, common
nouns (CN) 120,769, verbs (V) 105,825, prepositions (P) 334,030; of each kind 2,000 to validate and 2,500 for the test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zoo.data.cloze.books import BookSplitOptions, cut_source
from zoo.data.cloze.cutting import KINDS as CUT_KINDS
from zoo.data.cloze.module import ClozeData
from zoo.data.cloze.options import ClozeTextOptions, Kind
from zoo.data.cloze.readers import read_cbt
from zoo.data.cloze.samples import stories
from zoo.data.cloze.sources import hub_cbt
from zoo.data.cloze.writing import write_cbt
from zoo.data.options import LoaderOptions, SampleOptions, SplitOptions
from zoo.data.rows import BadRows
from zoo.data.sources import SPLITS, Source, existing, file_source, find_splits, sample_source, split_of
from zoo.errors import ConfigError, DataError, one_of

KINDS = {"NE": "named entities", "CN": "common nouns", "V": "verbs", "P": "prepositions"}
LAYOUT = (
    "a folder with cbtest_NE_train.txt, cbtest_NE_valid_2000ex.txt and cbtest_NE_test_2500ex.txt, or a file of that "
    "form, from which validation and test are drawn"
)


class ChildrensBookTest(ClozeData):
    """Questions of one kind. `source`: `sample`, `hub`, or a path: CBTest/data, another folder with files of that form
    whose names say train, valid and test, or one file."""

    name = "cbt"

    def __init__(
        self,
        *,
        source: str | None = "sample",
        kind: Kind = "NE",
        sample: Mapping[str, Any] | SampleOptions | None = None,
        split: Mapping[str, Any] | SplitOptions | None = None,
        text: Mapping[str, Any] | ClozeTextOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """`source` is `sample`, `hub` or the path of the official files; `kind` the words that are taken out; `sample`
        its sizes; the rest as in `ClozeData`."""
        one_of("data.kind", kind, KINDS)
        super().__init__(
            text=text,
            split=split,
            loader=loader,
        )
        self.source = source
        self.kind = kind
        self.sample = SampleOptions.of(sample)
        self._texts: list[Path] = []

    def open_source(self) -> Source:
        if self._texts:
            return self._cut()
        if not self.source:
            raise ConfigError(f"data.source is not set; expected: sample, hub, or the path of {LAYOUT}")
        if self.source == "sample":
            if self.kind not in stories.KINDS:
                raise ConfigError(
                    f"data.kind={self.kind}: the sample takes out {' or '.join(stories.KINDS)} alone; take one of "
                    f"these, data.source=hub, or data.source=PATH of {LAYOUT}"
                )
            return sample_source(stories.generate, self.sample, f"{self.kind} questions", kind=self.kind)
        if self.source == "hub":
            return hub_cbt(self.kind)
        return self._files(existing(self.source, "data.source", f"sample, hub, or the path of {LAYOUT}"))

    def write(self, folder: Path) -> list[Path]:
        """The questions as files in CBT's form, which `data.source=FOLDER` reads; the files."""
        return write_cbt(self.open_source(), folder, self.kind, BadRows(self.loader.on_bad_row))

    def from_text(self, files: Sequence[Path]) -> None:
        if self.kind not in CUT_KINDS:
            raise ConfigError(
                f"--from-text: data.kind={self.kind}: {' and '.join(CUT_KINDS)} can be told in plain text"
            )
        self._texts = [existing(file, "--from-text", "a plain text, UTF-8") for file in files]

    def _cut(self) -> Source:
        count = len(self._texts)
        val, test = (max(1, round(count * float(share))) for share in (self.split.val, self.split.test))
        kept = BookSplitOptions(val=val, test=test, seed=self.split.seed)
        return cut_source(self._texts, ", ".join(map(str, self._texts)), self.kind, 1, kept)

    def _files(self, path: Path) -> Source:
        files = {"train": [path]} if path.is_file() else self._official(path) or find_splits(path, [".txt"])
        if not files:
            inside = sorted(part.name for part in path.iterdir())
            found = f"found {', '.join(inside[:8])}" if inside else "the folder is empty"
            raise DataError(
                f"{path}: no training file of kind {self.kind}: {found}; expected {LAYOUT}; or take data.source=sample"
            )
        return file_source(path, files, read_cbt, f"{self.kind} questions")

    def _official(self, path: Path) -> dict[str, list[Path]]:
        """The files of this kind, by split, where the folder has any of CBT's names. Raises DataError where it has
        those of other kinds alone."""
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
