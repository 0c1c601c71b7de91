"""The files of SICK, pairs of sentences with a score of relatedness from 1 to 5 (Marelli et al. 2014,
https://aclanthology.org/L14-1314/).

There are two forms, both with tabs: SICK.txt with a column for the split, of 4,439 / 495 / 4,906 pairs as on the hub,
and SemEval's SICK_train.txt, SICK_trial.txt and SICK_test_annotated.txt, of 4,500 / 500 / 4,927. The authors of the
Tree-LSTM prepare parses of them, with a folder for each split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from zoo.data.rows import BadRows, guarded, line_of, missing_column, read_lines
from zoo.data.trees.brackets import text_lines
from zoo.data.trees.dependency_files import (
    aligned,
    binary_tree,
    constituency_parents,
    dependency_heads,
    dependency_tree,
    read_conllu,
    tree_of,
)
from zoo.data.trees.tree import Pair, Tree, flat
from zoo.errors import DataError

LOWEST, HIGHEST = 1, 5
"""The range of scores."""
FIRST, SECOND, SCORE, SET = "sentence_A", "sentence_B", "relatedness_score", "SemEval_set"
HINTS = {
    SCORE: "; the test set with scores is SICK_test_annotated.txt",
    SET: "; without it, give a folder with SICK_train.txt, SICK_trial.txt and SICK_test_annotated.txt",
}
"""Advice on a missing column."""
SETS = {"TRAIN": "train", "TRIAL": "val", "TEST": "test"}
"""Values of SemEval_set and their splits."""
Parse = Literal["dependency", "constituency"]
PARSES: dict[Parse, tuple[str, Callable[..., Tree], Callable[[Tree], list[int]]]] = {
    "dependency": ("parents", dependency_tree, dependency_heads),
    "constituency": ("cparents", binary_tree, constituency_parents),
}
"""The suffix of the files of each kind, the function that makes a tree of their lines, and its inverse."""


@guarded
def read_sick(path: Path, split: str, words: Callable[[str], list[str]], bad: BadRows) -> Iterator[tuple[str, Pair]]:
    """(split, pair) of each row of a file without trees. `words` cuts a sentence; without a `split` a column names it.

    A quotation mark is an ordinary letter. Raises DataError if a column is missing.
    """
    header: list[str] = []
    for number, text in enumerate(text_lines(path, bad), 1):
        if text is None or not text.strip():
            continue
        place, fields = line_of(path, number), [field.strip() for field in text.split("\t")]
        if not header:
            header = fields
            if missing := [name for name in (FIRST, SECOND, SCORE, *[SET] * (not split)) if name not in header]:
                raise DataError(f"{place}: {missing_column(missing[0], header, HINTS.get(missing[0], ''))}")
        elif len(fields) != len(header):
            bad(place, "wrong number of fields", f"found {len(fields)} with tabs between, the header has {len(header)}")
        else:
            row = dict(zip(header, fields, strict=True))
            name, first, second = split or SETS.get(row[SET]), words(row[FIRST]), words(row[SECOND])
            if name is None:
                bad(place, "unknown split", f"found {row[SET][:40]!r} in {SET}, expected one of {', '.join(SETS)}")
            elif not first or not second:
                column = SECOND if first else FIRST
                bad(place, "no text", f"column {column!r} holds {row[column]!r}")
            elif (score := score_of(row[SCORE], place, bad)) is not None:
                yield name, Pair(flat(first), flat(second), score, place)


@guarded
def read_parsed(folder: Path, bad: BadRows, parse: Parse) -> Iterator[Pair]:
    """The pairs of one split in the form of the Tree-LSTM's authors, or in CoNLL-U.

    The files are a.toks and b.toks with their .parents (for "dependency") or .cparents (for "constituency"), and
    sim.txt with one score per line. A pair with a broken tree is left out. Raises DataError if a file is missing or has
    more lines than another, id.txt included.
    """
    if (folder / "a.conllu").is_file() and parse == "dependency":
        yield from _read_conllu_pairs(folder, bad)
        return
    suffix, builder, _ = PARSES[parse]
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


def _read_conllu_pairs(folder: Path, bad: BadRows) -> Iterator[Pair]:
    """The n-th sentences of a.conllu and b.conllu form a pair; sim.txt has one score per line."""
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


def write_parsed(folder: str, pairs: Sequence[Pair], parse: Parse) -> Mapping[str, list[str]]:
    """The files that `read_parsed` reads, by their names, each with its lines."""
    suffix, _, heads = PARSES[parse]
    texts = {f"{folder}/sim.txt": [f"{pair.score:g}\n" for pair in pairs]}
    for side, trees in (("a", [pair.first for pair in pairs]), ("b", [pair.second for pair in pairs])):
        texts[f"{folder}/{side}.toks"] = [f"{' '.join(tree.words)}\n" for tree in trees]
        texts[f"{folder}/{side}.{suffix}"] = [f"{' '.join(map(str, heads(tree)))}\n" for tree in trees]
    return texts


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
