"""Stories with questions of your own: files in bAbI's format, or json lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.data.options import LoaderOptions
from zoo.data.readers import kind_of
from zoo.data.sources import existing, find_splits
from zoo.data.stories.module import StoryData
from zoo.data.stories.options import OwnStorySplitOptions, StoryTextOptions
from zoo.data.stories.readers import KINDS
from zoo.data.stories.sources import StorySource, own_source
from zoo.errors import ConfigError, DataError

LAYOUT = (
    "a file in bAbI's format (.txt) or of json lines (.jsonl) with story, question and answer, or a folder with such "
    "files called train, test and perhaps val"
)


class OwnStories(StoryData):
    """Stories from `path`. Splits that are no files of their own are drawn by `split.seed`, whole stories at a time."""

    name = "stories"

    def __init__(
        self,
        *,
        path: str,
        split: Mapping[str, Any] | OwnStorySplitOptions | None = None,
        text: Mapping[str, Any] | StoryTextOptions | None = None,
        replacement: bool = False,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """`path` is one of LAYOUT; the rest as in `StoryData`."""
        self.own_split = OwnStorySplitOptions.of(split)
        super().__init__(
            split=self.own_split,
            text=text,
            replacement=replacement,
            loader=loader,
        )
        self.path = path

    def open_source(self) -> StorySource:
        if not self.path:
            raise ConfigError(f"data.path is empty; expected: {LAYOUT}")
        path = existing(self.path, "data.path", LAYOUT)
        files = find_splits(path, KINDS) if path.is_dir() else {"train": [self._file(path)]}
        if not files:
            raise DataError(f"{path}: no stories found; expected: {LAYOUT}")
        for split, other in self.own_split.named().items():
            files[split] = [
                self._file(existing(other, f"data.split.{split}", "a share between 0 and 1, or a file of stories"))
            ]
        return own_source(path, files)

    @staticmethod
    def _file(path: Path) -> Path:
        if not path.is_file() or kind_of(path) not in KINDS:
            raise DataError(f"{path}: unknown kind of file {kind_of(path)!r}; expected: {LAYOUT}")
        return path
