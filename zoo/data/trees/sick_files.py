"""SICK, pairs of sentences with a score of relatedness from 1 to 5: Marelli et al. 2014,
https://aclanthology.org/L14-1314/.

Two forms go round, both with tabs: SICK.txt with a column for the split, of 4,439 / 495 / 4,906 pairs on the hub, and
SemEval's SICK_train.txt, SICK_trial.txt and SICK_test_annotated.txt, of 4,500 / 500 / 4,927. And as the Tree-LSTM's
authors prepare it, parsed: a folder a split.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from zoo.data.rows import BadRows, Lines, guarded, line_of, missing_column, read_lines
from zoo.data.trees.brackets import text_lines
from zoo.data.trees.dependency_files import Builder, aligned, binary_tree, dependency_tree, read_conllu, tree_of
from zoo.data.trees.row import Pair
from zoo.errors import DataError

LOWEST, HIGHEST = 1, 5
"""Scores that there are."""
NUMBER, FIRST, SECOND, SCORE = COLUMNS = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score")
SET = "SemEval_set"
Split = Literal["train", "val", "test"]
SETS = {"TRAIN": "train", "TRIAL": "val", "TEST": "test"}
"""Values of SemEval_set and the splits that they are."""
Parse = Literal["dependency", "constituency"]
PARSES: dict[Parse, tuple[str, Builder]] = {
    "dependency": ("parents", dependency_tree),
    "constituency": ("cparents", binary_tree),
}
"""The suffix of the files of each kind, and what makes a tree of their lines."""


class SickRow(NamedTuple):
    """Two sentences as they stand in their file."""

    number: str
    """What the file calls the pair."""
    first: str
    second: str
    score: float
    """From 1, unrelated, to 5."""
    place: str
    """File and line, for messages."""


class _Said(BadRows):
    """Of rows whose split cannot be known: they were reported when the first split was read."""

    def __call__(self, place: str, problem: str, detail: str = "") -> None:
        """Nothing, so that one row counts once."""


@guarded
def read_sick(path: Path, split: Split | None, bad: BadRows) -> Iterator[SickRow]:
    """The pairs of a file of either form; with `split`, those of one split of a file that has a column for it. A quote
    is a letter like any other. Raises DataError where a column is missing."""
    whole = bad if split in (None, "train") else _Said(encoding=bad.encoding)
    with Lines(path, encoding=bad.encoding) as lines:
        texts = text_lines(lines, whole)
        header = [name.strip() for name in next((text for text in texts if text and text.strip()), "").split("\t")]
        columns = _columns(path, lines.number, header, split)
        for text in texts:
            if text is None or not text.strip():
                continue
            place, fields = line_of(path, lines.number), [field.strip() for field in text.split("\t")]
            if len(fields) != len(header):
                whole(
                    place,
                    "wrong number of fields",
                    f"found {len(fields)} with tabs between, the header has {len(header)}",
                )
                continue
            number, first, second, score, *sets = (fields[column] for column in columns)
            if sets and sets[0] not in SETS:
                whole(place, "no such split", f"found {sets[0][:40]!r} in {SET}, expected one of {', '.join(SETS)}")
            elif sets and SETS[sets[0]] != split:
                continue
            elif not first or not second:
                bad(place, "no text", f"column {SECOND if first else FIRST!r} is empty")
            elif (value := score_of(score)) is None:
                bad(place, *_no_score(score))
            else:
                yield SickRow(number, first, second, value, place)


def _columns(path: Path, line: int, header: list[str], split: Split | None) -> list[int]:
    """Where the columns stand, the last of them that of the split if one is asked for."""
    for name in COLUMNS:
        if name not in header:
            hint = "; the test set with scores is SICK_test_annotated.txt" if name == SCORE else ""
            raise DataError(f"{line_of(path, line)}: {missing_column(name, header, hint)}")
    if split is None:
        return [header.index(name) for name in COLUMNS]
    if SET not in header:
        whole = "; a file without it is one split, as SICK_train.txt, SICK_trial.txt and SICK_test_annotated.txt are"
        raise DataError(f"{line_of(path, line)}: {missing_column(SET, header, whole)}")
    return [header.index(name) for name in (*COLUMNS, SET)]


@guarded
def read_parsed(folder: Path, bad: BadRows, parse: Parse) -> Iterator[Pair]:
    """The pairs of one split as the Tree-LSTM's authors prepare them: a.toks and b.toks with their .parents (for
    "dependency") or .cparents (for "constituency"), and sim.txt, a score a line. A pair is left out where one of its
    trees is broken. Raises DataError where a file is missing, or has more lines than another, id.txt included."""
    suffix, builder = PARSES[parse]
    names = ["a.toks", f"a.{suffix}", "b.toks", f"b.{suffix}", "sim.txt"]
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise DataError(
            f"{folder}: no {missing[0]}; expected {', '.join(names)}, which scripts/preprocess-sick.py of "
            "github.com/stanfordnlp/treelstm writes"
        )
    if (folder / "id.txt").is_file():
        names.append("id.txt")
    for number, texts in aligned([folder / name for name in names], bad):
        place = [line_of(folder / name, number) for name in names]
        first = tree_of(texts[0], texts[1], builder, place[1], bad)
        second = first and tree_of(texts[2], texts[3], builder, place[3], bad)
        score = score_of(texts[4])
        if first is None or second is None:
            continue
        if score is None:
            bad(place[4], *_no_score(texts[4]))
        else:
            yield Pair(first, second, score, place[0])


def score_of(text: str) -> float | None:
    """The score that a text is; None for what is no number from 1 to 5."""
    try:
        score = float(text)
    except ValueError:
        return None
    return score if LOWEST <= score <= HIGHEST else None


def _no_score(text: str) -> tuple[str, str]:
    """Problem and detail of what is no score."""
    return "score out of range", f"found {text.strip()[:40]!r}, expected a number from {LOWEST} to {HIGHEST}"


class _Counted(BadRows):
    """Of sentences that are told apart by their order alone: where one is left out, all behind it get another's."""

    def __call__(self, place: str, problem: str, detail: str = "") -> None:
        """Raises DataError."""
        raise DataError(f"{place}: {problem}: {detail}; mend it: no sentence can be left out of a.conllu and b.conllu")


@guarded
def read_conllu_pairs(folder: Path, bad: BadRows) -> Iterator[Pair]:
    """The pairs of one split from a.conllu and b.conllu, whose n-th sentences belong together, and sim.txt, a score a
    line. Raises DataError for a broken sentence, since one that is left out would shift all others."""
    names = [folder / name for name in ("a.conllu", "b.conllu", "sim.txt")]
    if missing := [path for path in names if not path.is_file()]:
        raise DataError(f"{missing[0]}: no such file; expected a.conllu, b.conllu and sim.txt")
    scores = read_lines(names[2], encoding=bad.encoding)
    while scores and not scores[-1].strip():
        scores.pop()
    firsts, seconds = (list(read_conllu(path, _Counted(encoding=bad.encoding))) for path in names[:2])
    if not len(firsts) == len(seconds) == len(scores):
        raise DataError(
            f"{folder}: {len(firsts)} sentences in a.conllu, {len(seconds)} in b.conllu, {len(scores)} scores in "
            "sim.txt; expected as many of each"
        )
    for line, ((first, place), (second, _), text) in enumerate(zip(firsts, seconds, scores, strict=True), 1):
        score = score_of(text)
        if score is None:
            bad(line_of(names[2], line), *_no_score(text))
        else:
            yield Pair(first, second, score, place)
