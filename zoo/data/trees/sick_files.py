"""The files of SICK, pairs of sentences with a score of relatedness from 1 to 5 (Marelli et al. 2014,
https://aclanthology.org/L14-1314/).

There are two forms, both with tabs: SICK.txt with a column for the split, of 4,439 / 495 / 4,906 pairs as on the hub,
and SemEval's SICK_train.txt, SICK_trial.txt and SICK_test_annotated.txt, of 4,500 / 500 / 4,927. The authors of the
Tree-LSTM prepare parses of them, with a folder for each split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from zoo.data.rows import BadRows, Lines, guarded, line_of, missing_column, read_lines
from zoo.data.trees.brackets import text_lines
from zoo.data.trees.dependency_files import Builder, aligned, binary_tree, dependency_tree, read_conllu, tree_of
from zoo.data.trees.row import Pair
from zoo.errors import DataError

LOWEST, HIGHEST = 1, 5
"""The range of scores."""
NUMBER, FIRST, SECOND, SCORE = COLUMNS = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score")
SET = "SemEval_set"
Split = Literal["train", "val", "test"]
SETS: dict[str, Split] = {"TRAIN": "train", "TRIAL": "val", "TEST": "test"}
"""Values of SemEval_set and their splits."""
Parse = Literal["dependency", "constituency"]
PARSES: dict[Parse, tuple[str, Builder]] = {
    "dependency": ("parents", dependency_tree),
    "constituency": ("cparents", binary_tree),
}
"""The suffix of the files of each kind, and the function that makes a tree of their lines."""


class SickRow(NamedTuple):
    """Two sentences as written in their file."""

    number: str
    """The name of the pair in the file."""
    first: str
    second: str
    score: float
    """From 1, unrelated, to 5."""
    place: str
    """File and line, for messages."""


@guarded
def read_sick(path: Path, whole: bool, bad: BadRows) -> Iterator[tuple[Split, SickRow]]:
    """The pairs of a file, each with its split if the file has a column for it (`whole`), otherwise with train.

    A quotation mark is an ordinary letter. Raises DataError if a column is missing.
    """
    with Lines(path, encoding=bad.encoding) as lines:
        texts = text_lines(lines, bad)
        header = [name.strip() for name in next((text for text in texts if text and text.strip()), "").split("\t")]
        columns = _columns(line_of(path, lines.number), header, whole)
        for text in texts:
            if text is None or not text.strip():
                continue
            place, fields = line_of(path, lines.number), [field.strip() for field in text.split("\t")]
            if len(fields) != len(header):
                found = f"found {len(fields)} with tabs between, the header has {len(header)}"
                bad(place, "wrong number of fields", found)
                continue
            number, first, second, score, *sets = (fields[column] for column in columns)
            if sets and sets[0] not in SETS:
                bad(place, "unknown split", f"found {sets[0][:40]!r} in {SET}, expected one of {', '.join(SETS)}")
            elif not first or not second:
                bad(place, "no text", f"column {SECOND if first else FIRST!r} is empty")
            elif (value := score_of(score, place, bad)) is not None:
                yield SETS[sets[0]] if sets else "train", SickRow(number, first, second, value, place)


def _columns(place: str, header: list[str], whole: bool) -> list[int]:
    names = (*COLUMNS, SET) if whole else COLUMNS
    hints = {
        SCORE: "; the test set with scores is SICK_test_annotated.txt",
        SET: "; without it, give a folder with SICK_train.txt, SICK_trial.txt and SICK_test_annotated.txt",
    }
    for name in names:
        if name not in header:
            raise DataError(f"{place}: {missing_column(name, header, hints.get(name, ''))}")
    return [header.index(name) for name in names]


@guarded
def read_parsed(folder: Path, bad: BadRows, parse: Parse) -> Iterator[Pair]:
    """The pairs of one split in the form of the Tree-LSTM's authors.

    The files are a.toks and b.toks with their .parents (for "dependency") or .cparents (for "constituency"), and
    sim.txt with one score per line. A pair with a broken tree is left out. Raises DataError if a file is missing or has
    more lines than another, id.txt included.
    """
    suffix, builder = PARSES[parse]
    names = ["a.toks", f"a.{suffix}", "b.toks", f"b.{suffix}", "sim.txt"]
    _check_there(folder, names, ", which scripts/preprocess-sick.py of github.com/stanfordnlp/treelstm writes")
    if (folder / "id.txt").is_file():
        names.append("id.txt")
    for number, texts in aligned([folder / name for name in names], bad):
        place = [line_of(folder / name, number) for name in names]
        first = tree_of(texts[0], texts[1], builder, place[1], bad)
        second = first and tree_of(texts[2], texts[3], builder, place[3], bad)
        if first and second and (score := score_of(texts[4], place[4], bad)) is not None:
            yield Pair(first, second, score, place[0])


@guarded
def read_conllu_pairs(folder: Path, bad: BadRows) -> Iterator[Pair]:
    """The pairs of one split from a.conllu and b.conllu, whose n-th sentences form a pair, and sim.txt with one score
    per line. A pair with a broken tree is left out. Raises DataError if a file is missing or has more sentences than
    another."""
    names = ("a.conllu", "b.conllu", "sim.txt")
    _check_there(folder, names)
    *files, scored = (folder / name for name in names)
    scores = read_lines(scored, encoding=bad.encoding)
    while scores and not scores[-1].strip():
        scores.pop()
    firsts, seconds = (list(read_conllu(path, bad)) for path in files)
    if not len(firsts) == len(seconds) == len(scores):
        raise DataError(
            f"{folder}: {len(firsts)} sentences in a.conllu, {len(seconds)} in b.conllu, {len(scores)} scores in "
            "sim.txt; expected as many of each"
        )
    for line, ((first, place), (second, _), text) in enumerate(zip(firsts, seconds, scores, strict=True), 1):
        if first and second and (score := score_of(text, line_of(scored, line), bad)) is not None:
            yield Pair(first, second, score, place)


def _check_there(folder: Path, names: Sequence[str], hint: str = "") -> None:
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise DataError(f"{folder}: no {missing[0]}; expected {', '.join(names)}{hint}")


def score_of(text: str, place: str, bad: BadRows) -> float | None:
    """The score that a text states; None, once reported, for another text."""
    try:
        score = float(text)
    except ValueError:
        score = 0.0
    if LOWEST <= score <= HIGHEST:
        return score
    bad(place, "score out of range", f"found {text.strip()[:40]!r}, expected a number from {LOWEST} to {HIGHEST}")
    return None
