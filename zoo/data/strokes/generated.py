"""Generated handwriting: the data set `strokes`, and the sample of the published one."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows
from zoo.data.sources import Source, sample_source
from zoo.data.strokes.module import StrokeData
from zoo.data.strokes.points import StrokeRow, as_lists
from zoo.data.strokes.samples import letters
from zoo.data.strokes.samples.letters import WrittenText
from zoo.data.table_data import TableArguments
from zoo.errors import DataError


class Letters(StrokeData):
    """Lines of words in small letters, each in a hand of its own; see `zoo.data.strokes.samples.letters`."""

    name = "strokes"

    def __init__(
        self, *, sample: Mapping[str, Any] | SampleOptions | None = None, **rest: Unpack[TableArguments]
    ) -> None:
        """`sample` holds the numbers of lines."""
        super().__init__(**rest)
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> Source:
        return letter_source(self.sample)

    def write(self, folder: Path) -> list[Path]:
        """Write the lines as train.jsonl, val.jsonl and test.jsonl, for data=lines. Returns the files. Raises
        DataError, and writes nothing, if the folder is not empty or an error occurs."""
        try:
            if folder.exists() and any(folder.iterdir()):
                raise DataError(f"{folder}: is not empty, and stays as it is; give a new folder")
            folder.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as made:
                inside = Path(made) / folder.name
                inside.mkdir()
                for split, read in self.open_source().splits.items():
                    with (inside / f"{split}.jsonl").open("w", encoding="utf-8") as file:
                        for row in read(self.bad_rows()):
                            line = {"text": row.text, "strokes": as_lists(row.strokes), "letters": row.letters}
                            file.write(json.dumps(line) + "\n")
                os.replace(inside, folder)
        except OSError as error:
            raise DataError(f"{folder}: cannot be written: {error.strerror}") from error
        return sorted(folder.iterdir())


def letter_source(options: SampleOptions) -> Source:
    """Generated lines."""
    source = sample_source(letters.generate, options, "lines")

    def rows(read: Callable[[BadRows], Iterator[WrittenText]], split: str, bad: BadRows) -> Iterator[StrokeRow]:
        for number, one in enumerate(read(bad), 1):
            place = f"{source.place}, {split}, line {number}"
            yield StrokeRow(f"{split} {number}", one.strokes, one.text, place, one.letters)

    return replace(source, splits={split: partial(rows, read, split) for split, read in source.splits.items()})
