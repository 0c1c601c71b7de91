"""The Stanford Sentiment Treebank: sentences of film reviews with a class at every node of their parses.

Socher et al. 2013, https://aclanthology.org/D13-1170; https://nlp.stanford.edu/sentiment: 8,544 sentences for training,
1,101 for validation and 2,210 for the test.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack, get_args

from zoo.data.cache import write_new
from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.rows import BadRows, beginning, guarded, line_of, read_lines
from zoo.data.sources import (
    HUB_SPLITS,
    ReadOnce,
    Source,
    file_source,
    find_splits,
    hub_source,
    identity,
    path_source,
    sample_source,
)
from zoo.data.trees.brackets import read_tree, read_trees, unescaped, written
from zoo.data.trees.dependency_files import BadTree, aligned, binary_tree, whole_numbers
from zoo.data.trees.module import LabelledTreeArguments, TreeData
from zoo.data.trees.samples import sentiment
from zoo.data.trees.tree import Labelled, Tree
from zoo.errors import DataError, one_of

Classes = Literal["fine", "binary"]
NAMES = ("very negative", "negative", "neutral", "positive", "very positive")
FINE = {str(number): name for number, name in enumerate(NAMES)}
BINARY = {"0": "negative", "1": "negative", "2": "neutral", "3": "positive", "4": "positive"}
HUB, HUB_REVISION = "stanfordnlp/sst", "refs/convert/parquet"
"""The repository has a folder for each configuration, with a folder for each split, but no list of them."""
FILES_WRITTEN = {"train": "train.txt", "val": "dev.txt", "test": "test.txt"}
SENTENCES, TREES, SPLIT, PHRASES, SCORES = FILES = (
    "SOStr.txt",
    "STree.txt",
    "datasetSplit.txt",
    "dictionary.txt",
    "sentiment_labels.txt",
)
NUMBERS = {"1": "train", "2": "test", "3": "val"}  # The splits by their numbers in datasetSplit.txt
THRESHOLDS = (0.2, 0.4, 0.6, 0.8)  # The highest score of each class but the last: 0.2 is of class 0
LAYOUT = f"a folder with train.txt, dev.txt and test.txt, one tree per line, or with {', '.join(FILES)}"


class SSTArguments(CorpusArguments, LabelledTreeArguments, total=False):
    """The arguments of `SST` besides `classes`."""


class SST(Corpus, TreeData):
    """Film reviews with a sentiment at every node. A path is the folder of the official files, in brackets
    (trainDevTestTrees_PTB.zip) or raw (stanfordSentimentTreebank.zip).

    `classes=fine` has five classes. `classes=binary` has negative and positive, and neutral for nodes below the root,
    which a network has to know; trees that are neutral as a whole are left out.
    """

    name = "sst"
    layout = LAYOUT

    def __init__(self, *, classes: Classes = "fine", **rest: Unpack[SSTArguments]) -> None:
        """`classes` is described above."""
        super().__init__(**rest)
        if one_of("data.classes", classes, get_args(Classes)) == "fine":
            self.class_names, self.polarity = FINE, (-1, -1, 0, 1, 1)
        else:
            self.class_names, self.polarity, self.neutral = BINARY, (-1, 0, 1), "neutral"

    def write(self, folder: Path) -> list[Path]:
        bad, splits = self.bad_rows(), self.open_source().splits
        return write_new(
            folder, {FILES_WRITTEN[name]: (f"{written(row.tree)}\n" for row in splits[name](bad)) for name in splits}
        )

    def open_sample(self) -> Source:
        return sample_source(sentiment.generate, self.sample, "trees")

    def open_hub(self) -> Source:
        def read(record: Mapping[str, Any], place: str, bad: BadRows) -> Iterator[Labelled]:
            return read_tree(record["ptb_tree"], place, bad)

        which = {"data_dir": "ptb", "revision": HUB_REVISION}
        return hub_source(HUB, HUB_SPLITS, ("ptb_tree",), read, "trees", **which)

    def open_files(self, path: Path) -> Source | None:
        if not path.is_dir():
            return None
        if all((path / name).is_file() for name in FILES):
            splits = ReadOnce(partial(read_raw, path)).splits()
            return path_source(path, "raw trees", splits, files=[identity(path / name) for name in FILES])
        files = find_splits(path, [".txt"])
        return file_source(path, files, read_trees, "trees") if files else None


# The raw form. Line k of SOStr.txt has the tokens of sentence k with | between. Line k of STree.txt has the parents of
# its nodes, counted from 1, the tokens first and 0 for the root. A node has the class of its phrase.


@guarded
def read_raw(folder: Path, bad: BadRows) -> Iterator[tuple[str, Labelled]]:
    """(split, tree) of each sentence, numbered from the top.

    A node has a class "0" to "4" if its phrase is in dictionary.txt, otherwise None. Words lose the backslash of `\\/`
    and `\\*`. A sentence whose parents do not form a binary tree, or whose root has no class, is a bad row. Raises
    DataError, with file and line, if the tables that all sentences share are broken: then no row can be trusted.
    """
    rows = dict(aligned([folder / SENTENCES, folder / TREES], bad))
    splits = _read_splits(folder / SPLIT, max(rows, default=0), bad)
    classes = read_classes(folder / PHRASES, folder / SCORES, bad)
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
    last one at the node or below it, with blanks between."""
    phrases = (" ".join(tree.words[first : last + 1]) for first, last in tree.spans())
    return tree._replace(label=[classes.get(phrase) for phrase in phrases])


def read_classes(phrases: Path, scores: Path, bad: BadRows) -> dict[str, str]:
    """The class "0" to "4" of each phrase, from dictionary.txt and sentiment_labels.txt. Raises DataError for a score
    outside 0 to 1 and for a phrase without a score."""
    found: dict[str, str] = {}
    """By the number of the phrase."""
    for place, number, text in _pairs(scores, "|", bad, header=True):
        try:
            score = float(text)
        except ValueError:
            score = -1.0
        if not 0 <= score <= 1:
            raise DataError(f"{place}: not a score: found {text[:40]!r}, expected a number from 0 to 1")
        found[number] = str(bisect_left(THRESHOLDS, score))
    classes = {}
    for place, phrase, number in _pairs(phrases, "|", bad):
        if number not in found:
            raise DataError(f"{place}: the phrase {number[:40]!r} has no score in {scores}, which has {len(found):,}")
        classes[phrase] = found[number]
    return classes


def _read_splits(path: Path, sentences: int, bad: BadRows) -> list[str]:
    """The split of each sentence. Raises DataError unless each has one."""
    found: dict[int, str] = {}
    for place, sentence, split in _pairs(path, ",", bad, header=True):
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


def _pairs(path: Path, mark: str, bad: BadRows, *, header: bool = False) -> Iterator[tuple[str, str, str]]:
    """(place, text before the last mark, text after it) of each line that is not blank, without the header."""
    for number, line in enumerate(read_lines(path, encoding=bad.encoding), 1):
        before, found, after = line.rpartition(mark)
        if not line.strip() or (header and number == 1 and not before.strip().isdecimal()):
            continue
        if not found:
            raise DataError(f"{line_of(path, number)}: found {line[:40]!r}, expected two fields with {mark!r} between")
        # A phrase is looked up letter by letter, so that it keeps its blanks; numbers lose them.
        yield line_of(path, number), before.strip() if header else before, after.strip()
