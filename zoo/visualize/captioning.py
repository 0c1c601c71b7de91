"""The view of captioning: images, their captions, and where the network looked for each word."""

from __future__ import annotations

import shlex
from argparse import Namespace, _ArgumentGroup
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from zoo.data.images.files import SUFFIXES
from zoo.data.rows import visible
from zoo.errors import ConfigError, DataError
from zoo.tasks.captioning import Captioning, CaptionPrediction, ExaminedCaption
from zoo.visualize.blocks import Block, Head, Key, Ranked
from zoo.visualize.images.looks import Looks, Word
from zoo.visualize.printable import shown
from zoo.visualize.view import Predicts, View

if TYPE_CHECKING:
    from zoo.tasks import Examined

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

    noun: ClassVar[str] = "image"
    typed: ClassVar[str] = "image.jpg"
    columns: ClassVar[tuple[str, ...]] = ("image", "caption", "log-probability")
    truth: ClassVar[str] = "captions"
    title: ClassVar[str] = "What the network attended to"

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument("--beam", type=int, metavar="K", help="search with K hypotheses")
        group.add_argument("--nbest", type=int, metavar="N", help="the N best, as `number ||| text ||| score`")

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        """Return paths of images from the command line, where a word is an image or a folder, and from a file.

        Without either, the lines of the standard input are paths.

        Raises:
            DataError: a path does not exist, or a folder has no images.
        """
        named = [path for word in words for path in _images(Path(word))]
        return [*named, *(super().read([], file) if file is not None or not words else [])]

    def parse(self, line: str) -> Path:
        (path,) = _images(Path(line.strip()), folders=False)
        return path

    def prepare(self, predictor: Predicts, options: Namespace) -> None:
        task = predictor.task
        assert isinstance(task, Captioning)
        if options.attention is not None and "source" not in getattr(task.network, "attends", ()):
            raise ConfigError("--attention: this network has no attention; train one that has: model=show_attend_tell")
        if options.beam is not None or options.nbest is not None:
            task.search(options.beam, options.nbest)

    def row(self, prediction: CaptionPrediction) -> list[Any]:
        best = prediction.best
        return [shown(prediction.picture.name), shown(best.text), round(best.log_prob, 4)]

    def terminal(self, prediction: CaptionPrediction, number: int, options: Namespace) -> str:
        """Return the image and its caption, separated by a tab."""
        if options.nbest is None:
            return f"{shown(prediction.picture.name)}\t{shown(prediction.best.text)}"
        return "\n".join(f"{number} ||| {shown(one.text)} ||| {one.score:.4f}" for one in prediction.captions)

    def examined_columns(self) -> list[str]:
        return [*super().examined_columns(), "true"]

    def examined_row(self, examined: Examined) -> list[Any]:
        """Return the row with a last column: whether the caption is true, where the data knows."""
        assert isinstance(examined, ExaminedCaption)
        return [*super().examined_row(examined), "" if examined.true is None else "yes" if examined.true else "no"]

    def try_it(self, data: Any) -> str:
        """Return the path of an image of the data, where it is a file."""
        names = [str(example.get("image")) for example in data.describe().get("examples", ())]
        folder = Path(str(getattr(data, "path", None) or getattr(data, "source", "")))
        found = [path for name in names for path in (Path(name), folder / name) if path.is_file()]
        return shlex.quote(str(found[0])) if found else self.typed

    def blocks(self, prediction: CaptionPrediction, examined: Examined | None = None) -> list[Block]:
        best, known = prediction.best, examined if isinstance(examined, ExaminedCaption) else None
        truth = []
        if known is not None and known.true is not None:
            truth.append(f"{'true' if known.true else 'not true'} of the image")
        if known is not None and known.truth:
            truth.append(f"the data: {known.truth}")
        head = Head(
            best.text,
            above=prediction.picture.name,
            under=f"log-probability {best.log_prob:.3f}",
            truth=("", "; ".join(truth)) if truth else None,
            right=None if known is None else known.true,
            data={"caption": best.text, "image": prediction.picture.name},
        )
        weights = best.attention or [None] * len(best.words)
        boxes = (known.boxes if known is not None else None) or [None] * len(best.words)
        words = [Word(*parts) for parts in zip(best.words, weights, boxes, strict=False)]
        keys = (*[MAPS] * (best.attention is not None), *[OBJECT] * any(boxes))
        looks = Looks(prediction.picture.name, prediction.picture.png, prediction.grid, words, keys=keys)
        ranked = [(f"{one.score:.4f}", one.text) for one in prediction.captions]
        return [head, looks, *[Ranked(ranked, keys=(RANKED,))] * (len(ranked) > 1)]

    def picture(self, prediction: CaptionPrediction, examined: Examined | None = None) -> Any:
        return super().picture(prediction, examined) if prediction.best.attention is not None else None


def _images(path: Path, *, folders: bool = True) -> list[Path]:
    """Return the image at `path`, or all images of a folder, sorted by name.

    Raises:
        DataError: there is no image.
    """
    expected = "the path of an image, or of a folder of images" if folders else "the path of an image"
    if folders and path.is_dir():
        found = [inside for inside in visible(path) if inside.suffix.lower() in SUFFIXES and inside.is_file()]
        if not found:
            raise DataError(
                f"{path}: no image in this folder; expected files that end in {', '.join(sorted(SUFFIXES))}"
            )
        return found
    if not path.is_file():
        found_ = "a folder" if path.is_dir() else "no such file"
        raise DataError(f"{path}: {found_}; expected {expected}")
    return [path]
