"""The raw form of the Stanford Sentiment Treebank: Socher et al. 2013, https://nlp.stanford.edu/sentiment/.

Sentences, their trees and the scores of phrases stand in files of their own; a node has the class of its phrase. Line k
of SOStr.txt has the tokens of sentence k with | between, that of STree.txt the parents of its nodes, counted from 1,
the tokens first and 0 for the root; datasetSplit.txt says which split it is in.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from zoo.data.rows import BadRows, guarded, line_of, read_lines
from zoo.data.trees.brackets import unescaped
from zoo.data.trees.dependency_files import BadTree, binary_tree, whole_numbers
from zoo.data.trees.row import Labelled
from zoo.data.trees.tree import Tree
from zoo.errors import DataError

SENTENCES, TREES, SPLIT, PHRASES, SCORES = FILES = (
    "SOStr.txt",
    "STree.txt",
    "datasetSplit.txt",
    "dictionary.txt",
    "sentiment_labels.txt",
)
Split = Literal["train", "val", "test"]
NUMBERS = {"1": "train", "2": "test", "3": "val"}
"""Of the splits in datasetSplit.txt."""
CLASSES = ("0", "1", "2", "3", "4")
THRESHOLDS = (0.2, 0.4, 0.6, 0.8)
"""The highest score of each class but the last: 0.2 is of class 0."""


@guarded
def read_raw(folder: Path, split: Split, bad: BadRows) -> Iterator[Labelled]:
    """The trees of a split, numbered from the top, with a class "0" to "4" at each node whose phrase is in
    dictionary.txt and None at any other; words lose the backslash of `\\/` and `\\*`.

    A sentence whose parents make no binary tree over its words is a bad row. Raises DataError, with file and line,
    where the tables that all sentences share are broken or the files differ in their sentences: then no row can be
    trusted.
    """
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise DataError(f"{folder}: no {missing[0]}; expected {', '.join(FILES)}, as in stanfordSentimentTreebank.zip")
    sentences, parents = (_sentence_lines(folder / name, bad.encoding) for name in (SENTENCES, TREES))
    shorter, longer = sorted([(len(sentences), SENTENCES), (len(parents), TREES)])
    if shorter[0] != longer[0]:
        place = line_of(folder / shorter[1], shorter[0])
        raise DataError(f"{place}: the file ends here, and {longer[1]} has {longer[0]} lines; expected one a sentence")
    splits = _read_splits(folder / SPLIT, len(sentences))
    classes = read_classes(folder / PHRASES, folder / SCORES)
    for number, (words, heads) in enumerate(zip(sentences, parents, strict=True), 1):
        if splits[number - 1] != split:
            continue
        try:
            tree = binary_tree(words.split("|"), whole_numbers(heads.strip().split("|")))
        except BadTree as error:
            bad(line_of(folder / TREES, number), error.problem, error.detail)
        else:
            tree = labelled(tree, classes)
            place = line_of(folder / SENTENCES, number)
            yield Labelled(tree._replace(words=[unescaped(word) for word in tree.words]), place)


def labelled(tree: Tree, classes: Mapping[str, str]) -> Tree:
    """The same with the class of its phrase at each node, None where the phrase has none. A phrase is what stands from
    the first to the last word at a node or below it, with blanks between: also what lies inside and is not covered."""
    phrases = (" ".join(tree.words[first : last + 1]) for first, last in tree.spans())
    return tree._replace(label=[classes.get(phrase) for phrase in phrases])


def read_classes(phrases: Path, scores: Path) -> dict[str, str]:
    """The class "0" to "4" of each phrase, from dictionary.txt and sentiment_labels.txt. Raises DataError for a score
    that is none from 0 to 1 and for a phrase without one."""
    found: dict[str, str] = {}
    """By the number of the phrase; each class is one object, of which 240,000 phrases hold references."""
    for line, number, score in _pairs(scores, "|", header=True):
        value = _score(score)
        if value is None:
            raise DataError(
                f"{line_of(scores, line)}: not a score: found {score[:40]!r}, expected a number from 0 to 1"
            )
        found[number] = CLASSES[bisect_left(THRESHOLDS, value)]
    classes = {}
    for line, phrase, number in _pairs(phrases, "|"):
        if number not in found:
            place = line_of(phrases, line)
            raise DataError(f"{place}: the phrase {number[:40]!r} has no score in {scores}, which has {len(found):,}")
        classes[phrase] = found[number]
    return classes


def _score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return score if 0 <= score <= 1 else None


def _read_splits(path: Path, sentences: int) -> list[str]:
    """The split of each sentence. Raises DataError unless each has one."""
    found: dict[int, str] = {}
    for line, sentence, split in _pairs(path, ",", header=True):
        place = line_of(path, line)
        if not sentence.isdecimal() or not 1 <= int(sentence) <= sentences:
            said = f"{sentences} sentences, so many as {SENTENCES} has, are expected from 1 on"
            raise DataError(f"{place}: no such sentence: found {sentence[:40]!r}; {said}")
        if split not in NUMBERS:
            known = ", ".join(f"{number} ({name})" for number, name in NUMBERS.items())
            raise DataError(f"{place}: no such split: found {split[:40]!r}, expected one of {known}")
        if int(sentence) in found:
            raise DataError(f"{place}: sentence {sentence} has a split already; expected one a sentence")
        found[int(sentence)] = NUMBERS[split]
    for number in range(1, sentences + 1):
        if number not in found:
            place = line_of(path.parent / SENTENCES, number)
            raise DataError(f"{place}: this sentence has no split; {path} has {len(found)} for {sentences} sentences")
    return [found[number] for number in range(1, sentences + 1)]


def _pairs(path: Path, mark: str, *, header: bool = False) -> Iterator[tuple[int, str, str]]:
    """(line, what stands before the last mark, what behind it) of each line that is not blank, without the header."""
    for number, line in enumerate(read_lines(path), 1):
        before, found, behind = line.rpartition(mark)
        if not line.strip() or (header and number == 1 and not before.strip().isdecimal()):
            continue
        if not found:
            raise DataError(f"{line_of(path, number)}: found {line[:40]!r}, expected two fields with {mark!r} between")
        # A phrase stays as it is, since it is looked up letter by letter; numbers lose their blanks.
        yield number, before.strip() if header else before, behind.strip()


def _sentence_lines(path: Path, encoding: str) -> list[str]:
    """The lines of a file without the blank ones at its end."""
    lines = read_lines(path, encoding=encoding)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines
