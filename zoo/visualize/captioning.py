"""The view of captioning: images, their captions, and where the network looked for each word."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path
from typing import Any

from zoo.data.images.files import SUFFIXES
from zoo.data.rows import visible
from zoo.errors import DataError
from zoo.tasks.captioning import CaptionPrediction, ExaminedCaption
from zoo.visualize.blocks import Block, Head, Rows
from zoo.visualize.drawing import Key
from zoo.visualize.drawings.images import AttendedImage, Word
from zoo.visualize.printable import shown
from zoo.visualize.view import View, ranked

MAPS = Key(
    "",
    "bright: looked at; beside a word its largest weight",
    "A small image with each word is bright where the network looked when it wrote the word, with the largest weight "
    "beside the word; point at it, or reach it by the tab key, to see it large.",
)
OBJECT = Key("true", "the object that the word names")
RANKED = Key("", "", "Below an image are all its captions with the score they were ranked by.")


class CaptioningView(View):
    """Images with their captions."""

    noun, typed = "image", "image.jpg"
    columns = ("image", "caption", "log-probability")
    truth = "captions"
    title = "What the network attended to"
    needs = ("source", "model=show_attend_tell")
    searches = ("beam", "nbest")

    def read_word(self, word: str) -> list[Any | None]:
        """Return the path of an image, or those of all images in a folder, sorted by name.

        Raises:
            DataError: a path does not exist, or a folder has no images.
        """
        path = Path(word)
        if not path.is_dir():
            return [_image(path, "the path of an image, or of a folder of images")]
        found = [inside for inside in visible(path) if inside.suffix.lower() in SUFFIXES and inside.is_file()]
        if not found:
            expected = f"expected files that end in {', '.join(sorted(SUFFIXES))}"
            raise DataError(f"{path}: no image in this folder; {expected}")
        return [*found]

    def parse(self, line: str) -> Path:
        return _image(Path(line.strip()), "the path of an image")

    def row(self, prediction: CaptionPrediction) -> list[Any]:
        best = prediction.best
        return [shown(prediction.picture.name), shown(best.text), round(best.log_prob, 4)]

    def terminal(self, prediction: CaptionPrediction, number: int, options: Namespace) -> str:
        """Return the image and its caption, separated by a tab."""
        if options.nbest is None:
            return f"{shown(prediction.picture.name)}\t{shown(prediction.best.text)}"
        return ranked(number, prediction.captions)

    def examined_columns(self) -> list[str]:
        return [*super().examined_columns(), "true"]

    def examined_row(self, examined: ExaminedCaption) -> list[Any]:
        """Return the row with a last column: whether the caption is true, where the data knows."""
        return [*super().examined_row(examined), {True: "yes", False: "no", None: ""}[examined.true]]

    def try_it(self, data: Any) -> str:
        """Return the path of an image of the data, where it is a file."""
        names = [str(example.get("image")) for example in data.describe().get("examples", ())]
        folder = Path(str(getattr(data, "path", None) or getattr(data, "source", "")))
        found = [path for name in names for path in (Path(name), folder / name) if path.is_file()]
        return shlex.quote(str(found[0])) if found else self.typed

    def blocks(self, prediction: CaptionPrediction, examined: ExaminedCaption | None = None) -> list[Block]:
        best, picture = prediction.best, prediction.picture
        true, boxes, truth = (examined.true, examined.boxes, examined.truth) if examined else (None, None, None)
        known = [] if true is None else ["true of the image" if true else "not true of the image"]
        known += [f"the data: {truth}"] * bool(truth)
        head = Head(
            best.text,
            above=picture.name,
            under=f"log-probability {best.log_prob:.3f}",
            truth=("", "; ".join(known)) if known else None,
            right=true,
            data={"caption": best.text, "image": picture.name},
        )
        nothing = [None] * len(best.words)
        words = [Word(*parts) for parts in zip(best.words, best.attention or nothing, boxes or nothing, strict=False)]
        keys = (*[MAPS] * (best.attention is not None), *[OBJECT] * any(boxes or ()))
        image = AttendedImage(picture.name, picture.png, prediction.grid, words, keys=keys)
        rows = [(f"{one.score:.4f}", one.text or "(nothing)") for one in prediction.captions]
        return [head, image, *[Rows(rows, keys=(RANKED,))] * (len(rows) > 1)]


def _image(path: Path, expected: str) -> Path:
    """Return the path of an image; raises DataError if it is not a file."""
    if not path.is_file():
        raise DataError(f"{path}: {'a folder' if path.is_dir() else 'no such file'}; expected {expected}")
    return path
