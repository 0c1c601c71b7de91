"""Lines of handwriting to batches: letters become ids, and offsets get mean 0 and standard deviation 1."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.parts import Number, Numbers, Padded, Ragged, Shown, Words, gridded
from zoo.data.strokes.batch import LineDescription, StrokeBatch
from zoo.data.strokes.options import LetterOptions
from zoo.data.strokes.points import Points, UnusableStrokes, plain, to_offsets
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.vocabulary import Vocabulary
from zoo.errors import UnusableInput

NUMBERS = pa.list_(pa.float32())
LIKE = 4.0  # How many times as long, or as short, the offsets of a given line may be as those of the training lines


@dataclass(frozen=True)
class ToWrite:
    """A text to write, and perhaps a line that is already written: the hand in which to go on."""

    text: str | None = None
    """None: a network that reads no text draws a line."""
    strokes: Sequence[Points] = ()
    """The strokes that are given, (n, 2) each, y upwards, in the units of the training lines."""
    given: str = ""
    """The text of these strokes."""
    number: int = 0
    """Its number among the lines to write: each number has random values of its own."""
    bias: float | None = None
    """How carefully it is written, see `zoo.layers.mixture.Mixture.of`; None: as the run was configured."""

    @property
    def whole(self) -> str:
        """The given text and the new one."""
        return plain(" ".join(filter(None, [self.given, self.text])))

    @classmethod
    def of(cls, one: Any) -> ToWrite:
        """A `ToWrite`, a mapping of its fields, or a text."""
        return cls(**one) if isinstance(one, Mapping) else one if isinstance(one, ToWrite) else cls(one)


class OptionalLetters(Words):
    """The letters of a text, which all lines of some data lack."""

    def notes(self, facts: Mapping[str, Any], text: Any, noun: str) -> list[str]:
        return super().notes(facts, text, noun) if self.unknown in facts else []


class StrokeEncoder(TableEncoder):
    """Offsets minus their mean and divided by their standard deviation, both of the training lines, and letters."""

    takes = "a text to write, or a ToWrite with strokes that are given"
    options = LetterOptions
    raw = pa.schema(
        {
            "name": pa.string(),
            "line": pa.string(),
            "points": NUMBERS,
            "letters": pa.list_(pa.int32()),
            "size": pa.int32(),
            "key": pa.int64(),
        }
    )
    given = ("line",)
    parts = (
        OptionalLetters("text", "letters", lengths="letters"),
        Numbers("points"),
        Numbers("letters", training=False),
        Number("size"),
        Shown("name"),
        Shown("line"),
    )
    text_options: LetterOptions

    def __init__(
        self,
        text: LetterOptions,
        vocabularies: Sequence[Vocabulary] = (),
        subwords: Sequence[str | None] = (),
        *,
        mean: Sequence[float] = (0.0, 0.0),
        scale: Sequence[float] = (1.0, 1.0),
    ) -> None:
        """`mean` and `scale` are the mean and the standard deviation of the offsets (x, y) of the training lines."""
        super().__init__(text, vocabularies, subwords)
        self.mean, self.scale = tuple(mean), tuple(scale)

    def extra_state(self) -> dict[str, Any]:
        return {"mean": list(self.mean), "scale": list(self.scale)}

    def files(self) -> dict[str, str]:
        about = "offsets (x, y) are read as (offset - mean) / scale; y grows upwards"
        return super().files() | {"scale.json": json.dumps({"about": about, **self.extra_state()}, indent=1)}

    @property
    def writes_text(self) -> bool:
        """Whether the training lines have texts."""
        return bool(self.vocabulary.state())

    def tokens(self, table: pa.Table) -> pa.Table:
        if "line" not in table.column_names:
            return table
        letters = [self.tokenizers["text"].split(text).forms for text in table["line"].to_pylist()]
        return table.append_column("text", pa.array(letters, pa.list_(pa.string())))

    def numbered(self, table: pa.Table, evaluated: bool) -> pa.Table:
        return self.ids(table, evaluated)

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> StrokeBatch:
        given: Ragged = parts["points"]
        mask = _prefix(given.lengths // 3)
        points = gridded(self.normal(given.values.reshape(-1, 3)), mask)
        text: Padded | None = parts.get("text")
        letters, about = None, None
        if (owners := parts.get("letters")) is not None:
            letters = gridded(owners.values.astype(np.int64) + 1, mask) - 1
        if (names := parts.get("name")) is not None:
            about = tuple(map(LineDescription, names, parts.get("line") or [""] * len(names)))
        return StrokeBatch(
            points,
            torch.from_numpy(mask),
            text=None if text is None else text.values,
            text_mask=None if text is None else text.mask,
            letters=letters,
            index=index,
            about=about,
        )

    def normal(self, offsets: NDArray[Any]) -> NDArray[np.float32]:
        """(N, 3) offsets in the units of files -> as networks read them."""
        mean, scale = (np.array([*part, rest]) for part, rest in ((self.mean, 0), (self.scale, 1)))
        return ((offsets - mean) / scale).astype(np.float32)

    def in_units(self, points: NDArray[Any]) -> NDArray[np.float64]:
        """(N, 3) the inverse of `normal`."""
        mean, scale = (np.array([*part, rest]) for part, rest in ((self.mean, 0), (self.scale, 1)))
        return points.astype(np.float64) * scale + mean

    def __call__(self, inputs: Any) -> StrokeBatch:
        """A batch of texts to write. Raises UnusableInput for letters that training did not have, for a missing text,
        and for given strokes of another scale."""
        one = isinstance(inputs, str | Mapping | ToWrite)
        return self.blank([self.display(line) for line in ([inputs] if one else inputs)])

    def blank(self, lines: Sequence[ToWrite]) -> StrokeBatch:
        """A batch of lines to write, without the checks of a call: letters that training did not have are unknown."""
        offsets = [to_offsets(line.strokes) if line.strokes else np.zeros((0, 3), np.float32) for line in lines]
        mask = _prefix(np.array([len(given) for given in offsets], np.int64))
        points = gridded(self.normal(np.concatenate(offsets)), mask)
        text = text_mask = None
        if self.writes_text:
            ids = [self.vocabulary.encode(self.tokenizers["text"].split(line.whole).forms) for line in lines]
            real = _prefix(np.array(list(map(len, ids)), np.int64))
            text, text_mask = gridded(np.concatenate(ids).astype(np.int64), real), torch.from_numpy(real)
        return StrokeBatch(
            points,
            torch.from_numpy(mask),
            text=text,
            text_mask=text_mask,
            index=torch.tensor([line.number for line in lines]),
            about=tuple(LineDescription(line.text or f"line {line.number + 1}", line.whole) for line in lines),
        )

    def _checked(self, line: ToWrite) -> ToWrite:
        if not self.writes_text:
            if line.text is not None:
                raise UnusableInput(
                    f"{line.text!r}: the training lines had no text, so that this network cannot write one; use "
                    "--sample N to draw lines"
                )
            return line
        if line.text is not None and not line.text.strip():
            raise UnusableInput('no text to write: give one, such as "hello world"')
        self._check_letters(line.text or "")
        return line

    def _check_letters(self, text: str) -> None:
        forms = self.tokenizers["text"].split(text).forms
        if unknown := sorted({letter for letter in forms if letter not in self.vocabulary}):
            known = "".join(sorted(self.vocabulary.state())).strip()
            raise UnusableInput(
                f"{text!r}: the training lines had no {' '.join(map(repr, unknown))}; known are {known} and blanks"
            )

    def _check_scale(self, offsets: NDArray[np.float32]) -> None:
        if len(offsets):
            long = float(np.sqrt(np.square(self.normal(offsets)[:, :2]).mean()))
            if not 1 / LIKE < long < LIKE:
                raise UnusableInput(
                    f"the given strokes have offsets {long:.2g} times as long as those of the training lines; scale "
                    "the points, or their distance, to be like those"
                )

    def display(self, one: Any) -> ToWrite:
        """The line to write. Raises UnusableInput as a call does."""
        line = self._checked(ToWrite.of(one))
        self.check_given(line, needs_text=line.text is not None)
        return line

    def check_given(self, line: ToWrite, *, needs_text: bool) -> None:
        """Raise UnusableInput for given strokes without a text where the network needs one, with letters that training
        did not have, or of another scale."""
        if not line.strokes:
            return
        if needs_text and not line.given:
            raise UnusableInput("the given strokes have no text, which this network needs; add their text")
        self._check_letters(line.given)
        try:
            self._check_scale(to_offsets(line.strokes))
        except UnusableStrokes as error:
            raise UnusableInput(str(error)) from error


def _prefix(lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(B, T) True at the first of so many places of each row."""
    return np.arange(lengths.max(initial=0)) < lengths[:, None]
