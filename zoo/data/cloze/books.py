"""Cloze questions cut from books: your own, in plain text or Markdown, by the procedure of the Children's Book Test."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import datasets

from zoo.arguments import Count, Natural
from zoo.data.cloze.cutting import Book, Lexicon, cut, read_book
from zoo.data.cloze.module import ClozeData
from zoo.data.cloze.options import ClozeTextOptions
from zoo.data.cloze.question import BLANK, ClozeQuestion
from zoo.data.cloze.writing import write_cbt
from zoo.data.notes import key
from zoo.data.options import LoaderOptions, Options
from zoo.data.rows import BadRows
from zoo.data.sources import SPLITS, Source, existing, identity
from zoo.errors import ConfigError, DataError

RULES = 1
"""Raise it with every change of what is cut: what was prepared by older rules is then left alone."""
SUFFIXES = (".txt", ".md")
LAYOUT = "a folder of books as .txt or .md, UTF-8, one book a file, or one such file"
FEW = 3
"""In fewer books each is cut into train, val and test by its chapters' sentences: eight, one and one tenth."""


@dataclass(frozen=True)
class BookSplitOptions(Options):
    """Which books are kept for validation and test: whole ones, so that no story is in two splits."""

    group: ClassVar[str] = "split"

    val: Count = 3
    """Books to validate on."""
    test: Count = 3
    """Books of the test."""
    seed: Natural = 1
    """The seed of the drawing of the books, and of the words that are taken out of them."""


class Books(ClozeData):
    """Questions cut from the books in a folder."""

    name = "books"

    def __init__(
        self,
        *,
        path: str,
        kind: Literal["NE", "CN"] = "NE",
        stride: Count = 1,
        split: Mapping[str, Any] | BookSplitOptions | None = None,
        text: Mapping[str, Any] | ClozeTextOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """`path` is LAYOUT; `kind` the words that are taken out; `stride` how many sentences the last sentences of two
        questions are apart at least: 21 lets no two share one; the rest as in `ClozeData`."""
        super().__init__(
            text=text,
            loader=loader,
        )
        self.path = path
        self.kind = kind
        self.stride = stride
        self.books = BookSplitOptions.of(split)

    def open_source(self) -> Source:
        if not self.path:
            raise ConfigError(f"data.path is empty; expected: {LAYOUT}")
        path = existing(self.path, "data.path", LAYOUT)
        files = [path] if path.is_file() else sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
        if not files:
            raise DataError(f"{path}: no book in it; expected: {LAYOUT}")
        return cut_source(files, str(path), self.kind, self.stride, self.books)

    def write(self, folder: Path) -> list[Path]:
        """The questions as files in CBT's form, which `data=cbt data.source=FOLDER` reads; the files."""
        return write_cbt(self.open_source(), folder, self.kind, BadRows(self.loader.on_bad_row))


def cut_source(files: Sequence[Path], place: str, kind: str, stride: int, split: BookSplitOptions) -> Source:
    """The questions of some books, which are not read yet. Raises ConfigError where they are too few for the splits, or
    two have one name."""
    if len(files) >= FEW and split.val + split.test >= len(files):
        raise ConfigError(
            f"data.split: val={split.val} and test={split.test} of {len(files)} books leave none to train on; give "
            f"smaller numbers, or more books in {place}"
        )
    named: dict[str, Path] = {}
    for file in files:
        if (other := named.setdefault(file.stem, file)) is not file:
            raise ConfigError(f"{file}: has the name of another book, {other}; give each a name of its own")
    shelf = Shelf(files, split, place)
    return Source(
        place=place,
        description=f"path: {place}, {{count}} {kind} questions cut from {len(files)} books",
        identity={
            "books": [identity(file) for file in files],
            "rules": [RULES, kind, stride],
            "kept": [split.val, split.test, split.seed],
        },
        splits={name: partial(shelf.questions, name, kind, stride) for name in SPLITS},
    )


class Shelf:
    """Books that are read when the first question is asked for."""

    def __init__(self, files: Sequence[Path], split: BookSplitOptions, place: str) -> None:
        """`place` is what an error names."""
        self.files, self.split, self.place = list(files), split, place

    @cached_property
    def books(self) -> list[Book]:
        """In the order of the files. A minute for seventeen megabytes."""
        return [read_book(file) for file in datasets.utils.tqdm(self.files, desc="reading", unit=" books", delay=2)]

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
        """Those of a split, no twenty-one sentences twice. Raises DataError for a book that is no text, and where there
        is no question."""
        seen = set[int]()
        for book in self.parts[split]:
            for question in cut(book, self.lexicon, kind, stride=stride, seed=self.split.seed):
                filled = [question.answer if word == BLANK else word for word in question.query]
                if (one := key([question.sentences, filled])) not in seen:
                    seen.add(one)
                    yield question
        if not seen:
            raise DataError(
                f"{self.place}: no question in the {split} split; a question takes twenty-one "
                "sentences of a chapter with at least four names, or nouns: give more text, or more books"
            )


def _by_sentences(books: Sequence[Book]) -> dict[str, list[Book]]:
    """Eight tenths, one and one of the sentences of each book; a chapter that is cut is two from then on."""
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
