"""SICK, sentences involving compositional knowledge: pairs of sentences with a relatedness score from 1 to 5.

Marelli et al. 2014, https://aclanthology.org/L14-1314. There are two different sets: SemEval's has 4,500, 500 and 4,927
pairs in three files, that of the Hugging Face hub 4,439, 495 and 4,906 in one file, SICK.txt. Tai et al. (2015) report
on the first. The authors of the Tree-LSTM prepare parses of it, with a folder for each split.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack, get_args

from zoo.data.cache import write_new
from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.rows import BadRows, guarded, line_of, missing_column, read_lines, visible
from zoo.data.sources import SPLITS, ReadOnce, Source, identity, path_source, sample_source
from zoo.data.trees.brackets import text_lines
from zoo.data.trees.builder import BINARISED, SPACY, builds
from zoo.data.trees.dependency_files import (
    aligned,
    binary_tree,
    constituency_parents,
    dependency_heads,
    dependency_tree,
    read_conllu,
    tree_of,
)
from zoo.data.trees.module import TreeArguments, TreePairData
from zoo.data.trees.samples import relatedness
from zoo.data.trees.tree import Pair, Tree, flat
from zoo.errors import ConfigError, DataError, one_of

KNOWN = {
    4927: "SemEval's 4,927 test pairs, on which Tai et al. (2015) report",
    4906: "the 4,906 test pairs of the Hugging Face hub, 21 fewer than SemEval's",
}
"""Number of test pairs -> the set."""
PARSED = (
    "folders train, dev and test with a.toks, a.parents, b.toks, b.parents and sim.txt, or a.conllu, b.conllu, sim.txt"
)
LAYOUT = (
    f"{PARSED}; or, with data.trees=balanced or another way that builds trees, SICK.txt, whose column SemEval_set "
    "names the splits, or a folder with it or with SICK_train.txt, SICK_trial.txt and SICK_test_annotated.txt"
)
FOLDERS = {"train": ("train",), "val": ("dev", "val", "trial"), "test": ("test",)}
SEMEVAL = {
    "train": ("SICK_train.txt",),
    "val": ("SICK_trial.txt",),
    "test": ("SICK_test_annotated.txt", "SICK_test.txt"),
}
"""Candidate file names of each split; the first that exists is read. SICK_test.txt, which has no scores, is refused."""
LOWEST, HIGHEST = TreePairData.grades
FIRST, SECOND, SCORE, SET = "sentence_A", "sentence_B", "relatedness_score", "SemEval_set"
HINTS = {
    SCORE: "; the test set with scores is SICK_test_annotated.txt",
    SET: "; without it, give a folder with SICK_train.txt, SICK_trial.txt and SICK_test_annotated.txt",
}
"""Advice on a missing column."""
SETS = {"TRAIN": "train", "TRIAL": "val", "TEST": "test"}  # Values of SemEval_set and their splits
Parse = Literal["dependency", "constituency"]
PARSES: dict[Parse, tuple[str, Callable[..., Tree], Callable[[Tree], list[int]]]] = {
    "dependency": ("parents", dependency_tree, dependency_heads),
    "constituency": ("cparents", binary_tree, constituency_parents),
}
"""The suffix of the files of each kind, the function that makes a tree of their lines, and its inverse."""


class SICKArguments(CorpusArguments, TreeArguments, total=False):
    """The arguments of `SICK` besides `parse`."""


class SICK(Corpus, TreePairData):
    """Pairs of sentences with their relatedness. `parse` chooses dependency or constituency trees, from files, from the
    sample, or built on the words."""

    name = "sick"
    layout = LAYOUT
    on_hub = False

    def __init__(self, *, parse: Parse = "dependency", **rest: Unpack[SICKArguments]) -> None:
        """`parse` is described above."""
        super().__init__(**rest)
        self.parse: Parse = one_of("data.parse", parse, get_args(Parse))  # type: ignore[assignment]
        self.inside = parse == "dependency" and self.trees != BINARISED  # binarised, all words are at leaves

    @classmethod
    def check_model(cls, options: Mapping[str, Any], model: Any) -> None:
        """Raise ConfigError where dependency trees, which have a word at every node, meet a network of two children."""
        if getattr(model, "binary_only", False) and options["parse"] == "dependency" and options["trees"] == "given":
            raise ConfigError(
                f"data.parse=dependency: these trees have a word at every node, and {model.__name__} needs exactly "
                "two children per node; set data.parse=constituency, or use model=tree_lstm"
            )

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"parse": self.parse}

    def write(self, folder: Path) -> list[Path]:
        if builds(self.trees):
            raise ConfigError(f"--write: the files have the trees of the data; remove data.trees={self.trees}")
        bad, texts = self.bad_rows(), dict[str, list[str]]()
        for split, read in self.open_source().splits.items():
            texts |= write_parsed(FOLDERS[split][0], list(read(bad)), self.parse)
        return write_new(folder, texts)

    def open_sample(self) -> Source:
        return sample_source(relatedness.generate, self.sample, "pairs", parse=self.parse)

    def open_files(self, path: Path) -> Source | None:
        if folders := _found(path, FOLDERS, Path.is_dir):
            inside = [file for folder in folders.values() for file in visible(folder) if file.is_file()]
            splits = {split: partial(read_parsed, folder, parse=self.parse) for split, folder in folders.items()}
            return path_source(path, f"pairs of {self.parse} parses", splits, files=[identity(file) for file in inside])
        whole = path if path.is_file() else path / "SICK.txt"
        files = {"": whole} if whole.is_file() else _found(path, SEMEVAL, Path.is_file)
        if not files:
            return None
        if not builds(self.trees):
            raise ConfigError(
                f"{path}: these sentences have no trees, and data.trees={self.trees} reads given trees: give {PARSED}, "
                f"or set data.trees=balanced, left, right or {SPACY}MODEL, which builds some on the words"
            )

        def read(bad: BadRows) -> Iterator[tuple[str, Pair]]:
            for split, file in files.items():
                yield from read_sick(file, split, self.builder.words, bad)

        readers = ReadOnce(read).splits(SPLITS if whole.is_file() else list(files))
        return path_source(path, "pairs", readers, files=[identity(file) for file in files.values()])

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        about = super()._write(folder, source)
        pairs = about["splits"]["test"]["pairs"]
        if pairs in KNOWN and self.source != "sample":  # for the log, the run's table and result.json
            about["source"] += f", with {KNOWN[pairs]}"
        return about


def _found(path: Path, names: Mapping[str, Sequence[str]], of_kind: Callable[[Path], bool]) -> dict[str, Path]:
    """The files or folders of each split; empty without training data."""
    found: dict[str, Path] = {}
    for split, called in names.items():
        for part in (path / name for name in called):
            if of_kind(part):
                found.setdefault(split, part)
    return found if "train" in found else {}


# Files


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
            needed = (FIRST, SECOND, SCORE) if split else (FIRST, SECOND, SCORE, SET)
            if missing := [name for name in needed if name not in header]:
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
