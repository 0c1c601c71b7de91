"""Stores pictures while images are prepared: their pixels, or the names of their files."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from zoo.data.images.pictures import PictureWriter
from zoo.data.images.row import ImageRow, Named
from zoo.data.notes import key

PIXELS, FILES = "pixels.bin", "files.json"
KEYED = 2**16
"""Bytes of a file that distinguish it from others of its size."""


class PictureStore:
    """Writes the pictures of one split after the other, or collects the names of their files."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._pixels, self._files = folder, PictureWriter(folder / PIXELS), list[str]()

    def __enter__(self) -> Self:
        self._pixels.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pixels.__exit__(kind, error, trace)
        if self._files and error is None:
            (self._folder / PIXELS).unlink()
            (self._folder / FILES).write_text(json.dumps(self._files, ensure_ascii=False), "utf-8")

    @property
    def shape(self) -> Any:
        """(C, H, W) of the stored pixels, None where there are files."""
        return self._pixels.shape

    def columns(self, row: ImageRow) -> dict[str, Any]:
        """Store the picture of a row; the columns of the row, with the number under which the picture is stored."""
        if isinstance(row.picture, Path):
            stored, known = len(self._files), _key_of_file(row.picture)
            self._files.append(str(row.picture.absolute()))
        else:
            stored, known = self._pixels.add(row.picture), key([row.picture.tobytes()])
        facts = None if row.facts is None else json.dumps(row.facts, ensure_ascii=False)
        found: dict[str, Any] = {
            "name": row.name,
            "stored": stored,
            "key": known,
            "captions": list(row.captions),
            "facts": facts,
        }
        if row.boxes is not None:
            found["named"] = [[value for word in named for value in _numbers(word)] for named in row.boxes]
        return found


def _numbers(word: Named) -> list[float]:
    return [word.begin, word.end, *word.box]


def _key_of_file(file: Path) -> int:
    """A number that copies of one file share."""
    with file.open("rb") as source:
        return key([file.stat().st_size, source.read(KEYED)])
