"""The part of the views of captions that pictures and clips share."""

import shlex
from abc import abstractmethod
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zoo.errors import DataError
from zoo.predicting.captions import ExaminedCaption
from zoo.printable import shown
from zoo.visualize.blocks import Block, Head, ranking
from zoo.visualize.drawing import Key
from zoo.visualize.view import View, ranked


class CaptionsView(View):
    """Pictures or clips with their captions."""

    truth = "captions"
    title = "What the network attended to"
    searches = ("beam", "nbest")

    @abstractmethod
    def seen(self, prediction: Any, words: Sequence[tuple[str, Any, Any]]) -> Block:
        """Return the block that shows the attention of each word: its text, its weights and its true place; the last
        two may be None."""

    def found(self, path: Path, expected: str, folders: bool = False) -> Path:
        """Return the path of an input; raises DataError if it is not a file, or with `folders` a folder."""
        if not (path.is_file() or (folders and path.is_dir())):
            raise DataError(f"{path}: {'a folder' if path.is_dir() else 'no such file'}; expected {expected}")
        return path

    def row(self, prediction: Any) -> list[Any]:
        return [shown(prediction.name), shown(prediction.best.text), round(prediction.best.log_prob, 4)]

    def terminal(self, prediction: Any, number: int, options: Namespace) -> str:
        one = "\t".join(self.row(prediction)[:2])
        return one if options.nbest is None else ranked(number, prediction.captions)

    def examined_columns(self) -> list[str]:
        return [*super().examined_columns(), "true"]

    def examined_row(self, examined: ExaminedCaption) -> list[Any]:
        return [*super().examined_row(examined), {True: "yes", False: "no", None: ""}[examined.true]]

    def try_it(self, data: Any) -> str:
        """Return the path of an input of the data, where it is a file."""
        names = [str(example.get(self.noun)) for example in data.describe().get("examples", ())]
        folder = Path(str(getattr(data, "path", None) or getattr(data, "source", "")))
        found = [path for name in names for path in (Path(name), folder / name) if path.is_file()]
        return shlex.quote(str(found[0])) if found else self.typed

    def blocks(self, prediction: Any, examined: ExaminedCaption | None = None) -> list[Block]:
        best = prediction.best
        true, places, truth = (examined.true, examined.places, examined.truth) if examined else (None, None, None)
        judged = {None: "", True: f"true of the {self.noun}", False: f"not true of the {self.noun}"}[true]
        known = "; ".join(filter(None, [judged, f"the data: {truth}" if truth else ""]))
        head = Head(
            best.text,
            above=prediction.name,
            under=f"log-probability {best.log_prob:.3f}",
            truth=("", known) if known else None,
            right=true,
            data={"caption": best.text, self.noun: prediction.name},
        )
        nothing = [None] * len(best.words)
        words = list(zip(best.words, best.attention or nothing, places or nothing, strict=False))
        ranks = Key(
            long=f"Below {'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun} are all its captions with the "
            "score they were ranked by."
        )
        return [head, self.seen(prediction, words), *ranking(prediction.captions, ranks)]
