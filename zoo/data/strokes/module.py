"""The base class of all data of handwriting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import datasets
import numpy as np
from numpy.typing import NDArray

from zoo.data.order import Nouns
from zoo.data.sources import Reading, Source
from zoo.data.stored import histogram, numbers_of
from zoo.data.strokes.batch import StrokeSpec
from zoo.data.strokes.encoding import StrokeEncoder
from zoo.data.strokes.options import LetterOptions
from zoo.data.strokes.points import StrokeRow, UnusableStrokes, key_of, of_points, plain, to_offsets
from zoo.data.table_data import TableData
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.vocabulary import Vocabulary
from zoo.errors import DataError


class StrokeData(TableData):
    """Lines of strokes, each with its text, or all without. `loader.max_tokens` counts points.

    The offsets get mean 0 and standard deviation 1 over the training lines; checkpoints hold both. A line of a single
    point and an empty text are bad rows.
    """

    tasks: ClassVar[tuple[str, ...]] = ("handwriting",)
    nouns: ClassVar[Nouns] = Nouns("lines", "points")
    encoding = StrokeEncoder
    text_options = LetterOptions
    text: LetterOptions
    spec: StrokeSpec
    encoder: StrokeEncoder

    # Preparing

    def examples(self, rows: Iterator[StrokeRow], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        has_text: bool | None = None
        for row in rows:
            text = None if row.text is None else plain(row.text)
            has_text = text is not None if has_text is None else has_text
            if text == "" or (text is not None) != has_text:
                found = "found none" if text is None else "found an empty one" if text == "" else "found one"
                reading.bad(row.place, "text", f"{found}, expected {'a' if has_text else 'no'} text as in other lines")
                continue
            try:
                offsets = to_offsets(row.strokes)
                letters = None if row.letters is None else of_points(row.letters, row.strokes)
            except UnusableStrokes as error:
                reading.bad(row.place, error.problem, error.detail)
                continue
            yield {
                "name": row.name,
                **({} if text is None else {"line": text}),
                "points": offsets.ravel(),
                **({} if letters is None else {"letters": letters}),
                "size": len(offsets),
                "key": key_of(offsets, text),
            }

    def learn(self, encoder: TableEncoder, source: Source, splits: dict[str, datasets.Dataset]) -> None:
        if "text" in splits["train"].column_names:
            super().learn(encoder, source, splits)
        else:
            encoder.by_name["letters"] = Vocabulary([])

    def finish(self, encoder: TableEncoder, source: Source, splits: Mapping[str, datasets.Dataset]) -> None:
        assert isinstance(encoder, StrokeEncoder)
        if len(texts := {"line" in split.column_names for split in splits.values()}) > 1:
            raise DataError(f"{source.place}: some splits have texts and others have none; expected {texts} to agree")
        encoder.mean, encoder.scale = moments(splits["train"])
        if min(encoder.scale) == 0:
            raise DataError(f"{source.place}: the pen never moves in {'xy'[encoder.scale.index(0.0)]}; check the files")

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        return {"points": histogram(numbers_of(split, "size"))}

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"line": f"{row['name']}, {row['size']} points", "text": row.get("line") or ""}

    # Serving

    def set_spec(self, about: Mapping[str, Any]) -> None:
        size = len(self.encoder.vocabulary) if self.encoder.writes_text else 0
        self.spec = StrokeSpec(vocabulary_size=size, lines=about["splits"]["train"]["lines"])

    def lengths(self, split: datasets.Dataset) -> NDArray[Any]:
        return numbers_of(split, "size")

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        letters = len(self.encoder.vocabulary.state())
        numbers = [f"({', '.join(f'{one:.4g}' for one in part)})" for part in (self.encoder.mean, self.encoder.scale)]
        return [
            f"{letters} letters" if letters else "no text",
            f"offsets (x, y) minus {numbers[0]}, divided by {numbers[1]}",
        ]


def moments(lines: datasets.Dataset) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The mean and the standard deviation of the offsets (x, y) of lines."""
    count, total, squares = 0, np.zeros(2), np.zeros(2)
    for table in lines.with_format("arrow").iter(batch_size=1000):
        offsets = np.asarray(table["points"].combine_chunks().flatten()).reshape(-1, 3)[:, :2].astype(np.float64)
        count, total, squares = count + len(offsets), total + offsets.sum(0), squares + np.square(offsets).sum(0)
    mean = total / count
    deviation = np.sqrt(np.maximum(squares / count - mean**2, 0))
    return tuple(mean.tolist()), tuple(deviation.tolist())
