"""A view shows what a task does. Each task names its view; `zoo predict` and the callbacks ask the view."""

from __future__ import annotations

import io
import os
import shlex
import sys
from abc import ABC, abstractmethod
from argparse import Namespace, _ArgumentGroup
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

from rich.console import RenderableType

from zoo.data.rows import read_lines
from zoo.dotted import class_at
from zoo.errors import CheckpointError, ConfigError
from zoo.files import lines_for
from zoo.predicting.writing import WEIGHT
from zoo.printable import shown
from zoo.visualize.blocks import Block, Grid, Head, Rows, flat
from zoo.visualize.renderers.page import page
from zoo.visualize.renderers.terminal import Printed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.predicting import Predicting
    from zoo.tasks import Task

Pictures: TypeAlias = "Mapping[str, Callable[[], Figure]]"  # Functions that draw pictures of a whole split, by name
LONGEST_EXAMPLE = 120  # Letters of an example that is printed as a command


class Field(NamedTuple):
    """A field of the form for one input in `zoo explore`."""

    label: str
    lines: int = 1  # The height of a field for text
    kind: Literal["text", "image", "file", "points"] = "text"
    """`image` and `file` give the path of a file; `points` gives text, and has a square to click points into."""

    @property
    def gives_file(self) -> bool:
        """Whether the value of the field is the path of a file."""
        return self.kind in ("image", "file")


class AttentionMap(NamedTuple):
    """An attention of a network from R rows to C columns, as `attention_page` takes it."""

    name: str
    weights: Any  # (R, C), (H, R, C) or (L, H, R, C)
    rows: Sequence[str]
    columns: Sequence[str]


class View(ABC):
    """Shows the inputs and predictions of a task.

    `columns` and `row` are required. With `blocks` the terminal, pages and pictures show more than the row.
    """

    noun: ClassVar[str] = "text"  # The name of an input
    plural: ClassVar[str] = ""  # The name of several inputs, where it is not the noun with an s
    typed: ClassVar[str] = '"..."'  # An input as a user types it, where the data give no example
    columns: ClassVar[tuple[str, ...]]  # Names of the values of `row`, first those of the input
    given: ClassVar[int] = 1  # The number of columns of the input
    truth: ClassVar[str] = "true"  # The column of the truth, after those of the input in tables of examined examples
    title: ClassVar[str] = "What the network predicted"  # The heading of a page
    shows: ClassVar[str] = "attention"  # The name of the folder of pictures in a run, and of their keys in loggers
    needs: ClassVar[tuple[str, str] | None] = None
    """The attention without which there is no picture, and a model that has it, e.g. `source` and `model=luong`."""
    streams = False  # Whether an answer is printed while it is written, so that no progress is shown
    searches: ClassVar[tuple[str, ...]] = ()  # Options of a search that `zoo predict` has: `beam` and `nbest`

    # Inputs

    @property
    def in_file(self) -> str:
        """The content of the file that --file names, for messages."""
        return f"one {self.noun} per line"

    def options(self, group: _ArgumentGroup) -> None:
        """Add the task's own options of `zoo predict`."""
        if "beam" in self.searches:
            group.add_argument("--beam", type=int, metavar="K", help="search with K hypotheses")
            fused = "add the log-probabilities of a language model at each token, given its checkpoint"
            group.add_argument("--language-model", metavar="CHECKPOINT", help=fused)
            weight = f"the weight of the language model (default {WEIGHT})"
            group.add_argument("--language-weight", type=float, default=WEIGHT, metavar="W", help=weight)
        if "nbest" in self.searches:
            group.add_argument("--nbest", type=int, metavar="N", help="the N best, as `number ||| text ||| score`")

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        """Return the inputs of the command line and of a file, or else of the standard input; a blank line is None."""
        found = [given for word in words for given in self.read_word(word)]
        if file is not None:
            return [*found, *self.read_file(file)]
        return found if words else self.parse_lines(read_lines("standard input", io.BytesIO(sys.stdin.buffer.read())))

    def read_word(self, word: str) -> list[Any | None]:
        """Return the inputs that a word of the command line holds."""
        if os.path.isfile(word):
            raise ConfigError(
                f"{word} is a file: use --file {word}, which reads {self.in_file}; "
                f"or pass the {self.noun} on standard input"
            )
        return self.parse_lines([word])

    def read_file(self, file: Path) -> list[Any | None]:
        """Return the inputs of the file that --file names."""
        return self.parse_lines(lines_for("--file", file, f"a text file with {self.in_file}"))

    def parse_lines(self, lines: Sequence[str]) -> list[Any | None]:
        return [self.parse(line) if line.strip() else None for line in lines]

    def parse(self, line: str) -> Any:
        """Return the input that a line holds; the line is not blank."""
        return line

    def form(self) -> tuple[Field, ...]:
        """Return the fields into which a user enters one input; `prepare` was called before."""
        return (Field(self.noun, 3),)

    def entered(self, values: Sequence[str]) -> Any:
        """Return the input that the fields of `form` hold; none of them is blank."""
        return self.parse(" ".join(" ".join(values).split()))

    def example(self, example: Mapping[str, Any]) -> str | None:
        """Return one of the examples that the data's `describe` gives as it is typed; None where it cannot be typed."""
        given = example.get("text")
        return beginning(given) if isinstance(given, str) else None

    def try_it(self, data: Any) -> str:
        """Return an input as a user types it: the shortest of the examples that `data` describes, or else `typed`."""
        given = [text for example in data.describe().get("examples", ()) if (text := self.example(example))]
        return shlex.quote(shown(min(given, key=len))) if given else self.typed

    def check_picture(self) -> None:
        """Raise ConfigError if the task has no pictures, so that --attention cannot be used."""
        if type(self).blocks is View.blocks and type(self).picture is View.picture:
            raise ConfigError(
                f"--attention: {type(self).__name__} draws no pictures; leave the option out, or use --html or --csv"
            )

    def prepare(self, predictor: Any, options: Namespace) -> None:
        """Set what the options ask for, and what reading needs to know; raises ZooError for unusable options."""
        if options.attention is not None:
            self.require_attention("--attention", predictor)
        search = [getattr(options, name, None) for name in ("beam", "nbest")]
        if self.searches and search != [None, None]:
            predictor.task.search(*search)

    def require_attention(self, option: str, predictor: Any) -> None:
        """Raise ConfigError if the network does not have the attention that the option needs."""
        if self.needs and self.needs[0] not in predictor.task.network.attends:
            raise ConfigError(f"{option}: this network has no attention; train one that has, such as {self.needs[1]}")

    def talks(self, predictor: Any, options: Namespace) -> bool:
        """Answer the user turn by turn, if an option of the task asks for it. Return whether it did: then `zoo predict`
        reads no other inputs."""
        return False

    # Predictions

    @abstractmethod
    def row(self, prediction: Any) -> list[Any]:
        """Return a prediction as a row of a table."""

    def rows(self, prediction: Any) -> list[list[Any]]:
        """Return a prediction as rows of the table of `zoo predict --csv`, by default a single one."""
        return [self.row(prediction)]

    def blocks(self, prediction: Any, examined: Any = None) -> list[Block]:
        """Return the parts of an answer; `examined` has what is true, where the prediction is of a known example."""
        return [Rows(list(zip(self.columns, self._cells(prediction), strict=True)))]

    def _cells(self, prediction: Any) -> list[str]:
        return ["" if cell is None else str(cell) for cell in self.row(prediction)]

    def as_json(self, prediction: Any) -> Any:
        """Return a prediction as plain data."""
        return prediction.to_dict()

    def terminal(self, prediction: Any, number: int, options: Namespace) -> RenderableType:
        """Return the prediction of input `number`, counted from 0, for the terminal; a str is printed as it is."""
        if type(self).blocks is View.blocks:
            return "\t".join(self._cells(prediction))
        return Printed(self.blocks(prediction))

    def unknown(self, prediction: Any) -> list[str]:
        """Return the words of the input that the network does not know."""
        return []

    def files(self, predictions: Sequence[Any | None], options: Namespace) -> Mapping[Path, str | bytes]:
        """Return the other files to write, by their paths, as the task's own options ask for."""
        return {}

    def picture(self, prediction: Any, examined: Any = None) -> Figure | None:
        """Return the picture of a prediction, with the truth where it is known; None where there is nothing to draw."""
        from zoo.visualize.renderers.figure import draw

        blocks = self.blocks(prediction, examined) if type(self).blocks is not View.blocks else []
        worth = [block.attended if self.needs else not isinstance(block, Head) for block in flat(blocks)]
        return draw(blocks) if any(worth) else None

    def maps(self, predictor: Any, given: Any, prediction: Any) -> list[AttentionMap]:
        """Return the attention of a network from rows to columns, by default the grids of the answer.

        Args:
            predictor: the network, which made the `prediction` for the input `given`.
        """
        grids = (block for block in flat(self.blocks(prediction)) if isinstance(block, Grid) and block.attended)
        return [AttentionMap(" and ".join(grid.axes), grid.weights, grid.rows, grid.columns) for grid in grids]

    def page(self, predictions: Sequence[Any | None]) -> str:
        """Return a page that needs no server, no script and nothing to load; None is a blank input."""
        real = sum(prediction is not None for prediction in predictions)
        blank = f", {len(predictions) - real} blank" if real < len(predictions) else ""
        about = f"{real} {self.noun if real == 1 else self.plural or f'{self.noun}s'}{blank}."
        return page(self.title, about, [None if one is None else self.blocks(one) for one in predictions])

    # Examples of a split, and whole splits

    def examined_columns(self) -> list[str]:
        """Return the columns of a table of examined examples."""
        return ["index", *self.columns[: self.given], self.truth, *self.columns[self.given :]]

    def examined_row(self, examined: Any) -> list[Any]:
        """Return an examined example as a row of `examined_columns`."""
        row = self.row(examined.prediction)
        return [examined.index, *row[: self.given], shown(examined.truth or ""), *row[self.given :]]

    def validation_pictures(self, task: Task) -> Pictures:
        """Return pictures of a whole validation. All ranks call this, to sum metrics, but rank 0 alone draws."""
        return {}

    def test_pictures(self, task: Any) -> Pictures:
        """Return pictures of a whole test, see `validation_pictures`."""
        return {}


def ranked(number: int, answers: Sequence[Any]) -> str:
    """The answers to input `number`, best first, as `number ||| text ||| score`."""
    return "\n".join(f"{number} ||| {shown(one.text)} ||| {one.score:.4f}" for one in answers)


def beginning(text: str) -> str:
    """Return the first words of a text, at most LONGEST_EXAMPLE letters: whole sentences, if the first one fits."""
    words = text.removesuffix(" ...").split()
    if " ".join(words) == text and len(text) <= LONGEST_EXAMPLE:
        return text
    while len(" ".join(words)) > LONGEST_EXAMPLE and len(words) > 1:
        words.pop()
    ends = [number for number, word in enumerate(words, 1) if word[-1] in ".!?。！？"]
    return " ".join(words[: ends[-1]] if ends else words)


def view_of(task: Predicting | type[Predicting]) -> View:
    """Return the view of a task. Raises ConfigError if the task has none, or one that cannot be imported."""
    cls = task if isinstance(task, type) else type(task)
    dotted = getattr(cls, "view", None)
    if dotted is None:
        raise ConfigError(f"{cls.__name__} has no `view`; set this class attribute to the dotted name of its View")
    try:
        return class_at(dotted, View)()
    except CheckpointError as error:
        raise ConfigError(f"{cls.__name__}.view: {error}") from error
