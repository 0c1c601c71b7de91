"""The view of handwriting: lines that were written or read, with the window on the letters above them."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from zoo.data.strokes.encoding import ToWrite
from zoo.data.strokes.given import read_given
from zoo.errors import ConfigError, UnusableInput
from zoo.files import make_folder
from zoo.predicting.handwriting import ExaminedLine, HandwritingPrediction
from zoo.printable import shown
from zoo.visualize.blocks import Block, Head
from zoo.visualize.drawing import Key
from zoo.visualize.renderers.figure import draw
from zoo.visualize.strokes import HandwrittenLine, svg
from zoo.visualize.view import AttentionMap, Field, Pictures, View

MOST = 1000  # Lines that are written at once
WINDOW = Key(
    "",
    "above: a row is a letter, dark where the window looked when each point was written; below: the line",
    "Above, each row is a letter and each column a point of the pen, dark where the window looked. Below is the line, "
    "with each letter where the window looked at it. Press the line to see it written again.",
)
TRUE = Key("true", "the true letter of the points", "Frames are the true letters of the points.")
GIVEN = Key(long="Grey strokes were given, black ones were written.")


class HandwritingView(View):
    """Texts that are written by hand."""

    noun, typed = "text", '"hello world"'
    columns: ClassVar[tuple[str, ...]] = ("text", "points", "strokes", "nats")
    title = "What the network wrote by hand"
    shows = "handwriting"
    given_line: ToWrite = ToWrite()
    bias: float | None = None
    takes_text = True
    sample: int | None = None

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument("--bias", type=float, metavar="B", help="write more regularly: 0 as learned, 1 or 2 neater")
        prime = 'a JSON file {"strokes": [[[x,y],...],...], "text": "..."}: go on in this hand'
        group.add_argument("--prime", type=Path, metavar="FILE", help=prime)
        group.add_argument("--sample", type=int, metavar="N", help="write each text N times, or draw N lines")
        group.add_argument("--points", type=int, metavar="N", help="write at most N points")
        group.add_argument("--seed", type=int, default=1, metavar="S", help="write differently (default 1)")
        group.add_argument("--out", type=Path, metavar="FILE.svg", help="write the lines as a picture that moves")

    def prepare(self, predictor: Any, options: Namespace) -> None:
        super().prepare(predictor, options)
        predictor.task.write_by(bias=options.bias, points=options.points, seed=options.seed)
        self.takes_text = predictor.encoder.writes_text and bool(predictor.task.network.attends)
        if options.out is not None:
            if options.out.suffix.lower() != ".svg":
                raise ConfigError(f"--out {options.out}: expected the name of a file that ends in .svg")
            make_folder("--out", options.out)
        if options.sample is not None and not 1 <= options.sample <= MOST:
            raise ConfigError(f"--sample={options.sample}: expected a whole number from 1 to {MOST}")
        self.sample = options.sample
        if options.prime is not None:
            strokes, text = read_given(options.prime)
            self.given_line = ToWrite(None, strokes, text if predictor.encoder.writes_text else "")
            try:
                predictor.encoder.check_given(self.given_line, needs_text=self.takes_text)
            except UnusableInput as error:
                raise UnusableInput(f"{options.prime}: {error}") from error

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        if not self.takes_text and not words and file is None:
            return [self._line(None, number) for number in range(self.sample or 1)]
        found: list[Any | None] = []
        for text in super().read(words, file):
            found += [None if text is None else self._line(text, len(found) + n) for n in range(self.sample or 1)]
        return found

    def _line(self, text: str | None, number: int) -> ToWrite:
        return ToWrite(text, self.given_line.strokes, self.given_line.given, number, self.bias)

    def form(self) -> tuple[Field, ...]:
        return (Field("text" if self.takes_text else "number"), Field("bias"))

    def entered(self, values: Sequence[str]) -> ToWrite:
        first, bias = (value.strip() for value in values)
        try:
            number = 0 if self.takes_text else int(first) - 1
            found = ToWrite(first if self.takes_text else None, number=number, bias=float(bias))
        except ValueError as error:
            raise UnusableInput(f"{error}; expected numbers, such as 1") from error
        if not 0 <= float(bias) <= 100 or number < 0:
            raise UnusableInput(f"bias {bias}: expected a number from 0 on; 1 is neat")
        return found

    def try_it(self, data: Any) -> str:
        return super().try_it(data) if self.takes_text else "--sample 3"

    def example(self, example: Mapping[str, Any]) -> str | None:
        return super().example(example) if example.get("text") else None

    def row(self, prediction: HandwritingPrediction) -> list[Any]:
        nats = None if prediction.nats is None else round(prediction.nats, 4)
        return [shown(prediction.text), prediction.points, len(prediction.strokes), nats]

    def blocks(self, prediction: HandwritingPrediction, examined: ExaminedLine | None = None) -> list[Block]:
        facts = [f"{prediction.points} points in {len(prediction.strokes)} strokes"]
        if prediction.nats is not None:
            facts.append(f"{prediction.nats:.2f} nats")
        elif prediction.window is not None:
            facts.append("ended by the stop rule" if prediction.finished else "the stop rule did not end it")
        letters = examined.letters if examined else None
        if letters is not None and prediction.places:
            right = sum(place == letter for place, letter in zip(prediction.places, letters, strict=True))
            facts.append(f"{right / len(letters):.0%} of the points at their letter")
        above = "written" if prediction.nats is None else "read"
        keys = (*[WINDOW] * bool(prediction.places), *[TRUE] * bool(letters and prediction.places))
        head = Head(prediction.text or "(a line without text)", above=above, under=", ".join(facts))
        line = HandwrittenLine(prediction, letters, keys=(*keys, *[GIVEN] * (0 < prediction.given < prediction.points)))
        return [head, line]

    def maps(self, predictor: Any, given: Any, prediction: HandwritingPrediction) -> list[AttentionMap]:
        if prediction.window is None or not prediction.window.size:
            return []
        rows = [str(number) for number in range(1, len(prediction.window) + 1)]
        return [AttentionMap("points and letters", prediction.window, rows, list(prediction.text))]

    def files(self, predictions: Sequence[Any | None], options: Namespace) -> Mapping[Path, str | bytes]:
        real = [one for one in predictions if one is not None]
        return {options.out: svg(real)} if options.out is not None and real else {}

    # Whole splits

    def validation_pictures(self, task: Any) -> Pictures:
        first = task.first()
        return self._written(task, first) if task.samples and first is not None and task.due() else {}

    def test_pictures(self, task: Any) -> Pictures:
        first = task.first()
        return self._written(task, first) if task.samples and first is not None else {}

    def _written(self, task: Any, first: Any) -> Pictures:
        """The first texts of a split, or lines without texts, as the network writes them."""

        def written() -> Any:
            texts = [about.text or None for about in first.about] if task.network.attends else [None] * len(first)
            lines = [ToWrite(text, number=number) for number, text in enumerate(texts)]
            made = task.predictions(task.encoder.blank(lines).to(task.device), lines)
            return draw([block for one in made for block in self.blocks(one)])

        return {"written": written}
