"""Cloze questions cut from books: your own, in plain text or Markdown, by the procedure of the Children's Book Test."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import ClassVar, Literal, Required, Unpack

import datasets

from zoo.arguments import Count, Natural
from zoo.data.cloze.batch import BLANK, ClozeQuestion
from zoo.data.cloze.cutting import Book, Lexicon, cut, read_book
from zoo.data.cloze.module import ClozeData
from zoo.data.cloze.readers import write_cbt
from zoo.data.corpus import OwnFiles
from zoo.data.notes import key
from zoo.data.options import Options
from zoo.data.rows import BadRows, visible
from zoo.data.sources import SPLITS, Source, identity
from zoo.data.table_data import TableArguments
from zoo.errors import ConfigError, DataError

RULES = 1  # Version of the cutting rules; a new version invalidates the cache of older ones
SUFFIXES = (".txt", ".md")
LAYOUT = "a folder of books as .txt or .md, UTF-8, one book per file, or one such file"
FEW = 3
"""With fewer books, the sentences of each book are split into train, val and test: eight, one and one tenth."""


@dataclass(frozen=True)
class BookSplitOptions(Options):
    """Numbers of whole books for validation and test, so that no story is in two splits."""

    group: ClassVar[str] = "split"

    val: Count = 3
    """Number of books for validation."""
    test: Count = 3
    """Number of books for the test."""
    seed: Natural = 1
    """Seed that draws the books, and the words that are removed."""


class BookArguments(TableArguments):
    """Arguments of `Books` that its base classes define."""

    path: Required[str]


class Books(OwnFiles, ClozeData):
    """Questions cut from the books in a folder."""

    name = "books"
    layout = LAYOUT
    split_options = BookSplitOptions

    def __init__(self, *, kind: Literal["NE", "CN"] = "NE", stride: Count = 1, **rest: Unpack[BookArguments]) -> None:
        """`kind` selects the words that are removed. The last sentences of two questions are at least `stride`
        sentences apart; with 21, no two questions share a sentence."""
        super().__init__(**rest)
        self.kind, self.stride = kind, stride

    def open_files(self, path: Path) -> Source | None:
        files = [path] if path.is_file() else [file for file in visible(path) if file.suffix.lower() in SUFFIXES]
        return cut_source(files, str(path), self.kind, self.stride, self.split) if files else None

    def write(self, folder: Path) -> list[Path]:
        return write_cbt(self.open_source(), folder, self.kind, self.bad_rows())


def cut_source(files: Sequence[Path], place: str, kind: str, stride: int, split: BookSplitOptions) -> Source:
    """The questions of books, which are read later.

    Raises ConfigError if there are too few books for the splits, or if two have one name. The readers raise DataError
    for a book that is not text, and for books without questions.
    """
    if len(files) >= FEW and split.val + split.test >= len(files):
        raise ConfigError(
            f"data.split: val={split.val} and test={split.test} of {len(files)} books leave none to train on; set "
            f"smaller numbers, or add books to {place}"
        )
    named: dict[str, Path] = {}
    for file in files:
        if (other := named.setdefault(file.stem, file)) is not file:
            raise ConfigError(f"{file}: has the name of another book, {other}; rename one of them")

    @cache
    def read(encoding: str) -> tuple[dict[str, list[Book]], Lexicon]:
        """The books of each split, and the words to remove. Reading seventeen megabytes takes a minute."""
        named = datasets.utils.tqdm(files, desc="reading", unit=" books", delay=2)
        books = [read_book(file, encoding) for file in named]
        return _parts(books, split), Lexicon.of(books)

    def questions(name: str, bad: BadRows) -> Iterator[ClozeQuestion]:
        """The questions of a split, without duplicates."""
        (parts, lexicon), seen = read(bad.encoding), set[int]()
        for book in parts[name]:
            for question in cut(book, lexicon, kind, stride=stride, seed=split.seed):
                filled = [question.answer if word == BLANK else word for word in question.query]
                if (one := key([question.sentences, filled])) not in seen:
                    seen.add(one)
                    yield question
        if not seen:
            raise DataError(
                f"{place}: no question in the {name} split; a question needs twenty-one sentences of a chapter with at "
                "least four names, or nouns: use more text, or more books"
            )

    return Source(
        place=place,
        description=f"path: {place}, {{count}} {kind} questions cut from {len(files)} books",
        identity={
            "books": [identity(file) for file in files],
            "rules": [RULES, kind, stride],
            "kept": [split.val, split.test, split.seed],
        },
        splits={name: partial(questions, name) for name in SPLITS},
    )


def _parts(books: Sequence[Book], split: BookSplitOptions) -> dict[str, list[Book]]:
    """The books of each split. Few books are split into eight, one and one tenth of their sentences."""
    if len(books) < FEW:
        tenths = {"train": (0, 8), "val": (8, 9), "test": (9, 10)}
        return {name: [_part(book, *some) for book in books] for name, some in tenths.items()}
    kept = random.Random(f"books {split.seed}").sample(books, split.val + split.test)
    return {"train": [book for book in books if book not in kept], "val": kept[: split.val], "test": kept[split.val :]}


def _part(book: Book, first: int, last: int) -> Book:
    """The tenths `first` to `last` of the sentences of a book; a chapter on the border is cut."""
    total, at, chapters = sum(map(len, book.chapters)), 0, []
    for chapter in book.chapters:
        begin, end = (max(0, total * tenths // 10 - at) for tenths in (first, last))
        if part := chapter[begin:end]:
            chapters.append(part)
        at += len(chapter)
    return Book(book.name, chapters)
