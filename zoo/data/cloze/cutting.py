"""Questions cut from the text of books, by the procedure of the Children's Book Test.

Hill, Bordes, Chopra and Weston 2016, https://arxiv.org/abs/1511.02301, section 2. A question is twenty-one consecutive
sentences of a chapter. One word of the last sentence that also occurs in the twenty before is removed. Nine wrong
candidates are drawn from the words of the same kind in all sentences. Unlike in the paper, `lexicon.py` decides the
kind of a word. If a story has too few names for ten candidates, as most have, common nouns fill up, as in CBT.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zoo.data.cloze.batch import BLANK, ClozeQuestion
from zoo.data.cloze.lexicon import names_of, nouns_of, tells_verb
from zoo.data.cloze.readers import CANDIDATES, SENTENCES, tokenize
from zoo.data.encodings import UTF8
from zoo.data.rows import read_lines
from zoo.data.text.sentences import clean, split_sentences

KINDS = ("NE", "CN")
LEAST_NAMES = 4
"""Fewest names in the twenty-one sentences of a question about a name; fewer leave too little choice."""
HEADING = re.compile(
    r"#{1,6}\s|(?:chapter|part|book|letter|act|scene)\s+(?:[ivxlc]+|\d+|the\b|\w+)[.:\s-]*$", re.IGNORECASE
)
RULE = re.compile(r"[\s*_=~#-]*$")
EMPHASIS = re.compile(r"(?<!\w)[*_]+(?=\S)|(?<=\S)[*_]+(?!\w)")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
GUTENBERG = re.compile(r"\*\*\* ?(START|END) OF", re.IGNORECASE)
DASH = re.compile(r"\s*(?:—|--+)\s*")

Sentence = list[str]


@dataclass(frozen=True)
class Book:
    """A text, split into chapters, sentences and words."""

    name: str
    chapters: list[list[Sentence]]

    @property
    def sentences(self) -> Iterator[Sentence]:
        return (sentence for chapter in self.chapters for sentence in chapter)


def read_book(path: Path, encoding: str = UTF8) -> Book:
    """Reads plain text or Markdown as sentences of words.

    A heading begins a chapter and is not part of it; title lines, rules and marks of emphasis are removed. Raises
    DataError for a file that is not text.
    """
    return Book(path.stem, list(chapters_of(read_lines(path, encoding=encoding))))


def chapters_of(lines: Iterable[str]) -> Iterator[list[Sentence]]:
    """The sentences of each chapter."""
    chapter: list[Sentence] = []
    for paragraph in _paragraphs(lines):
        if paragraph is not None:
            chapter += _sentences(paragraph)
        elif chapter:
            yield chapter
            chapter = []
    if chapter:
        yield chapter


def _paragraphs(lines: Iterable[str]) -> Iterator[str | None]:
    """Paragraphs, each as one line; None for a heading."""
    text: list[str] = []
    for line in [*lines, ""]:
        line = line.strip()
        marker = GUTENBERG.match(line)
        if line and not marker and not RULE.match(line) and not HEADING.match(line):
            text.append(line)
            continue
        if text and (marker is None or marker[1].upper() == "END"):  # lines before START are not part of a book
            yield " ".join(text)
        text = []
        if marker and marker[1].upper() == "END":
            return
        if HEADING.match(line) or (line and RULE.match(line)):
            yield None


def _sentences(paragraph: str) -> Iterator[Sentence]:
    text = DASH.sub(" -- ", EMPHASIS.sub("", LINK.sub(r"\1", clean(paragraph).replace("\n", " "))))
    for sentence in split_sentences(text):
        if words := tokenize(sentence):
            yield words


# Cutting


@dataclass(frozen=True)
class Lexicon:
    """The words that may be removed, by kind."""

    names: Mapping[str, set[str]]
    """Names of each book; a name in one book may be an ordinary word in another."""
    nouns: set[str]

    @classmethod
    def of(cls, books: Sequence[Book]) -> Lexicon:
        nouns = nouns_of(sentence for book in books for sentence in book.sentences)
        return cls({book.name: names_of(book.sentences) for book in books}, nouns)


def cut(book: Book, lexicon: Lexicon, kind: str, *, stride: int = 1, seed: int = 1) -> Iterator[ClozeQuestion]:
    """The questions of a book.

    The last sentences of two questions are at least `stride` apart: with 1 every sentence may be one, with 21 no two
    questions share a sentence. `seed`, the book and the position determine the removed word and its candidates.
    """
    names = lexicon.names[book.name]
    for number, chapter in enumerate(book.chapters):
        at = SENTENCES
        while at < len(chapter):
            draw = random.Random(f"cloze {seed} {kind} {book.name} {number} {at}")
            question = _question(draw, chapter[at - SENTENCES : at], chapter[at], names, lexicon.nouns, kind)
            if question is not None:
                yield question
            at += 1 if question is None else stride


def _question(
    draw: random.Random, context: list[Sentence], last: Sentence, names: set[str], nouns: set[str], kind: str
) -> ClozeQuestion | None:
    """The question that ends with a sentence, or None if none of its words can be removed."""
    before = {word for sentence in context for word in sentence}
    if BLANK in before or BLANK in last:
        return None
    there = {"NE": sorted((before | {*last}) & names), "CN": sorted((before | {*last}) & nouns)}
    asked = [
        place
        for place, word in enumerate(last)
        if word in before
        and last.count(word) == 1
        and word in there[kind]
        and not (kind == "CN" and tells_verb(last, place))
    ]
    if not asked or (kind == "NE" and len(there["NE"]) < LEAST_NAMES):
        return None
    place = draw.choice(asked)
    wrong = _some(draw, there[kind], CANDIDATES - 1, {last[place]})
    if kind == "NE":
        wrong += _some(draw, there["CN"], CANDIDATES - 1 - len(wrong), {last[place], *wrong})
    if len(wrong) < CANDIDATES - 1:
        return None
    query = [*last[:place], BLANK, *last[place + 1 :]]
    return ClozeQuestion(context, query, sorted([last[place], *wrong]), last[place])


def _some(draw: random.Random, words: Sequence[str], count: int, but: set[str]) -> list[str]:
    left = [word for word in words if word not in but]
    return draw.sample(left, min(count, len(left)))
