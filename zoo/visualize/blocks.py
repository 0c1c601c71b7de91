"""The parts of an answer. A view lists them, and the terminal, a page and a picture each draw them in their own way.

The renderers are in `zoo.visualize.renderers`. A family outside the package can add a block of its own: derive it from
`Block` and register a function for it with `terminal.lines`, `page.html` and `figure.fitted`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from zoo.visualize.drawing import Drawing, Key

if TYPE_CHECKING:
    from zoo.predicting.classification import AttendedSentence
    from zoo.visualize.trees.marks import Mark

UNKNOWN = Key("unknown", "unknown to the network", "A dotted line is under words that the network does not know.")


@dataclass(frozen=True)
class Block:
    """A part of an answer."""

    policy: ClassVar[str] = ""
    """Directives of the content policy of a page with this block, which may do more than show text and images."""
    keys: tuple[Key, ...] = field(default=(), kw_only=True)  # Explanations of the signs that this block shows

    @property
    def attended(self) -> bool:
        """Whether this block shows the attention that a view needs for a picture (`View.needs`)."""
        return False


# Heads


@dataclass(frozen=True)
class Classes:
    """Classes, candidates or grades with their probabilities, drawn as bars."""

    probabilities: Mapping[str, float]
    chosen: str = ""  # The predicted one, drawn in bold
    noun: str = "classes"
    marks: Mapping[str, Mark] = field(default_factory=dict)  # The sign and colour of a class on a tree, by name
    first: tuple[str | None, ...] = ()  # Classes that are shown in any case when there are too many
    in_one_line: bool = False  # On the terminal the likeliest are printed in one line, and not as bars

    def likeliest(self, most: int) -> list[str]:
        """Return at most `most` names.

        All names keep their order if they fit. Otherwise the names of `first` and then the likeliest are returned,
        ordered by probability; twice as many if `first` needs them.
        """
        names = list(self.probabilities)
        ranked = sorted(names, key=lambda name: -self.probabilities[name])
        frequent = [name for name, _ in Counter(self.first[2:]).most_common()]
        named = [name for name in dict.fromkeys([*self.first[:2], *frequent]) if name in self.probabilities][: 2 * most]
        kept = list(dict.fromkeys([*named, *ranked]))[: max(most, len(named))]
        return names if len(kept) == len(names) else [name for name in ranked if name in kept]


@dataclass(frozen=True)
class Head(Block):
    """The answer in large letters, what is known about it, and the classes beside it."""

    text: str
    probability: float | None = None
    above: str = ""  # A caption above the answer, e.g. `predicted` or the question
    under: str = ""  # A line under the answer
    truth: tuple[str, str] | None = None  # Words such as `true class`, and a name, which may be shortened
    right: bool | None = None  # Whether the answer is right; None where that is unknown
    classes: Classes | None = None
    notes: tuple[str, ...] = ()
    wrong: tuple[bool, ...] = ()  # True at the letters of the answer that are wrong; empty where that is unknown
    data: Mapping[str, str] = field(default_factory=dict)  # Attributes of the article on a page, as in a `Spot`

    @classmethod
    def compared(cls, text: str, truth: str | None, noun: str, classes: Classes, **parts: Any) -> Head:
        """The head of a class that is right if it equals the truth, which is None where it is unknown."""
        given: dict[str, Any] = {"probability": classes.probabilities.get(text, 0.0), "data": {"label": text}}
        if truth is not None:
            given |= {"truth": (f"true {noun}", truth), "right": truth == text}
        return cls(text, classes=classes, **given | parts)

    @property
    def verdict(self) -> str:
        """The truth in one line, with ✓ or ✗ where the answer can be judged."""
        sign = {True: "✓ ", False: "✗ ", None: ""}[self.right]
        return sign + " ".join(filter(None, self.truth)) if self.truth else ""


# Passages


class Weighing(NamedTuple):
    """A way to turn the weight `w` of a word in its sentence and the weight `s` of that sentence into one number."""

    title: str
    formula: str
    value: Callable[[float, float], float]
    full: float  # The lowest value with full colour, so that even attention over a document stays pale


WEIGHINGS = {
    "paper": Weighing("√sentence × word", "the paper's", lambda w, s: sqrt(s) * w, 0.15),
    "joint": Weighing("sentence × word", "share of the document", lambda w, s: s * w, 0.08),
    "word": Weighing("word", "share of its sentence", lambda w, s: w, 0.3),
}
"""`paper` is the display of Yang et al. 2016, figures 5 and 6. The root keeps words of weak sentences visible."""
FULL_BAR = 0.4  # The lowest sentence weight with a full bar


@dataclass(frozen=True)
class Passage(Block):
    """Sentences: a bar for the weight of each one, and words shaded by their attention."""

    sentences: Sequence[AttendedSentence]
    weighing: str = "paper"  # The key of `WEIGHINGS` by which words are shaded
    choice: bool = False  # The reader of a page can choose the weighing
    evidence: Sequence[Sequence[bool]] | None = None  # True at words that decide the truth; they are underlined
    title: str = ""  # A name in the margin of a picture, e.g. `query`
    most_lines: int = 30  # Lines of a picture; the rest is left out with a note

    @property
    def bars(self) -> list[float] | None:
        """The length of each sentence's bar from 0 to 1; None where the network has no sentence attention."""
        weights = [sentence.weight for sentence in self.sentences if sentence.weight is not None]
        whole = len(weights) == len(self.sentences) > 0
        return [weight / max(FULL_BAR, *weights) for weight in weights] if whole else None

    def shades(self, weighing: str | None = None) -> list[list[float]] | None:
        """Return the shade of each word from 0 to 1, by sentence; None where the network has no word attention."""
        way = WEIGHINGS[weighing or self.weighing]
        rows = _weighed(self.sentences, way)
        full = max([way.full, *chain.from_iterable(rows or ())])
        return rows and [[value / full for value in row] for row in rows]

    def shades_to_choose(self) -> dict[str, list[list[float]]]:
        """Return the shades by each weighing that a reader can choose; without a choice, only those by its own."""
        ways = {name: name for name in WEIGHINGS} if self.choice else {"paper": self.weighing}
        return {name: rows for name, way in ways.items() if (rows := self.shades(way))}


def top_words(sentences: Sequence[AttendedSentence], count: int = 5) -> str:
    """Return the words with the highest shares of the document's attention, with these shares; empty without any."""
    words = [word for sentence in sentences for word in sentence.words]
    shares = chain.from_iterable(_weighed(sentences, WEIGHINGS["joint"]) or ())
    ranked = sorted(zip(words, shares, strict=False), key=lambda one: -one[1])
    return ", ".join(f"{word} {share:.2f}" for word, share in ranked[:count])


def _weighed(sentences: Sequence[AttendedSentence], way: Weighing) -> list[list[float]] | None:
    """The value of each word, by sentence; None where the network has no word attention."""
    rows = []
    for sentence in sentences:
        if sentence.word_weights is None:
            return None
        whole = 1.0 if sentence.weight is None else sentence.weight
        rows.append([way.value(w, whole) for _, w in zip(sentence.words, sentence.word_weights, strict=True)])
    return rows


# The others


@dataclass(frozen=True)
class Grid(Block):
    """Weights as a table of coloured cells with names for rows and columns."""

    rows: Sequence[str]
    columns: Sequence[str]
    weights: Sequence[Sequence[float]]  # (R, C)
    sentences: bool = False
    """The rows are sentences. Cells then show their numbers, and of many rows those with most weight are kept."""
    texts: Sequence[Sequence[str]] | None = None  # (R, C), in the cells of a picture; sentences have their weights
    margin: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Titled columns of texts (R,) to the right of the cells of a picture."""
    strongest: Collection[tuple[int, int]] = ()  # (row, column) of cells that are emphasised
    true: Collection[tuple[int, int]] = ()  # (row, column) of cells that are framed because they are true
    unknown: Collection[str] = ()  # Words of row and column names that the network does not know
    rest: Sequence[float] | None = None  # Weights of the last row, `(empty memory)`; None if the row is missing
    asked: str = ""  # A bold line under the table: the question
    axes: tuple[str, str] = ("rows", "columns")  # Names of rows and columns, e.g. `steps` and `points`
    note: str = ""

    @property
    def attended(self) -> bool:
        return bool(self.columns)

    def cut(self, most_rows: int, most_columns: int) -> Grid:
        """Return the grid with at most so many rows and columns, and a note about what is left out."""
        kept, columns = list(range(min(len(self.rows), most_rows))), min(len(self.columns), most_columns)
        if len(kept) == len(self.rows) and columns == len(self.columns):
            return self
        if self.sentences:
            needed, highest = {row for row, _ in self.true}, [max(row, default=0.0) for row in self.weights]
            order = sorted(range(len(self.rows)), key=lambda row: (row in needed, highest[row], row))
            kept = sorted(order[::-1][:most_rows])
        place = {row: number for number, row in enumerate(kept)}
        return replace(
            self,
            rows=[self.rows[row] for row in kept],
            columns=self.columns[:columns],
            weights=[self.weights[row][:columns] for row in kept],
            texts=self.texts and [self.texts[row][:columns] for row in kept],
            strongest={(place[r], c) for r, c in self.strongest if r in place and c < columns},
            true={(place[r], c) for r, c in self.true if r in place and c < columns},
            note=self._left_out(kept, columns),
        )

    def _left_out(self, kept: Sequence[int], columns: int) -> str:
        missing = set(range(len(self.rows))) - set(kept)
        if not self.sentences:
            sizes = [f"{len(kept)} {self.axes[0]}"] * bool(missing)
            sizes += [f"{columns} {self.axes[1]}"] * (columns < len(self.columns))
            return f"cut to {' and '.join(sizes)}"
        count = f"{len(missing):,} more sentence{'s' * (len(missing) > 1)}"
        highest = max((weight for row in missing for weight in self.weights[row]), default=None)
        return count if highest is None else f"{count}, none with more than {highest:.2f} in any {self.axes[1]}"


@dataclass(frozen=True)
class Rows(Block):
    """Texts in rows and columns, such as names with values, or scores with captions. The first column names the row."""

    rows: Sequence[Sequence[object]]
    titles: Sequence[str] = ()  # The titles of the columns; the columns are then numbers, aligned to the right


@dataclass(frozen=True)
class Columns(Block):
    """Values of several things side by side, such as the metrics of runs. The first cell of a row is its name."""

    titles: Sequence[str]  # Of the columns after the first one
    rows: Sequence[Sequence[str]]
    best: Collection[tuple[int, int]] = ()  # (row, column) of the values that are marked as the best


def ranking(answers: Sequence[Any], *keys: Key) -> list[Block]:
    """Return the scores and the texts of several answers; nothing for a single one."""
    rows = [(f"{one.score:.4f}", one.text or "(nothing)") for one in answers]
    return [Rows(rows, keys=keys)] if len(rows) > 1 else []


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
    """A drawing, equal on pages and in pictures. The terminal shows nothing."""

    drawing: Drawing


def flat(blocks: Iterable[Block]) -> list[Block]:
    """All blocks, in sequence, also those side by side."""
    found: list[Block] = []
    for block in blocks:
        found += flat([block.left, block.right]) if isinstance(block, Beside) else [block]
    return found
