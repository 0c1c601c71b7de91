"""The parts of an answer. A view lists them, and the terminal, a page and a picture each draw them in their own way.

The renderers are in `zoo.visualize.renderers`. A family outside the package can add a block of its own: derive it from
`Block` and register a function for it with `terminal.lines`, `page.html` and `figure.fitted`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from zoo.visualize.texts.weighing import sentence_strengths, word_strengths

if TYPE_CHECKING:
    from zoo.visualize.drawing import Drawing
    from zoo.visualize.trees.marks import Mark

Probabilities = Mapping[str, float]


@dataclass(frozen=True)
class Key:
    """The explanation of one sign."""

    sample: str
    """The sign: a name that `figure.SAMPLES` draws, or empty for a text without a sample."""
    short: str = ""
    """Words beside the sample at the foot of a picture; without them the picture has no such key."""
    long: str = ""
    """A sentence at the top of a page; without it the page has no such sentence."""


UNKNOWN = Key("unknown", "unknown to the network", "A dotted line is under words that the network does not know.")


@dataclass(frozen=True)
class Block:
    """A part of an answer."""

    keys: tuple[Key, ...] = field(default=(), kw_only=True)
    """Explanations of the signs that this block shows."""


@dataclass(frozen=True)
class Classes:
    """Classes, candidates or grades with their probabilities, drawn as bars."""

    probabilities: Probabilities
    chosen: str = ""
    """The predicted one, drawn in bold."""
    noun: str = "classes"
    marks: Mapping[str, Mark] = field(default_factory=dict)
    """The sign and colour of a class where a tree shows them, by name."""
    first: tuple[str | None, ...] = ()
    """Classes that are shown in any case when there are too many."""
    in_one_line: bool = False
    """On the terminal the likeliest are printed in one line, and not as bars."""

    def likeliest(self, most: int) -> list[str]:
        """Return at most `most` names.

        All names keep their order if they fit. Otherwise the names of `first` and then the likeliest are returned,
        ordered by probability; twice as many if `first` needs them.
        """
        names = list(self.probabilities)
        if len(names) <= most:
            return names
        ranked = sorted(names, key=lambda name: -self.probabilities[name])
        frequent = [name for name, _ in Counter(self.first[2:]).most_common()]
        named = [name for name in dict.fromkeys([*self.first[:2], *frequent]) if name in self.probabilities][: 2 * most]
        kept = set(list(dict.fromkeys([*named, *ranked]))[: max(most, len(named))])
        return names if len(kept) == len(names) else [name for name in ranked if name in kept]


@dataclass(frozen=True)
class Head(Block):
    """The answer in large letters, what is known about it, and the classes beside it."""

    text: str
    probability: float | None = None
    above: str = ""
    """A caption above the answer, e.g. `predicted` or the question."""
    under: str = ""
    """A line under the answer."""
    truth: tuple[str, str] | None = None
    """The truth in two parts: words such as `true class`, and a name, which may be shortened."""
    right: bool | None = None
    """Whether the answer is right; None where that is unknown."""
    classes: Classes | None = None
    notes: tuple[str, ...] = ()
    wrong: tuple[bool, ...] = ()
    """True at the letters of the answer that are wrong; empty where that is unknown."""
    data: Mapping[str, str] = field(default_factory=dict)
    """Attributes of the article on a page, for programs: label="good" becomes data-label="good"."""

    @property
    def verdict(self) -> str:
        """The truth in one line, with ✓ or ✗ where the answer can be judged."""
        if self.truth is None:
            return ""
        sign = {True: "✓ ", False: "✗ ", None: ""}[self.right]
        return f"{sign}{' '.join(filter(None, self.truth))}"


class Sentence(Protocol):
    """Words with the attention to them."""

    @property
    def words(self) -> Sequence[str]: ...

    @property
    def weight(self) -> float | None:
        """Attention to the sentence; None where the network has none."""

    @property
    def word_weights(self) -> Sequence[float] | None:
        """Attention to each word within the sentence, summing to 1; None where the network has none."""

    @property
    def unknown(self) -> Collection[int]:
        """Positions of the words that the network does not know."""


@dataclass(frozen=True)
class Passage(Block):
    """Sentences: a bar for the weight of each one, and words shaded by their attention."""

    sentences: Sequence[Sentence]
    weighing: str = "paper"
    """The key of `WEIGHINGS` by which words are shaded."""
    choice: bool = False
    """The reader of a page can choose the weighing."""
    evidence: Sequence[Sequence[bool]] | None = None
    """For each sentence, True at the words that decide the truth; they are underlined."""
    title: str = ""
    """A name in the margin of a picture, e.g. `query`."""
    most_lines: int = 30
    """Lines of a picture; the rest is left out with a note."""

    @property
    def bars(self) -> list[float] | None:
        return sentence_strengths(self.sentences)

    def shades(self, weighing: str | None = None) -> list[list[float]] | None:
        return word_strengths(self.sentences, weighing or self.weighing)


@dataclass(frozen=True)
class Grid(Block):
    """Weights as a table of coloured cells with names for rows and columns."""

    rows: Sequence[str]
    columns: Sequence[str]
    weights: Sequence[Sequence[float]]
    """(R, C)"""
    sentences: bool = False
    """The rows are sentences. Cells then show their numbers, and of many rows those with most weight are kept."""
    texts: Sequence[Sequence[str]] | None = None
    """(R, C) texts of the cells in pictures; without them the cells of sentences have their weights."""
    strongest: Collection[tuple[int, int]] = ()
    """(row, column) of cells that are emphasised."""
    true: Collection[tuple[int, int]] = ()
    """(row, column) of cells that are framed because they are true."""
    unknown: Collection[str] = ()
    """Words of row and column names that the network does not know."""
    rest: Sequence[float] | None = None
    """Weights of the last row, `(empty memory)`; None if there is no such row."""
    asked: str = ""
    """A bold line under the table: the question."""
    axes: tuple[str, str] = ("", "")
    """Names of rows and columns, e.g. `steps` and `points`."""
    note: str = ""

    def cut(self, most_rows: int, most_columns: int) -> Grid:
        """Return the grid with at most so many rows and columns, and a note about what is left out."""
        kept = self._kept(most_rows)
        columns = range(min(len(self.columns), most_columns))
        if len(kept) == len(self.rows) and len(columns) == len(self.columns):
            return self
        place = {row: number for number, row in enumerate(kept)}
        return replace(
            self,
            rows=[self.rows[row] for row in kept],
            columns=[self.columns[column] for column in columns],
            weights=[[self.weights[row][column] for column in columns] for row in kept],
            texts=None if self.texts is None else [[self.texts[row][column] for column in columns] for row in kept],
            strongest={(place[r], c) for r, c in self.strongest if r in place and c in columns},
            true={(place[r], c) for r, c in self.true if r in place and c in columns},
            note=self._left_out(kept, len(columns)),
        )

    def _kept(self, most: int) -> list[int]:
        if not self.sentences:
            return list(range(min(len(self.rows), most)))
        needed = {row for row, _ in self.true}
        order = sorted(range(len(self.rows)), key=lambda r: (r in needed, max(self.weights[r], default=0.0), r))
        return sorted(order[::-1][:most])

    def _left_out(self, kept: Sequence[int], columns: int) -> str:
        missing = sorted(set(range(len(self.rows))) - set(kept))
        if not self.sentences:
            sizes = [f"{len(kept)} {self.axes[0] or 'rows'}"] * bool(missing)
            sizes += [f"{columns} {self.axes[1] or 'columns'}"] * (columns < len(self.columns))
            return f"cut to {' and '.join(sizes)}"
        said = f"{len(missing):,} more sentence{'s' * (len(missing) > 1)}"
        if not self.columns:
            return said
        highest = max(weight for row in missing for weight in self.weights[row])
        return f"{said}, none with more than {highest:.2f} in any {self.axes[1]}"


@dataclass(frozen=True)
class Ranked(Block):
    """Texts with their scores or signs, best first."""

    items: Sequence[tuple[str, str]]
    """(score, text)"""


@dataclass(frozen=True)
class Facts(Block):
    """Names and values in two columns."""

    pairs: Sequence[tuple[str, object]]


@dataclass(frozen=True)
class Table(Block):
    """Values by row and column, as texts."""

    rows: Mapping[str, Mapping[str, str]]

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows.values() for name in row))


@dataclass(frozen=True)
class Note(Block):
    """A line of small letters."""

    text: str


@dataclass(frozen=True)
class Beside(Block):
    """Two blocks side by side where there is room; the terminal prints the left one first."""

    left: Block
    right: Block


@dataclass(frozen=True)
class Drawn(Block):
    """A drawing; `figure` takes the place of `page` in pictures where it differs. The terminal shows nothing."""

    page: Drawing
    figure: Drawing | None = None


def flat(blocks: Iterable[Block]) -> list[Block]:
    """All blocks, in sequence, also those side by side."""
    found: list[Block] = []
    for block in blocks:
        found += flat([block.left, block.right]) if isinstance(block, Beside) else [block]
    return found


def page_keys(blocks: Iterable[Block]) -> list[str]:
    """The sentences that explain the blocks at the top of a page, each one once."""
    return list(dict.fromkeys(key.long for block in flat(blocks) for key in block.keys if key.long))
