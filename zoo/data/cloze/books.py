"""Cloze questions cut from books: your own, in plain text or Markdown, by the procedure of the Children's Book Test."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Literal, Required, Unpack

import datasets

from zoo.arguments import Count, Natural
from zoo.data.cloze.cutting import Book, Lexicon, cut, read_book
from zoo.data.cloze.module import ClozeData
from zoo.data.cloze.question import BLANK, ClozeQuestion
from zoo.data.cloze.readers import write_cbt
from zoo.data.corpus import OwnFiles
from zoo.data.encodings import UTF8
from zoo.data.notes import key
from zoo.data.options import Options
from zoo.data.rows import BadRows, visible
from zoo.data.sources import SPLITS, Source, identity
from zoo.data.table_data import TableArguments
from zoo.errors import ConfigError, DataError

RULES = 1
"""Version of the cutting rules; a new version invalidates the cache of older ones."""
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

    def __init__(
        self,
        *,
        kind: Literal["NE", "CN"] = "NE",
        stride: Count = 1,
        **rest: Unpack[BookArguments],
    ) -> None:
        """`kind` selects the words that are removed.

        The last sentences of two questions are at least `stride` sentences apart; with 21, no two questions share a
        sentence.
        """
        super().__init__(**rest)
        self.kind = kind
        self.stride = stride

    def open_files(self, path: Path) -> Source | None:
        files = [path] if path.is_file() else [file for file in visible(path) if file.suffix in SUFFIXES]
        return cut_source(files, str(path), self.kind, self.stride, self.split) if files else None

    def write(self, folder: Path) -> list[Path]:
        """Writes the questions as files in CBT's form, for `data=cbt data.source=FOLDER`; returns the files."""
        return write_cbt(self.open_source(), folder, self.kind, self.bad_rows())


def cut_source(files: Sequence[Path], place: str, kind: str, stride: int, split: BookSplitOptions) -> Source:
    """The questions of books, which are read later.

    Raises ConfigError if there are too few books for the splits, or if two have one name.
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
    collection = BookCollection(files, split, place)
    return Source(
        place=place,
        description=f"path: {place}, {{count}} {kind} questions cut from {len(files)} books",
        identity={
            "books": [identity(file) for file in files],
            "rules": [RULES, kind, stride],
            "kept": [split.val, split.test, split.seed],
        },
        splits={name: partial(collection.questions, name, kind, stride) for name in SPLITS},
    )


class BookCollection:
    """Books that are read when the first question is requested."""

    def __init__(self, files: Sequence[Path], split: BookSplitOptions, place: str) -> None:
        """`place` is the name of the books in errors."""
        self.files, self.split, self.place = list(files), split, place
        self.encoding = UTF8
        """The encoding of the files; the first reader sets it."""

    @cached_property
    def books(self) -> list[Book]:
        """The books in the order of the files; reading seventeen megabytes takes a minute."""
        files = datasets.utils.tqdm(self.files, desc="reading", unit=" books", delay=2)
        return [read_book(file, self.encoding) for file in files]

    @cached_property
    def lexicon(self) -> Lexicon:
        return Lexicon.of(self.books)

    @cached_property
    def parts(self) -> dict[str, list[Book]]:
        """The books of each split."""
        if len(self.files) < FEW:
            return _by_sentences(self.books)
        kept = random.Random(f"books {self.split.seed}").sample(self.books, self.split.val + self.split.test)
        parts = {"val": kept[: self.split.val], "test": kept[self.split.val :]}
        return {"train": [book for book in self.books if book not in kept], **parts}

    def questions(self, split: str, kind: str, stride: int, bad: BadRows) -> Iterator[ClozeQuestion]:
        """The questions of a split, without duplicates.

        Raises DataError for a book that is not text, and if there are no questions.
        """
        self.encoding, seen = bad.encoding, set[int]()
        for book in self.parts[split]:
            for question in cut(book, self.lexicon, kind, stride=stride, seed=self.split.seed):
                filled = [question.answer if word == BLANK else word for word in question.query]
                if (one := key([question.sentences, filled])) not in seen:
                    seen.add(one)
                    yield question
        if not seen:
            raise DataError(
                f"{self.place}: no question in the {split} split; a question needs twenty-one "
                "sentences of a chapter with at least four names, or nouns: use more text, or more books"
            )


def _by_sentences(books: Sequence[Book]) -> dict[str, list[Book]]:
    """Split the sentences of each book into eight, one and one tenth; a chapter on the border becomes two."""
    parts: dict[str, list[Book]] = {name: [] for name in SPLITS}
    for book in books:
        total, at = sum(map(len, book.chapters)), 0
        pieces: dict[str, list[list[list[str]]]] = {name: [] for name in SPLITS}
        for chapter in book.chapters:
            first = 0
            for name, end in (("train", total * 8 // 10), ("val", total * 9 // 10), ("test", total)):
                last = min(len(chapter), max(first, end - at))
                if last > first:
                    pieces[name].append(chapter[first:last])
                first = last
            at += len(chapter)
        for name, chapters in pieces.items():
            parts[name].append(Book(book.name, chapters))
    return parts
