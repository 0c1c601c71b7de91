"""What a task shows. A class a task, named by the task; `zoo predict` and the callbacks ask it alone."""

from __future__ import annotations

import io
import os
import sys
from abc import ABC, abstractmethod
from argparse import Namespace, _ArgumentGroup
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from rich.console import RenderableType

from zoo.data.rows import read_lines
from zoo.dotted import class_at
from zoo.errors import CheckpointError, ConfigError
from zoo.visualize import page
from zoo.visualize.files import lines_for
from zoo.visualize.printable import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined, Task


class Predicts(Protocol):
    """A trained network and all it needs to read inputs."""

    task: Any
    encoder: Any
    """The `Encoder` of the data."""
    checkpoint: Path | None
    """The file that it was read from."""

    def __call__(self, inputs: Sequence[Any]) -> list[Any]: ...


class View(ABC):
    """What a task shows of its inputs and its predictions.

    `columns` and `row` must be given; all else has a form that serves until there is a better one.
    """

    noun: ClassVar[str] = "text"
    """What an input is called."""
    typed: ClassVar[str] = '"..."'
    """An input as one types it behind `zoo predict CHECKPOINT`."""
    columns: ClassVar[tuple[str, ...]]
    """Names of what `row` gives; the first is the input's."""
    truth: ClassVar[str] = "true"
    """The column of what is true, beside the first in tables of examined examples."""
    style: ClassVar[str] = ""
    """CSS for what `article` gives, beside that of every page; see `zoo.visualize.page.html`."""

    # What goes in

    def options(self, group: _ArgumentGroup) -> None:
        """Adds the task's own options of `zoo predict`."""
        return

    def meet(self, predictor: Predicts) -> None:
        """Looks at the network before anything is read, where it depends on that how inputs are read."""
        return

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        """The inputs of `zoo predict`: the words on the command line and the lines of a file, or else those of the
        standard input. A blank one is None and keeps its place."""
        for word in words:
            if os.path.isfile(word):
                raise ConfigError(
                    f"{word} is a file: give --file {word}, which reads it, a {self.noun} a line; "
                    f"or the {self.noun} on standard input"
                )
        lines = list(words)
        if file is not None:
            lines += lines_for("--file", file, f"a text file, one {self.noun} a line")
        elif not lines:
            lines = read_lines("standard input", io.BytesIO(sys.stdin.buffer.read()))
        return [self.parse(line) if line.strip() else None for line in lines]

    def parse(self, line: str) -> Any:
        """One input, from a line that is not blank."""
        return line

    def prepare(self, predictor: Predicts, options: Namespace) -> None:
        """Sets what the task's own options ask for. Raises ZooError for what cannot be done, before anything is
        predicted."""
        return

    # What comes out

    @abstractmethod
    def row(self, prediction: Any) -> list[Any]:
        """A prediction as a row of a table."""

    def as_json(self, prediction: Any) -> Any:
        """A prediction as plain data."""
        return prediction.to_dict()

    def terminal(self, prediction: Any, number: int, options: Namespace) -> RenderableType:
        """The prediction of the input `number`, from 0, for the terminal; a str is printed as it is."""
        return "\t".join(map(str, self.row(prediction)))

    def unknown(self, prediction: Any) -> list[str]:
        """The words of the input that the network does not know."""
        return []

    def files(self, predictions: Sequence[Any | None], options: Namespace) -> dict[Path, str]:
        """What is to be written besides, as the task's own options ask for."""
        return {}

    def picture(self, prediction: Any, examined: Examined | None = None) -> Figure | None:
        """What the network attended to, beside what is true where the prediction is of an example that was examined;
        None where there is nothing of the kind."""
        return None

    def page(self, predictions: Sequence[Any | None]) -> str:
        """A page that needs no server, no script and nothing to load; a None is a blank input."""
        articles = [None if p is None else self.article(p) for p in predictions]
        return page.html(self.about(predictions), articles, style=self.style)

    def about(self, predictions: Sequence[Any | None]) -> str:
        """What the page shows and how it is read, in plain words."""
        return page.how_many(predictions, self.noun)

    def article(self, prediction: Any) -> str:
        """A prediction as HTML."""
        return page.article(page.rows(zip(self.columns, self.row(prediction), strict=True)))

    # Examples of a split, and a whole test

    def examined_columns(self) -> list[str]:
        """Of a table of examined examples."""
        return ["index", self.columns[0], self.truth, *self.columns[1:]]

    def examined_row(self, examined: Examined) -> list[Any]:
        """An examined example as a row of `examined_columns`."""
        given, *said = self.row(examined.prediction)
        return [examined.index, given, shown(examined.truth or ""), *said]

    def test_pictures(self, task: Task) -> Mapping[str, Callable[[], Figure]]:
        """Pictures of a whole test by their names, to be drawn on one rank; asked for on all, which add up theirs."""
        return {}


def view_of(task: Task | type[Task]) -> View:
    """The view of a task. Raises ConfigError where the task names none that is there."""
    cls = task if isinstance(task, type) else type(task)
    dotted = getattr(cls, "view", None)
    if dotted is None:
        raise ConfigError(f"{cls.__name__} names no view: give the class `view`, the dotted name of its View")
    try:
        return class_at(dotted, View)()
    except CheckpointError as error:
        raise ConfigError(f"{cls.__name__}.view: {error}") from error
