"""What captioning shows: images, their captions, and where the network looked for each word."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from zoo.data.images.files import SUFFIXES
from zoo.errors import ConfigError, DataError
from zoo.tasks.captioning import Captioning, CaptionPrediction, ExaminedCaption
from zoo.visualize import captioning_page
from zoo.visualize.printable import shown
from zoo.visualize.view import Predicts, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined


class CaptioningView(View):
    """Images with what was written of them."""

    noun: ClassVar[str] = "image"
    typed: ClassVar[str] = "image.jpg"
    columns: ClassVar[tuple[str, ...]] = ("image", "caption", "log-probability")
    truth: ClassVar[str] = "captions"
    style: ClassVar[str] = captioning_page.STYLE

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument("--beam", type=int, metavar="K", help="search with K hypotheses")
        group.add_argument("--nbest", type=int, metavar="N", help="the N best, as `number ||| text ||| score`")

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        """The paths of images: the words on the command line, each an image or a folder of them, and the lines of a
        file, or else those of the standard input. Raises DataError for what is not there, and for a folder without
        images."""
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
        """The image and its caption, with a tab between them."""
        if options.nbest is None:
            return f"{shown(prediction.picture.name)}\t{shown(prediction.best.text)}"
        return "\n".join(f"{number} ||| {shown(one.text)} ||| {one.score:.4f}" for one in prediction.captions)

    def examined_columns(self) -> list[str]:
        return [*super().examined_columns(), "true"]

    def examined_row(self, examined: Examined) -> list[Any]:
        """In the last column whether the caption is true, where the data knows it."""
        assert isinstance(examined, ExaminedCaption)
        return [*super().examined_row(examined), "" if examined.true is None else "yes" if examined.true else "no"]

    def picture(self, prediction: CaptionPrediction, examined: Examined | None = None) -> Figure | None:
        from zoo.visualize.captioning_picture import caption_figure

        if prediction.best.attention is None:
            return None
        return caption_figure(prediction, examined if isinstance(examined, ExaminedCaption) else None)

    def about(self, predictions: Sequence[CaptionPrediction | None]) -> str:
        return captioning_page.about(predictions)

    def article(self, prediction: CaptionPrediction) -> str:
        return captioning_page.article(prediction)


def _images(path: Path, *, folders: bool = True) -> list[Path]:
    """The image at `path`, or all in it, by their names, where it is a folder. Raises DataError where there is none."""
    expected = "the path of an image, or of a folder of images" if folders else "the path of an image"
    if folders and path.is_dir():
        found = sorted(inside for inside in path.iterdir() if inside.suffix.lower() in SUFFIXES and _counts(inside))
        if not found:
            raise DataError(
                f"{path}: no image in this folder; expected files that end in {', '.join(sorted(SUFFIXES))}"
            )
        return found
    if not path.is_file():
        found_ = "a folder" if path.is_dir() else "no such file"
        raise DataError(f"{path}: {found_}; expected {expected}")
    return [path]


def _counts(path: Path) -> bool:
    """Whether what is found in a folder is a file, and none that a system hides beside it, as macOS does `._x.jpg`."""
    return path.is_file() and not path.name.startswith(".")
