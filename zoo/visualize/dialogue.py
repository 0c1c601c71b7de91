"""The view of dialogues: the turns with the attention that they got, the reply, and a talk in the terminal."""

import json
import sys
from argparse import Namespace, _ArgumentGroup
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from zoo.data.dialogues.encoding import BETWEEN
from zoo.errors import DataError, UnusableInput
from zoo.predicting.classification import AttendedSentence
from zoo.predicting.dialogue import ReplyPrediction
from zoo.predicting.texts import ExaminedText
from zoo.printable import shown
from zoo.visualize.blocks import Block, Passage
from zoo.visualize.drawing import Key
from zoo.visualize.texts import TextView
from zoo.visualize.view import Field

TURNS = Key("sentences", "turn weight", "The bar before a turn is the attention it got while the reply was written.")
WORDS = Key("words", "word weight", "The colour behind a word is its attention; point at it for the numbers.")


class DialogueView(TextView):
    """Dialogues with their next turns."""

    noun = "dialogue"
    typed = '"hello , my name is Ada ." "nice to meet you , Ada ." "what is my name ?"'
    columns = ("dialogue", "reply", "log-probability")
    needs = ("source", "model.attention=hierarchical")
    axes = ("reply", "words of the dialogue")

    # Inputs

    @property
    def in_file(self) -> str:
        return "the turns of a dialogue one per line, with an empty line after them, or one JSON value per line"

    def options(self, group: _ArgumentGroup) -> None:
        super().options(group)
        chat = "talk to the network, one turn per line; an empty line or the end of the input ends the talk"
        group.add_argument("--chat", action="store_true", help=chat)

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        """Return the dialogues of a file or the standard input. Words of the command line are turns of one dialogue."""
        found: list[Any | None] = [list(words)] if words else []
        return [*found, *super().read([], file)] if file is not None or not words else found

    def parse_lines(self, lines: Sequence[str]) -> list[Any | None]:
        """Return the dialogues of lines: the turns of each one per line with an empty line after them, or one JSON
        value per line."""
        found: list[Any | None] = []
        for blank, group in groupby(lines, lambda line: not line.strip()):
            turns = [] if blank else list(group)
            if turns and turns[0].lstrip().startswith(("{", "[")):
                found += map(self.parse, turns)
            elif turns:
                found.append(turns)
        return found

    def parse(self, line: str) -> Any:
        """Return the dialogue of a JSON text: a list of turns, or an object with `turns` and perhaps `speakers`."""
        if not line.lstrip().startswith(("{", "[")):
            return [line]
        try:
            return json.loads(line)
        except ValueError as error:
            raise DataError(f"{line.strip()[:40]!r} is not JSON: {error}; expected a list of turns") from error

    def form(self) -> tuple[Field, ...]:
        return (Field("dialogue, one turn per line", 6),)

    def entered(self, values: Sequence[str]) -> Any:
        return [line for value in values for line in value.splitlines() if line.strip()]

    def example(self, example: Mapping[str, Any]) -> str | None:
        given = example.get(self.noun)
        return given.split(BETWEEN)[0] if isinstance(given, str) and given else None

    def talks(self, predictor: Any, options: Namespace) -> bool:
        if not options.chat:
            return False
        turns: list[str] = []
        while line := self._line():
            turns.append(line)
            try:
                (prediction,) = predictor([turns])
            except UnusableInput as error:
                turns.pop()
                print(error, file=sys.stderr)
                continue
            reply = prediction.best.text
            print(shown(reply), flush=True)
            turns.append(reply or "...")
        return True

    @staticmethod
    def _line() -> str:
        """Return the next turn of the user; empty at the end."""
        try:
            return input("> " if sys.stdin.isatty() else "").strip()
        except EOFError:
            return ""

    # Predictions

    def blocks(self, prediction: ReplyPrediction, examined: ExaminedText | None = None) -> list[Block]:  # type: ignore[override]
        head, *rest = super().blocks(prediction, examined)
        weights = prediction.mean_attention
        sentences = [self._turn(prediction, places, weights) for places in prediction.turns]
        keys = (TURNS, WORDS) if weights else ()
        return [head, Passage(sentences, weighing="joint", keys=keys), *rest]

    @staticmethod
    def _turn(prediction: ReplyPrediction, places: list[int], weights: list[float] | None) -> AttendedSentence:
        words, unknown = tuple(prediction.source[at] for at in places), set(prediction.unknown)
        total = None if weights is None else sum(weights[at] for at in places)
        own = None if weights is None or total is None else tuple(weights[at] / (total or 1) for at in places)
        return AttendedSentence(words, total, own, tuple(n for n, at in enumerate(places) if at in unknown))
