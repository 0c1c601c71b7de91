"""The raw form of the Stanford Sentiment Treebank: Socher et al. 2013, https://nlp.stanford.edu/sentiment/.

Sentences, their trees and the scores of phrases are in separate files; a node has the class of its phrase. Line k of
SOStr.txt has the tokens of sentence k with | between. Line k of STree.txt has the parents of its nodes, counted from 1,
the tokens first and 0 for the root. datasetSplit.txt has the split of each sentence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from pathlib import Path

from zoo.data.rows import BadRows, beginning, guarded, line_of, read_lines
from zoo.data.trees.brackets import unescaped
from zoo.data.trees.dependency_files import BadTree, aligned, binary_tree, whole_numbers
from zoo.data.trees.tree import Labelled, Tree
from zoo.errors import DataError

SENTENCES, TREES, SPLIT, PHRASES, SCORES = FILES = (
    "SOStr.txt",
    "STree.txt",
    "datasetSplit.txt",
    "dictionary.txt",
    "sentiment_labels.txt",
)
NUMBERS = {"1": "train", "2": "test", "3": "val"}
"""The splits by their numbers in datasetSplit.txt."""
CLASSES = ("0", "1", "2", "3", "4")
THRESHOLDS = (0.2, 0.4, 0.6, 0.8)
"""The highest score of each class except the last: 0.2 still belongs to class 0."""


@guarded
def read_raw(folder: Path, bad: BadRows) -> Iterator[tuple[str, Labelled]]:
    """(split, tree) of each sentence, numbered from the top.

    A node has a class "0" to "4" if its phrase is in dictionary.txt, otherwise None. Words lose the backslash of `\\/`
    and `\\*`. A sentence whose parents do not form a binary tree, or whose root has no class, is a bad row. Raises
    DataError, with file and line, if the tables that all sentences share are broken: then no row can be trusted.
    """
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise DataError(f"{folder}: no {missing[0]}; expected {', '.join(FILES)}, as in stanfordSentimentTreebank.zip")
    rows = dict(aligned([folder / SENTENCES, folder / TREES], bad))
    splits = _read_splits(folder / SPLIT, max(rows, default=0))
    classes = read_classes(folder / PHRASES, folder / SCORES)
    for number, (words, heads) in rows.items():
        try:
            tree = labelled(binary_tree(words.split("|"), whole_numbers(heads.strip().split("|"))), classes)
        except BadTree as error:
            bad(line_of(folder / TREES, number), error.problem, error.detail)
            continue
        place, shown = line_of(folder / SENTENCES, number), beginning(" ".join(tree.words))
        if tree.label[tree.root] is None:
            bad(place, "no label", f"{shown} is not a phrase of {folder / PHRASES}")
        else:
            unquoted = [unescaped(word) for word in tree.words]
            yield splits[number - 1], Labelled(tree._replace(words=unquoted), place)


def labelled(tree: Tree, classes: Mapping[str, str]) -> Tree:
    """Label each node with the class of its phrase, or None. The phrase of a node is all words from the first to the
    last one at or below the node, joined by blanks."""
    phrases = (" ".join(tree.words[first : last + 1]) for first, last in tree.spans())
    return tree._replace(label=[classes.get(phrase) for phrase in phrases])


def read_classes(phrases: Path, scores: Path) -> dict[str, str]:
    """The class "0" to "4" of each phrase, from dictionary.txt and sentiment_labels.txt. Raises DataError for a score
    outside 0 to 1 and for a phrase without a score."""
    found: dict[str, str] = {}
    """The class of each phrase, by the number of the phrase."""
    for line, number, text in _pairs(scores, "|", header=True):
        try:
            score = float(text)
        except ValueError:
            score = -1.0
        if not 0 <= score <= 1:
            raise DataError(f"{line_of(scores, line)}: not a score: found {text[:40]!r}, expected a number from 0 to 1")
        found[number] = CLASSES[bisect_left(THRESHOLDS, score)]
    classes = {}
    for line, phrase, number in _pairs(phrases, "|"):
        if number not in found:
            place = line_of(phrases, line)
            raise DataError(f"{place}: the phrase {number[:40]!r} has no score in {scores}, which has {len(found):,}")
        classes[phrase] = found[number]
    return classes


def _read_splits(path: Path, sentences: int) -> list[str]:
    """The split of each sentence. Raises DataError unless each has one."""
    found: dict[int, str] = {}
    for line, sentence, split in _pairs(path, ",", header=True):
        place = line_of(path, line)
        if not sentence.isdecimal() or not 1 <= int(sentence) <= sentences:
            expected = f"expected 1 to {sentences}, the sentences of {SENTENCES}"
            raise DataError(f"{place}: no such sentence: found {sentence[:40]!r}; {expected}")
        if split not in NUMBERS:
            known = ", ".join(f"{number} ({name})" for number, name in NUMBERS.items())
            raise DataError(f"{place}: no such split: found {split[:40]!r}, expected one of {known}")
        if int(sentence) in found:
            raise DataError(f"{place}: sentence {sentence} has a split already; expected one per sentence")
        found[int(sentence)] = NUMBERS[split]
    for number in range(1, sentences + 1):
        if number not in found:
            place = line_of(path.parent / SENTENCES, number)
            raise DataError(f"{place}: this sentence has no split; {path} has {len(found)} for {sentences} sentences")
    return [found[number] for number in range(1, sentences + 1)]


def _pairs(path: Path, mark: str, *, header: bool = False) -> Iterator[tuple[int, str, str]]:
    """(line, text before the last mark, text after it) of each line that is not blank, without the header."""
    for number, line in enumerate(read_lines(path), 1):
        before, found, after = line.rpartition(mark)
        if not line.strip() or (header and number == 1 and not before.strip().isdecimal()):
            continue
        if not found:
            raise DataError(f"{line_of(path, number)}: found {line[:40]!r}, expected two fields with {mark!r} between")
        # Phrases keep their blanks, because the lookup compares every letter; numbers lose them.
        yield number, before.strip() if header else before, after.strip()
