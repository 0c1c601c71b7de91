"""Lines that a network writes by hand, and the surprisal of lines that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from zoo.arguments import Count, Natural, NonNegative
from zoo.data.strokes.batch import StrokeBatch, StrokeSpec
from zoo.data.strokes.encoding import StrokeEncoder, ToWrite
from zoo.data.strokes.points import Points, as_lists, to_strokes
from zoo.decoding.strokes import Line, surprisals, write_lines
from zoo.errors import ConfigError
from zoo.layers.modes import evaluating
from zoo.predicting.predicting import Examined, Predicting, Prediction
from zoo.values import hold

PER_LETTER, WITHOUT_TEXT = 60, 300
"""The most points that are written per letter, and those of a line without a text."""


@dataclass(frozen=True)
class HandwritingPrediction(Prediction):
    """A line that was written, or read."""

    text: str  # The whole text, that of given strokes included; empty without text
    strokes: tuple[Points, ...]  # (n, 2) each, y upwards, from the origin on, in the units of the training lines
    given: int  # The points that were given; the network drew the others
    window: NDArray[np.float32] | None
    """(T, U) the weights of the letters when each point after the first was predicted; None without attention."""
    finished: bool  # Whether the stop rule ended the line
    nats: float | None = None  # The surprisal of a line that was read

    @property
    def points(self) -> int:
        """T, the points after the origin."""
        return sum(map(len, self.strokes)) - 1

    @property
    def places(self) -> list[int]:
        """(T,) the letter with the largest weight for each point; empty without attention."""
        return [] if self.window is None or not self.window.size else self.window.argmax(1).tolist()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`; `text` and `strokes` can be given by --prime."""
        found: dict[str, Any] = {"text": self.text, "given_points": self.given, "finished": self.finished}
        if self.nats is not None:
            found["nats"] = round(self.nats, 4)
        window = None if self.window is None else np.round(self.window.astype(np.float64), 4).tolist()
        return {**found, "strokes": as_lists(self.strokes), "letters": self.places, "window": window}


@dataclass(frozen=True)
class ExaminedLine(Examined):
    """A line of a split as the network read it."""

    prediction: HandwritingPrediction
    letters: tuple[int, ...] | None
    """(T,) the true letter of each point, if it is known."""


class HandwritingPredictions(Predicting):
    """The lines that any network for `handwriting` writes."""

    name = "handwriting"
    view: ClassVar[str] = "zoo.visualize.handwriting.HandwritingView"
    spec: StrokeSpec
    encoder: StrokeEncoder
    seed: int = 1
    """The seed of what is drawn, so that a text is written in the same way each time."""
    most: int | None = None
    """The most points of a line, in place of those by its text."""
    bias: float | None = None
    """The bias of lines that have none of their own; None: that of the run."""

    def write_by(self, *, bias: float | None = None, points: int | None = None, seed: int = 1) -> None:
        """Write in another way. Raises ConfigError for values that are not allowed."""
        hold("--bias", bias, NonNegative | None)
        hold("--points", points, Count | None)
        hold("--seed", seed, Natural)
        self.bias, self.most, self.seed = bias, points, seed

    @property
    def usual_bias(self) -> float:
        """The bias of lines that have none of their own."""
        return float(self.options.get("bias", 0.0) if self.bias is None else self.bias)

    def predictions(self, batch: StrokeBatch, words: list[ToWrite]) -> list[HandwritingPrediction]:
        """Written lines; `words` are what the batch was made from. Raises ConfigError if a network that reads texts
        gets none."""
        if self.network.attends and any(line.text is None for line in words):
            raise ConfigError("this network writes texts, and a line has none; use ToWrite(text=...)")
        bias = [self.usual_bias if line.bias is None else line.bias for line in words]
        lines = self.write(batch, bias)
        rows = zip(lines, batch.point_mask.sum(1).tolist(), words, strict=True)
        return [self._shown(line, given, one.whole, None) for line, given, one in rows]

    def write(self, batch: StrokeBatch, bias: Sequence[float]) -> list[Line]:
        """The lines of a batch, in the units of the network."""
        given = batch.point_mask.sum(1).tolist()
        if batch.text_mask is None or not self.network.attends:
            new = [self.most or WITHOUT_TEXT] * len(batch)
        else:
            new = [self.most or PER_LETTER * (1 + letters) for letters in batch.text_mask.sum(1).tolist()]
        most = [one + more for one, more in zip(given, new, strict=True)]
        with evaluating(self.network):
            return write_lines(self.network, batch, most=most, bias=list(bias), seed=self.seed)

    def examine(self, batch: StrokeBatch) -> list[ExaminedLine]:
        output = self.network(batch)
        nats = self.surprisal(output.logits, batch)
        window, found = output.attention.get("window"), []
        for row, (number, size) in enumerate(zip(batch.index.tolist(), batch.point_mask.sum(1).tolist(), strict=True)):
            text = "" if batch.about is None else batch.about[row].text
            weights = np.zeros((size, 0), np.float32)
            if window is not None and batch.text_mask is not None:
                weights = window[row, :size, : int(batch.text_mask[row].sum())].float().cpu().numpy()
            line = Line(batch.points[row, :size].float().cpu().numpy(), weights, True)
            letters = None if batch.letters is None else tuple(batch.letters[row, :size].tolist())
            one = self._shown(line, size, text, float(nats[row]))
            found.append(ExaminedLine(number, one, text or None, letters))
        return found

    def surprisal(self, outputs: Tensor, batch: StrokeBatch) -> Tensor:
        """(B,) -log p of each line in nats, in double precision."""
        each = surprisals(outputs, batch.points)
        return each.where(batch.point_mask, 0).sum(1, dtype=each.double().dtype)

    def _shown(self, line: Line, given: int, text: str, nats: float | None) -> HandwritingPrediction:
        strokes = tuple(to_strokes(self.encoder.in_units(line.points)))
        window = line.weights if self.network.attends else None
        return HandwritingPrediction(text, strokes, given, window, line.finished, nats)
